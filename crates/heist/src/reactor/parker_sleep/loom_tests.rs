//! Sleeping beside a reactor while the first source comes, in every interleaving that loom can find
//! (L3).

use super::ParkerSleep;
use crate::canary;
use crate::env::Parker;
use heist_sync::{AtomicBool, Ordering};
use loom::thread;

struct Scene {
    parker_sleep: ParkerSleep,
    has_source: AtomicBool,
    /// The seat's, and what stands for the reactor's poller.
    seat: Parker,
    poller: Parker,
}

impl Scene {
    /// Leaked: when a model deadlocks, loom's objects can no longer be dropped.
    fn new() -> &'static Scene {
        Box::leak(Box::new(Scene {
            parker_sleep: ParkerSleep::new(),
            has_source: AtomicBool::new(false),
            seat: Parker::new(),
            poller: Parker::new(),
        }))
    }

    /// One sleep of a worker; whether its seat was woken.
    fn sleep(&self) -> bool {
        let is_on_parker =
            self.parker_sleep.begin_sleep(|| self.has_source.load(Ordering::Relaxed));
        if !is_on_parker {
            return self.seat.park_in(|| self.poller.park());
        }
        let is_woken = self.seat.park_lightly(None);
        self.parker_sleep.end_sleep();
        is_woken
    }

    fn interrupt(&self) {
        if !self.parker_sleep.interrupt(&self.seat) {
            self.poller.unpark();
        }
    }
}

/// A source is added, and has an event: the sleeping worker sees it.
fn a_source_beside_a_sleeper() {
    let scene = Scene::new();
    let adds = thread::spawn(move || {
        scene.has_source.store(true, Ordering::Relaxed);
        scene.parker_sleep.added_source(&scene.seat);
        // Its event.
        scene.poller.unpark();
    });
    // The first may end for the sake of the source, or not be needed. The second is in the poller
    // then, where the event is.
    let was_on_parker = scene.parker_sleep.begin_sleep(|| scene.has_source.load(Ordering::Relaxed));
    match was_on_parker {
        true => assert!(!scene.seat.park_lightly(None), "the seat is not woken"),
        false => scene.poller.park(),
    }
    if was_on_parker {
        scene.parker_sleep.end_sleep();
        assert!(!scene.parker_sleep.begin_sleep(|| scene.has_source.load(Ordering::Relaxed)));
        scene.poller.park();
    }
    adds.join().unwrap();
}

#[test]
fn loom_l3_a_source_beside_a_sleeper() {
    loom::model(a_source_beside_a_sleeper);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_sleeper_fence() {
    canary::PARKER_SLEEP_NO_SLEEPER_FENCE.model(a_source_beside_a_sleeper);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_second_look() {
    canary::PARKER_SLEEP_NO_SECOND_LOOK.model(a_source_beside_a_sleeper);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_source_fence() {
    canary::PARKER_SLEEP_NO_SOURCE_FENCE.model(a_source_beside_a_sleeper);
}

/// I1: a seat is woken, twice, wherever its worker sleeps, while a source comes.
#[test]
fn loom_i1_a_wake_up_reaches_who_sleeps_anywhere() {
    loom::model(|| {
        let scene = Scene::new();
        let adds = thread::spawn(move || {
            scene.has_source.store(true, Ordering::Relaxed);
            scene.parker_sleep.added_source(&scene.seat);
        });
        let wakes = thread::spawn(move || scene.seat.unpark_or(|| scene.interrupt()));
        while !scene.sleep() {}
        adds.join().unwrap();
        wakes.join().unwrap();
        let wakes = thread::spawn(move || scene.seat.unpark_or(|| scene.interrupt()));
        while !scene.sleep() {}
        wakes.join().unwrap();
    });
}
