//! Nested waits in every interleaving that loom can find. A wake-up that is lost is a deadlock.

use super::Wakeup;
use crate::canary;
use crate::env::Parker;
use heist_sync::{Canary, UnsafeCell};
use loom::thread;
use std::sync::Arc;

/// The outer wait sleeps on the parker's token, which the inner wait may have consumed.
const WAKEUP_BY_TOKEN: Canary = Canary::new("wakeup by token");

/// A wait, and what its waker leaves for it.
struct Wait {
    wakeup: Wakeup,
    message: UnsafeCell<u32>,
}

// SAFETY: (I7) that the accesses are ordered is what the model checks.
unsafe impl Sync for Wait {}

impl Wait {
    /// Leaked: when a model deadlocks, loom's objects can no longer be dropped.
    fn new(parker: &Arc<Parker>) -> &'static Self {
        let wakeup = Wakeup::new(Arc::clone(parker));
        Box::leak(Box::new(Wait { wakeup, message: UnsafeCell::new(0) }))
    }

    fn wait(&self) {
        while !self.wakeup.take() {
            self.wakeup.sleep();
        }
        self.read();
    }

    fn read(&self) {
        // SAFETY: (I7) written before the wake-up.
        assert_eq!(self.message.with(|message| unsafe { *message }), 5);
    }

    fn wake(&self) {
        // SAFETY: (I7) read after the wake-up.
        self.message.with_mut(|message| unsafe { *message = 5 });
        self.wakeup.wake();
    }
}

/// A wait inside of another, each of which a thread of its own ends.
fn a_wait_in_a_wait() {
    let parker = Arc::new(Parker::new());
    let (outer, inner) = (Wait::new(&parker), Wait::new(&parker));
    let wakers = [outer, inner].map(|wait| thread::spawn(move || wait.wake()));
    inner.wait();
    if WAKEUP_BY_TOKEN.sings() {
        outer.wakeup.sleep();
    }
    outer.wait();
    wakers.into_iter().for_each(|waker| waker.join().unwrap());
}

#[test]
fn loom_i7_nested_waits_keep_their_wake_ups() {
    loom::model(a_wait_in_a_wait);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_wakeup_by_token() {
    WAKEUP_BY_TOKEN.model(a_wait_in_a_wait);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_wakeup_relaxed() {
    canary::WAKEUP_RELAXED.model(a_wait_in_a_wait);
}
