//! Seats that are left and taken, beside threads that add something there, in every interleaving
//! that loom can find (L3).

use super::guard_sleep::GuardSleep;
use super::vacancy::Vacancy;
use crate::canary;
use crate::env::Parker;
use crate::reactor::timers::Time;
use heist_sync::{AdaptiveBarrier, AtomicBool, AtomicU32, AtomicU64, Mutex, Ordering};
use loom::thread;

const VACANT: u32 = 0;
const HELD: u32 = 1;

struct Scene {
    seat: AtomicU32,
    vacancy: Vacancy,
    barrier: AdaptiveBarrier,
    /// Whether there is a source, and when the next timer is due.
    has_source: AtomicBool,
    timer: AtomicU64,
    /// What the guard's poller has been told.
    is_watched: Mutex<bool>,
    guard_sleep: GuardSleep,
    eventfd: Parker,
}

impl Scene {
    /// Leaked: when a model deadlocks, loom's objects can no longer be dropped.
    fn new() -> &'static Scene {
        Box::leak(Box::new(Scene {
            seat: AtomicU32::new(HELD),
            vacancy: Vacancy::new(),
            barrier: AdaptiveBarrier::detect(),
            has_source: AtomicBool::new(false),
            timer: AtomicU64::new(Time::NEVER.as_nanos()),
            is_watched: Mutex::new(false),
            guard_sleep: GuardSleep::new(),
            eventfd: Parker::new(),
        }))
    }

    fn is_vacant(&self) -> bool {
        self.seat.load(Ordering::Acquire) == VACANT
    }

    fn exchange(&self, from: u32, to: u32) -> bool {
        let (done, not) = (Ordering::AcqRel, Ordering::Relaxed);
        self.seat.compare_exchange(from, to, done, not).is_ok()
    }

    /// Whether a worker held it.
    fn leave(&self) -> bool {
        if !self.exchange(HELD, VACANT) {
            return false;
        }
        self.vacancy.settle(|| self.is_vacant(), |is_left| self.watch(false, !is_left));
        assert!(self.barrier.heavy(), "that of putting the seat to sleep");
        self.watch_if_vacant();
        true
    }

    fn sit_down(&self) {
        assert!(self.exchange(VACANT, HELD));
        self.vacancy.settle(
            || self.is_vacant(),
            |is_left| match is_left {
                false => self.watch(false, true),
                true => {
                    assert!(self.barrier.heavy());
                    self.watch_if_vacant();
                }
            },
        );
    }

    fn watch(&self, is_watched: bool, is_so: bool) {
        if is_so {
            *self.is_watched.lock().unwrap() = is_watched;
        }
    }

    fn watch_if_vacant(&self) {
        if self.vacancy.is_marked() {
            self.watch_source();
            self.watch_timer();
        }
    }

    fn watch_source(&self) {
        self.watch(true, self.has_source.load(Ordering::Relaxed));
    }

    fn watch_timer(&self) {
        if self.guard_sleep.is_too_long_for(Time::from_nanos(self.timer.load(Ordering::Relaxed))) {
            self.eventfd.unpark();
        }
    }
}

/// A source is added while the worker leaves the seat.
fn a_source_where_nobody_sits() {
    let scene = Scene::new();
    let adds = thread::spawn(move || {
        scene.has_source.store(true, Ordering::Relaxed);
        if scene.vacancy.is_marked_after_barrier(&scene.barrier) {
            scene.watch_source();
        }
    });
    assert!(scene.leave());
    adds.join().unwrap();
    assert!(*scene.is_watched.lock().unwrap(), "the guard watches");
}

#[test]
fn loom_l3_a_source_where_nobody_sits() {
    loom::model(a_source_where_nobody_sits);
}

#[test]
#[should_panic(expected = "the guard watches")]
fn loom_canary_no_light_barrier() {
    canary::GUARD_NO_LIGHT_BARRIER.model(a_source_where_nobody_sits);
}

/// A seat is taken, and lost again before its new worker has cleared the mark.
fn taken_and_lost() {
    let scene = Scene::new();
    scene.has_source.store(true, Ordering::Relaxed);
    assert!(scene.leave());
    let robber = thread::spawn(move || scene.leave());
    scene.sit_down();
    let is_lost = robber.join().unwrap();
    assert_eq!(scene.vacancy.is_marked(), is_lost, "what is marked is so");
    assert!(*scene.is_watched.lock().unwrap() || !is_lost, "the guard watches");
}

#[test]
fn loom_l3_a_seat_that_is_lost_at_once() {
    loom::model(taken_and_lost);
}

#[test]
#[should_panic(expected = "the guard watches")]
fn loom_canary_no_second_look() {
    canary::GUARD_NO_SECOND_LOOK.model(taken_and_lost);
}

/// The guard goes to sleep while a seat is left that has a timer, or while a timer is added to one
/// that was.
fn a_timer_where_nobody_sits(is_added: bool) {
    let scene = Scene::new();
    let soon = 5;
    if is_added {
        assert!(scene.leave());
    } else {
        scene.timer.store(soon, Ordering::Relaxed);
    }
    let guard = thread::spawn(move || {
        loop {
            assert!(scene.guard_sleep.begin(&scene.barrier));
            if scene.vacancy.is_marked() && scene.timer.load(Ordering::Relaxed) == soon {
                return;
            }
            scene.eventfd.park();
            scene.guard_sleep.end();
        }
    });
    if is_added {
        scene.timer.store(soon, Ordering::Relaxed);
        if scene.vacancy.is_marked_after_barrier(&scene.barrier) {
            scene.watch_timer();
        }
    } else {
        assert!(scene.leave());
    }
    guard.join().unwrap();
}

#[test]
fn loom_l3_the_guard_gets_up_for_timers() {
    loom::model(|| a_timer_where_nobody_sits(false));
    loom::model(|| a_timer_where_nobody_sits(true));
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_heavy_barrier() {
    canary::GUARD_NO_HEAVY_BARRIER.model(|| a_timer_where_nobody_sits(true));
}
