//! Sleeping beside a reactor while the first source comes, in every interleaving that loom can find
//! (L3).

use super::Apart;
use crate::canary;
use crate::env::Parker;
use heist_sync::{AtomicBool, Ordering};
use loom::thread;

struct Scene {
    apart: Apart,
    has_source: AtomicBool,
    /// The seat's, and what stands for the reactor's poller.
    seat: Parker,
    poller: Parker,
}

impl Scene {
    /// Leaked: when a model deadlocks, loom's objects can no longer be dropped.
    fn new() -> &'static Scene {
        Box::leak(Box::new(Scene {
            apart: Apart::new(),
            has_source: AtomicBool::new(false),
            seat: Parker::new(),
            poller: Parker::new(),
        }))
    }

    /// One sleep of a worker; whether its seat was woken.
    fn sleep(&self) -> bool {
        let is_apart = self.apart.lie_down(|| self.has_source.load(Ordering::Relaxed));
        if !is_apart {
            return self.seat.park_in(|| self.poller.park());
        }
        let is_woken = self.seat.park_lightly(None);
        self.apart.rise();
        is_woken
    }

    fn rouse(&self) {
        if !self.apart.rouse(&self.seat) {
            self.poller.unpark();
        }
    }
}

/// A source comes, and an event of it: who sleeps gets to see that.
fn a_source_beside_a_sleeper() {
    let scene = Scene::new();
    let adds = thread::spawn(move || {
        scene.has_source.store(true, Ordering::Relaxed);
        scene.apart.added_source(&scene.seat);
        // Its event.
        scene.poller.unpark();
    });
    // The first may end for the sake of the source, or not be needed. The second is in the poller
    // then, where the event is.
    let was_apart = scene.apart.lie_down(|| scene.has_source.load(Ordering::Relaxed));
    match was_apart {
        true => assert!(!scene.seat.park_lightly(None), "nobody wakes the seat"),
        false => scene.poller.park(),
    }
    if was_apart {
        scene.apart.rise();
        assert!(!scene.apart.lie_down(|| scene.has_source.load(Ordering::Relaxed)));
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
    canary::APART_NO_SLEEPER_FENCE.model(a_source_beside_a_sleeper);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_second_look() {
    canary::APART_NO_SECOND_LOOK.model(a_source_beside_a_sleeper);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_source_fence() {
    canary::APART_NO_SOURCE_FENCE.model(a_source_beside_a_sleeper);
}

/// I1: a seat is woken, twice, wherever its worker sleeps, while a source comes.
#[test]
fn loom_i1_a_wake_up_reaches_who_sleeps_anywhere() {
    loom::model(|| {
        let scene = Scene::new();
        let adds = thread::spawn(move || {
            scene.has_source.store(true, Ordering::Relaxed);
            scene.apart.added_source(&scene.seat);
        });
        let wakes = thread::spawn(move || scene.seat.unpark_or(|| scene.rouse()));
        while !scene.sleep() {}
        adds.join().unwrap();
        wakes.join().unwrap();
        let wakes = thread::spawn(move || scene.seat.unpark_or(|| scene.rouse()));
        while !scene.sleep() {}
        wakes.join().unwrap();
    });
}
