//! That nothing is linear, and nothing kept.

use super::*;
use heist_testing::{Rng, scaled, seed};
use std::time::Duration;

fn timer() -> Arc<Timer> {
    Arc::new(Timer::new(Waker::noop().clone()))
}

fn millis(millis: u64) -> Time {
    Time::ORIGIN.plus(Duration::from_millis(millis))
}

impl Wheel {
    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.levels.iter().flat_map(|level| &level.slots)
    }

    /// Entries, dead or alive, but for those that are being worked off.
    fn len(&self) -> usize {
        self.slots().map(Slot::len).sum()
    }

    /// The most entries there ever are if never more than `alive` are alive: see the README.
    fn bound(alive: usize) -> usize {
        3 * alive + 2 * TIMER_BATCH
    }

    /// How many entries there is room for.
    fn room(&self) -> usize {
        self.slots().map(Slot::capacity).sum()
    }
}

/// What timeouts do: they are registered, and cancelled soon, and never fire. Beside some that
/// stay.
#[test]
fn dead_entries_do_not_pile_up() {
    const STAYING: usize = 100;
    const AT_ONCE: usize = 20;
    let mut rng = Rng::new(seed());
    let mut wheel = Wheel::new(Millis(0));
    let staying: Vec<_> = (0..STAYING).map(|_| timer()).collect();
    for timer in &staying {
        wheel.register(timer, millis(3_600_000), EntryOf::Known).unwrap();
    }
    let mut timeouts = std::collections::VecDeque::new();
    let mut most = 0;
    for step in 0..scaled(10_000_000) {
        let now = step / 1000;
        let timeout = timer();
        let due = wheel.register(&timeout, millis(now + 1000 + rng.below(30_000)), EntryOf::Known);
        assert!(due.is_some());
        timeouts.push_back(timeout);
        if timeouts.len() > AT_ONCE {
            timeouts.pop_front().unwrap().cancel();
        }
        if step % 1000 == 0 {
            most = most.max(wheel.len());
            assert!(!wheel.advance(millis(now), usize::MAX, &mut Vec::new()));
        }
    }
    assert!(most <= Wheel::bound(STAYING + AT_ONCE + 1), "{most} entries");
}

/// The worst that can be done: each entry dies just after it was looked at.
#[test]
fn not_even_if_somebody_knows_where_the_sweeper_is() {
    const AT_ONCE: usize = 10;
    let mut wheel = Wheel::new(Millis(0));
    // All in one slot, and all at its end, where the sweeper is to come.
    let due = millis(64 * 64 * 5);
    let staying: Vec<_> = (0..AT_ONCE).map(|_| timer()).collect();
    staying.iter().for_each(|timer| _ = wheel.register(timer, due, EntryOf::Known).unwrap());
    let mut last: Option<Arc<Timer>> = None;
    let mut most = 0;
    for _ in 0..scaled(1_000_000) {
        let next = timer();
        // Right before the sweeper, so that the next look is at it.
        wheel.register(&next, due, EntryOf::Known).unwrap();
        let Sweeper { level, slot, index } = wheel.sweeper;
        let slot = &mut wheel.levels[level].slots[slot];
        if let Some(moved) = slot.swap_remove(index) {
            slot.push(moved);
        }
        last.replace(next).into_iter().for_each(|last| last.cancel());
        most = most.max(wheel.len());
    }
    assert!(most <= Wheel::bound(AT_ONCE + 2), "{most} entries");
}

/// A timer that is moved to and fro leaves dead entries behind, too.
#[test]
fn nor_when_a_timer_is_moved_to_and_fro() {
    let mut wheel = Wheel::new(Millis(0));
    let timer = timer();
    let mut most = 0;
    for step in 0..scaled(100_000) {
        let far = millis(step + 4_000_000 - step * 7 % 100_000);
        assert!(wheel.register(&timer, far, EntryOf::Known).is_some());
        most = most.max(wheel.len());
    }
    assert!(most <= Wheel::bound(1), "{most} entries");
}

/// What takes the place of a dead entry is looked at, too.
#[test]
fn a_round_leaves_nothing_that_was_dead_when_it_began() {
    let mut wheel = Wheel::new(Millis(0));
    let timers: Vec<_> = (0..10 * TIMER_BATCH).map(|_| timer()).collect();
    for timer in &timers {
        wheel.register(timer, millis(1_000_000), EntryOf::Known).unwrap();
    }
    timers.iter().for_each(|timer| timer.cancel());
    (wheel.sweeper, wheel.owed) = (Sweeper::default(), 0);
    // As many as it takes to look at all of them.
    let others: Vec<_> = (0..timers.len() / SWEPT).map(|_| timer()).collect();
    for other in &others {
        wheel.register(other, millis(2_000_000), EntryOf::Known).unwrap();
    }
    assert_eq!(wheel.len(), others.len());
}

/// A timer that its owner has given up can be reused, and one that it still has cannot.
#[test]
fn what_nobody_knows_any_more_is_used_again() {
    let mut wheel = Wheel::new(Millis(0));
    let (kept, given_up) = (timer(), timer());
    let address = Arc::as_ptr(&given_up);
    for timer in [&kept, &given_up] {
        wheel.register(timer, millis(1_000_000), EntryOf::Known).unwrap();
        timer.cancel();
    }
    drop(given_up);
    assert!(wheel.take_free().is_none(), "the sweeper has not come to it yet");
    let others: Vec<_> = (0..10).map(|_| timer()).collect();
    for other in &others {
        wheel.register(other, millis(2_000_000), EntryOf::Known).unwrap();
    }
    let mut free = wheel.take_free().unwrap();
    assert_eq!(Arc::as_ptr(&free), address);
    assert!(Arc::get_mut(&mut free).is_some());
    assert!(wheel.take_free().is_none(), "its owner may still use it");
    assert_eq!(Arc::strong_count(&kept), 1, "but the wheel has let go of it");
}

/// Not more of them are kept than there are entries, so that a rush of timers does not keep its
/// memory.
#[test]
fn free_timers_are_no_more_than_entries() {
    let mut wheel = Wheel::new(Millis(0));
    let timers: Vec<_> = (0..10_000).map(|_| timer()).collect();
    for timer in &timers {
        wheel.register(timer, millis(1_000_000), EntryOf::Known).unwrap();
    }
    timers.into_iter().for_each(|timer| timer.cancel());
    let other = timer();
    let mut most = 0;
    for _ in 0..10_000 {
        wheel.register(&other, millis(2_000_000), EntryOf::Known).unwrap();
        assert_eq!(wheel.entries, wheel.len());
        assert!(wheel.free.len() <= wheel.len().max(FREE_TIMERS));
        most = most.max(wheel.free.len());
    }
    assert!(most > 1000, "at first there are many, and most were kept");
    assert_eq!(wheel.free.len(), FREE_TIMERS);
    // What fires leaves no entries behind either; a worker that goes to sleep drops what they were
    // owed.
    let timers: Vec<_> = (0..1000).map(|_| timer()).collect();
    for timer in &timers {
        wheel.register(timer, millis(3_000_000), EntryOf::Known).unwrap();
    }
    timers.iter().take(500).for_each(|timer| timer.cancel());
    drop(timers);
    for _ in 0..1000 {
        wheel.register(&other, millis(4_000_000), EntryOf::Known).unwrap();
    }
    assert!(wheel.free.len() > 100);
    assert!(!wheel.advance(millis(4_000_000), usize::MAX, &mut Vec::new()));
    wheel.trim(1000);
    assert_eq!((wheel.len(), wheel.free.len()), (0, FREE_TIMERS));
}

/// A slot with a million timers comes up, at a worker that must not be held up.
#[test]
fn a_full_slot_is_worked_off_bit_by_bit() {
    const LIMIT: usize = 128;
    let count = scaled(1_000_000) as usize;
    let mut wheel = Wheel::new(Millis(0));
    let timers: Vec<_> = (0..count).map(|_| timer()).collect();
    // The beginning of a slot of the fourth level.
    let first = 64 * 64 * 64 * 3;
    for (index, timer) in timers.iter().enumerate() {
        wheel.register(timer, millis(first + 1 + index as u64 % 60_000), EntryOf::Known).unwrap();
    }
    let mut wakers = Vec::new();
    // The slot comes up, and nothing in it is due: all entries are moved, a bounded number at a
    // time.
    let mut moved = 0;
    while wheel.advance(millis(first), LIMIT, &mut wakers) {
        let now = wheel.len();
        assert!(now - moved <= LIMIT * LEVELS, "moved {} in one go", now - moved);
        moved = now;
        assert!(wakers.is_empty());
    }
    assert_eq!(wheel.len(), count);
    // All are due at once.
    let mut calls = 0;
    loop {
        let more = wheel.advance(millis(first + 60_000), LIMIT, &mut wakers);
        assert!(wakers.len() <= LIMIT);
        wakers.clear();
        calls += 1;
        if !more {
            break;
        }
    }
    assert!(calls >= count / LIMIT);
    assert!(timers.iter().all(|timer| timer.has_fired()));
    assert_eq!((wheel.len(), wheel.work.is_done()), (0, true));
    assert!(wheel.room() <= 4 * LEVELS * SLOTS, "room for {} is kept", wheel.room());
}

/// Swept entries leave no memory behind either.
#[test]
fn room_is_given_back_when_timers_are_cancelled() {
    let mut wheel = Wheel::new(Millis(0));
    let timers: Vec<_> = (0..10_000).map(|_| timer()).collect();
    timers
        .iter()
        .for_each(|timer| _ = wheel.register(timer, millis(1_000_000), EntryOf::Known).unwrap());
    assert!(wheel.room() >= 10_000);
    timers.iter().for_each(|timer| timer.cancel());
    let other = timer();
    // Each time it takes the place of itself.
    (0..10_000)
        .for_each(|_| _ = wheel.register(&other, millis(2_000_000), EntryOf::Known).unwrap());
    assert!(wheel.len() <= Wheel::bound(1), "{} entries", wheel.len());
    assert!(wheel.room() <= 64, "room for {} is kept", wheel.room());
}

/// Dead entries do not cut a sleep short.
#[test]
fn what_is_dead_is_not_next() {
    let mut wheel = Wheel::new(Millis(0));
    let (early, late) = (timer(), timer());
    wheel.register(&late, millis(5_000_000), EntryOf::Known).unwrap();
    wheel.register(&early, millis(70), EntryOf::Known).unwrap();
    assert_eq!(wheel.next(), Some(Millis(70)));
    wheel.trim(1);
    assert_eq!(wheel.next(), Some(Millis(70)));
    early.cancel();
    wheel.trim(1);
    assert_eq!(wheel.next(), Some(Millis(5_000_000)));
    late.cancel();
    wheel.trim(1);
    assert_eq!(wheel.next(), None);
}

/// A timer that is years away wakes no worker before.
#[test]
fn a_lone_timer_is_next_wherever_its_slot_is() {
    for millis_ahead in [1, 63, 64, 5000, 1 << 30, (1 << 36) - 1, 1 << 36, 9 << 40] {
        let mut wheel = Wheel::new(Millis(12_345));
        let timer = timer();
        let due = 12_345 + millis_ahead;
        wheel.register(&timer, millis(due), EntryOf::Known).unwrap();
        assert_eq!(wheel.next(), Some(Millis(due)));
        assert!(!wheel.advance(millis(due - 1), 1, &mut Vec::new()));
        assert!(!timer.has_fired());
        assert!(!wheel.advance(millis(due), usize::MAX, &mut Vec::new()));
        assert!(timer.has_fired(), "{millis_ahead}");
    }
}

/// Timers of one moment fire in the order in which they were registered, also through a cascade.
#[test]
fn first_come_first_fired() {
    struct Name(usize, Arc<std::sync::Mutex<Vec<usize>>>);
    impl std::task::Wake for Name {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let order = Arc::default();
    let mut wheel = Wheel::new(Millis(0));
    let timers: Vec<_> = (0..100)
        .map(|name| Arc::new(Timer::new(Arc::new(Name(name, Arc::clone(&order))).into())))
        .collect();
    timers
        .iter()
        .for_each(|timer| _ = wheel.register(timer, millis(5000), EntryOf::Known).unwrap());
    let mut wakers = Vec::new();
    wheel.advance(millis(4096), usize::MAX, &mut wakers);
    assert!(wakers.is_empty());
    wheel.advance(millis(5000), usize::MAX, &mut wakers);
    wakers.into_iter().for_each(Waker::wake);
    assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
}
