//! That nothing is linear, and nothing kept.

use super::super::{Registered, Timer, Timers};
use super::*;
use heist_testing::scaled;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn millis(millis: u64) -> Time {
    Time::ORIGIN.plus(Duration::from_millis(millis))
}

fn timers_at(now: u64) -> Arc<Timers> {
    Arc::new(Timers::new(millis(now)))
}

/// A timer that waits until then.
fn timer(timers: &Arc<Timers>, at: u64, waker: &Waker) -> Pin<Box<Timer>> {
    let mut timer = Box::pin(Timer::new());
    let registered = timers.register(timer.as_mut(), waker.clone(), millis(at));
    assert!(matches!(registered, Registered::Waiting { .. }));
    timer
}

fn with_wheel<R>(timers: &Timers, f: impl FnOnce(&mut Wheel) -> R) -> R {
    f(timers.lock().as_mut().unwrap())
}

fn next(timers: &Timers) -> Option<u64> {
    with_wheel(timers, |wheel| wheel.next().map(|next| next.0))
}

fn advance(timers: &Timers, to: u64) -> bool {
    timers.advance(millis(to), usize::MAX, &mut Vec::new())
}

/// How many timers there are, without those that are being processed.
fn in_slots(timers: &Timers) -> usize {
    with_wheel(timers, |wheel| {
        let lists = wheel.levels.iter().flat_map(|level| &level.slots);
        lists.map(Links::len).sum()
    })
}

impl Links {
    /// The number of members of the list with this head.
    fn len(&self) -> usize {
        let mut member = self.first();
        let mut len = 0;
        while let Some(links) = member.filter(|member| !std::ptr::eq(*member, self)) {
            len += 1;
            // SAFETY: (T11) it is in this list, and the caller has the wheel.
            let links = unsafe { &*links };
            // The member after it, or the head of the list.
            member = links.first();
        }
        len
    }
}

/// A timer that is cancelled, moved or dropped leaves nothing behind (T11).
#[test]
fn what_is_gone_is_not_in_the_wheel() {
    let timers = timers_at(0);
    let waker = Waker::noop();
    let mut all: Vec<_> = (0..1000).map(|at| timer(&timers, 1000 + at * 77, waker)).collect();
    assert_eq!(in_slots(&timers), 1000);
    all.iter_mut().take(300).for_each(|timer| timer.as_mut().cancel());
    assert_eq!(in_slots(&timers), 700);
    all.truncate(900);
    assert_eq!(in_slots(&timers), 600);
    for timer in all.iter_mut().skip(300) {
        // Once to earlier, and once to later, which it is moved to when the wheel comes to it.
        let waker = timer.as_mut().reset(millis(900)).unwrap();
        let registered = timers.register(timer.as_mut(), waker, millis(900));
        assert!(matches!(registered, Registered::Waiting { .. }));
        assert!(timer.as_mut().reset(millis(90_000)).is_none());
    }
    assert_eq!(in_slots(&timers), 600);
    assert!(!advance(&timers, 901));
    assert_eq!((in_slots(&timers), next(&timers)), (600, Some(90_000)));
    all.clear();
    assert_eq!((in_slots(&timers), next(&timers)), (0, None));
}

/// Timers that leave while their slot is being worked off are not fired, and the others are.
#[test]
fn a_timer_may_leave_while_its_slot_is_worked_off() {
    let timers = timers_at(0);
    let mut all: Vec<_> = (0..10).map(|_| timer(&timers, 70, Waker::noop())).collect();
    assert!(timers.advance(millis(70), 3, &mut Vec::new()));
    all[3].as_mut().cancel();
    all[9].as_mut().cancel();
    assert!(!advance(&timers, 70));
    let fired: Vec<_> = all.iter().map(|timer| timer.has_fired()).collect();
    assert_eq!(fired, [true, true, true, false, true, true, true, true, true, false]);
}

/// A wheel may be gone before a timer that has been in it.
#[test]
fn a_timer_outlives_its_runtime() {
    let timers = timers_at(0);
    let (mut kept, mut wakers) = (timer(&timers, 70, Waker::noop()), Vec::new());
    let orphan = timer(&timers_at(0), 70, Waker::noop());
    timers.close(&mut wakers);
    assert_eq!(wakers.len(), 1);
    drop(timers);
    kept.as_mut().cancel();
    drop((kept, orphan));
}

/// A slot with a million timers comes up, at a worker that must not be held up.
#[test]
fn a_full_slot_is_worked_off_bit_by_bit() {
    const LIMIT: usize = 128;
    let count = scaled(1_000_000) as usize;
    let timers = timers_at(0);
    // The beginning of a slot of the fourth level.
    let first = 64 * 64 * 64 * 3;
    let at = |index| first + 1 + index as u64 % 60_000;
    let all: Vec<_> = (0..count).map(|index| timer(&timers, at(index), Waker::noop())).collect();
    let mut wakers = Vec::new();
    // The slot comes up, and nothing in it is due: all timers are moved, a bounded number at a
    // time.
    let mut calls = 0;
    while timers.advance(millis(first), LIMIT, &mut wakers) {
        assert!(wakers.is_empty());
        calls += 1;
    }
    assert!(calls >= count / (LIMIT * LEVELS));
    assert_eq!(in_slots(&timers), count);
    // All are due at once.
    let mut calls = 0;
    loop {
        let more = timers.advance(millis(first + 60_000), LIMIT, &mut wakers);
        assert!(wakers.len() <= LIMIT);
        wakers.clear();
        calls += 1;
        if !more {
            break;
        }
    }
    assert!(calls >= count / LIMIT);
    assert!(all.iter().all(|timer| timer.has_fired()));
    assert_eq!((in_slots(&timers), next(&timers)), (0, None));
}

/// A timer that was cancelled does not cut a sleep short.
#[test]
fn what_is_cancelled_is_not_next() {
    let timers = timers_at(0);
    let late = timer(&timers, 5_000_000, Waker::noop());
    let early = timer(&timers, 70, Waker::noop());
    assert_eq!(timers.begin_sleep(), Some(millis(70)));
    drop(early);
    assert_eq!(timers.begin_sleep(), Some(millis(5_000_000)));
    drop(late);
    assert_eq!(timers.begin_sleep(), None);
}

/// A timer that is years away wakes no worker before.
#[test]
fn a_lone_timer_is_next_wherever_its_slot_is() {
    for millis_ahead in [1, 63, 64, 5000, 1 << 30, (1 << 36) - 1, 1 << 36, 9 << 40] {
        let timers = timers_at(12_345);
        let due = 12_345 + millis_ahead;
        let timer = timer(&timers, due, Waker::noop());
        assert_eq!(next(&timers), Some(due));
        assert!(!timers.advance(millis(due - 1), 1, &mut Vec::new()));
        assert!(!timer.has_fired());
        assert!(!advance(&timers, due));
        assert!(timer.has_fired(), "{millis_ahead}");
    }
}

/// Timers of one moment fire in the order in which they were registered, also through a cascade.
#[test]
fn first_come_first_fired() {
    struct Name(usize, Arc<Mutex<Vec<usize>>>);
    impl std::task::Wake for Name {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let order = Arc::default();
    let timers = timers_at(0);
    let name = |name| Waker::from(Arc::new(Name(name, Arc::clone(&order))));
    let _all: Vec<_> = (0..100).map(|number| timer(&timers, 5000, &name(number))).collect();
    let mut wakers = Vec::new();
    timers.advance(millis(4096), usize::MAX, &mut wakers);
    assert!(wakers.is_empty());
    timers.advance(millis(5000), usize::MAX, &mut wakers);
    wakers.into_iter().for_each(Waker::wake);
    assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
}
