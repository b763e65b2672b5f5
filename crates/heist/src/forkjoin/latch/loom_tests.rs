//! The latch in every interleaving.

use super::*;
use crate::canary;
use crate::env::Parker;
use crate::forkjoin::frame::Outcome;
use std::sync::Arc;

/// The frame of the owner.
struct Frame {
    latch: Latch,
    outcome: Outcome<u32>,
}

/// A thief runs a job; its owner waits, and reads the outcome (J2). The parker outlives the frame,
/// which the model keeps in an Arc because loom has no scoped threads.
fn waits() {
    let parker = Arc::new(Parker::new());
    // The job's position must not be taken for the thief's number.
    let frame = Arc::new(Frame { latch: Latch::of(Mark::at(5)), outcome: Outcome::new() });
    let thief = {
        let (parker, frame) = (Arc::clone(&parker), Arc::clone(&frame));
        loom::thread::spawn(move || {
            frame.latch.begin(7);
            // SAFETY: (J2) the latch is not set yet.
            unsafe { frame.outcome.put(Ok(42)) };
            frame.latch.set(|| parker.unpark());
        })
    };
    if !frame.latch.is_set() {
        let thief = frame.latch.thief();
        assert!(thief.is_none() || thief == Some(7), "somebody else is taken for the thief");
        frame.latch.fall_asleep();
        while !frame.latch.is_set() {
            parker.park();
        }
    }
    assert!(!frame.latch.is_refused());
    // SAFETY: (J2) the latch is set.
    assert_eq!(unsafe { frame.outcome.take() }.unwrap(), 42);
    thief.join().unwrap();
}

/// The job of a sleeper is refused.
fn is_refused() {
    let parker = Arc::new(Parker::new());
    let latch = Arc::new(Latch::new());
    let closer = {
        let (parker, latch) = (Arc::clone(&parker), Arc::clone(&latch));
        loom::thread::spawn(move || latch.refuse(|| parker.unpark()))
    };
    latch.fall_asleep();
    while !latch.is_set() {
        parker.park();
    }
    assert!(latch.is_refused());
    closer.join().unwrap();
}

#[test]
fn j2_who_waits_sees_the_outcome() {
    loom::model(waits);
}

#[test]
fn j2_a_refused_job_is_not_waited_for() {
    loom::model(is_refused);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_set_relaxed() {
    canary::LATCH_SET_RELAXED.model(waits);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_sleeper_forgotten() {
    canary::LATCH_SLEEPER_FORGOTTEN.model(waits);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_sleeper_forgotten_by_a_refusal() {
    canary::LATCH_SLEEPER_FORGOTTEN.model(is_refused);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_sleep_silent() {
    canary::LATCH_SLEEP_SILENT.model(waits);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_thief_stores() {
    canary::LATCH_THIEF_STORES.model(waits);
}

#[test]
#[should_panic(expected = "somebody else is taken for the thief")]
fn canary_mark_stays() {
    canary::LATCH_MARK_STAYS.model(waits);
}
