//! The counts and bits of the idle protocol, one thread at a time (I3, I4).

use super::Idle;
use heist_sync::Barrier;

/// I3: no more than half of those that are awake, rounded up.
#[test]
fn i3_searchers_are_at_most_half_of_the_busy() {
    for workers in [1, 2, 3, 8, 100] {
        let idle = Idle::new(workers, Barrier::Fence);
        let searchers = (0..workers).filter(|_| idle.start_search()).count();
        assert_eq!(searchers, workers.div_ceil(2));
    }
}

/// I4: every sleeper is found, each once, whatever its number.
#[test]
fn i4_every_sleeper_is_found_once() {
    let idle = Idle::new(200, Barrier::Fence);
    for index in [0, 63, 64, 130, 199] {
        assert_eq!(idle.sleep(index, false, || false, || false), None);
    }
    let mut woken = Vec::new();
    idle.wake_all(|index| woken.push(index));
    woken.sort_unstable();
    assert_eq!(woken, [0, 63, 64, 130, 199]);
    assert_eq!(idle.submitted(), None);
}

/// I1, I2: one wake-up at a time; who finds something passes it on.
#[test]
fn i2_one_wake_up_at_a_time() {
    let idle = Idle::new(3, Barrier::Fence);
    assert_eq!(idle.sleep(1, false, || false, || false), None);
    assert_eq!(idle.sleep(2, false, || false, || false), None);
    let first = idle.submitted();
    assert!(first.is_some());
    assert_eq!(idle.submitted(), None, "somebody is searching already");
    let second = idle.stop_search(|| true);
    assert!(second.is_some() && second != first);
    assert_eq!(idle.stop_search(|| true), None, "nobody is left to be woken");
}

/// W8: of many sleepers the one that is meant is woken, also while another searches.
#[test]
fn w8_the_one_that_is_meant_is_woken() {
    let idle = Idle::new(200, Barrier::Fence);
    for index in [0, 63, 64, 130, 199] {
        assert_eq!(idle.sleep(index, false, || false, || false), None);
    }
    assert!(idle.start_search());
    assert_eq!(idle.submitted_to(5, || true), None, "it is awake");
    assert_eq!(idle.submitted_to(130, || true), Some(130));
    assert_eq!(idle.submitted_to(130, || true), None, "it has been woken");
    let mut woken = Vec::new();
    idle.wake_owners(64, |index| index >= 63, |index| woken.push(index));
    assert_eq!(woken, [63, 64, 199]);
}

/// I3: as long as somebody searches, nobody is woken, whoever asks for it.
#[test]
fn i3_nobody_is_woken_beside_a_searcher() {
    let idle = Idle::new(3, Barrier::Fence);
    assert!(idle.start_search());
    assert_eq!(idle.sleep(1, false, || false, || true), None);
    assert_eq!(idle.submitted(), None);
    assert_eq!(idle.stop_search(|| true), Some(1));
}

/// A worker that sees work at its last look is woken, or another is in its place.
#[test]
fn i1_a_last_look_wakes() {
    let idle = Idle::new(1, Barrier::Fence);
    assert_eq!(idle.sleep(0, false, || false, || true), Some(0));
}
