//! A join against a thief in every interleaving: what happens in the frame. The deque and the latch
//! have suites of their own.

use crate::canary;
use crate::env::Parker;
use crate::forkjoin::frame::{Once, Outcome};
use crate::forkjoin::latch::Latch;
use heist_deque::deque;
use std::sync::Arc;

/// A stack job without its worker.
struct Frame {
    latch: Latch,
    closure: Once<Box<u32>>,
    outcome: Outcome<u32>,
    parker: Parker,
}

// SAFETY: (J1, J2) the closure is taken with the right to run it, and the outcome is read after the
// latch was set.
unsafe impl Sync for Frame {}
// SAFETY: (type) all that is in it is Send.
unsafe impl Send for Frame {}

#[derive(Clone, Copy)]
struct Right(*const Frame);

// SAFETY: (J1) as a job.
unsafe impl Send for Right {}

/// One thread joins, one steals: the job is run once (J1), and the joining thread sees what it did
/// (J2).
fn join_against_a_thief() {
    let mut deque = deque::Owner::with_capacity(2);
    let frame = Arc::new(Frame {
        latch: Latch::of(deque.mark()),
        closure: Once::new(Box::new(41)),
        outcome: Outcome::new(),
        parker: Parker::new(),
    });
    let stealer = deque.stealer();
    // The model's frame is kept for the thief too: loom knows no scopes.
    let kept = Arc::clone(&frame);
    let thief = loom::thread::spawn(move || {
        let Some(Right(stolen)) = stealer.steal().success() else { return };
        assert!(std::ptr::eq(stolen, &*kept));
        kept.latch.begin(1);
        // SAFETY: (J1) stolen: the one right to run it.
        let closure = unsafe { kept.closure.take() };
        // SAFETY: (J2) the latch is not set yet.
        unsafe { kept.outcome.put(Ok(*closure + 1)) };
        kept.latch.set(|| kept.parker.unpark());
    });
    deque.push(Right(&*frame));
    let outcome = if deque.take_back(frame.latch.mark()) || deque.pop().is_some() {
        // SAFETY: (J1) taken back: the one right to run it.
        *unsafe { frame.closure.take() } + 1
    } else {
        frame.latch.fall_asleep();
        while !frame.latch.is_set() {
            frame.parker.park();
        }
        // SAFETY: (J2) the latch is set.
        unsafe { frame.outcome.take() }.unwrap()
    };
    assert_eq!(outcome, 42);
    thief.join().unwrap();
}

#[test]
fn j1_the_last_job_goes_to_one() {
    loom::model(join_against_a_thief);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_set_relaxed() {
    canary::LATCH_SET_RELAXED.model(join_against_a_thief);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_sleeper_forgotten() {
    canary::LATCH_SLEEPER_FORGOTTEN.model(join_against_a_thief);
}
