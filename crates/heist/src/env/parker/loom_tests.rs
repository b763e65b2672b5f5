//! Sleeping in every interleaving that loom can find. A wake-up that is lost is a deadlock.

use super::Parker;
use crate::canary;
use heist_sync::{AtomicBool, Canary, Condvar, Mutex, Ordering, UnsafeCell};
use loom::thread;

struct Scene {
    parker: Parker,
    message: UnsafeCell<u32>,
}

// SAFETY: (I1) that the accesses are ordered is what the model checks.
unsafe impl Sync for Scene {}

/// One thread leaves a message and wakes, the other sleeps and reads it. Leaked: when a model
/// deadlocks, loom's objects can no longer be dropped.
fn a_message() {
    let scene: &'static Scene =
        Box::leak(Box::new(Scene { parker: Parker::new(), message: UnsafeCell::new(0) }));
    let sleeper = thread::spawn(move || {
        scene.parker.park();
        // SAFETY: (I1) written before the wake-up.
        assert_eq!(scene.message.with(|text| unsafe { *text }), 5);
    });
    // SAFETY: (I1) read after the wake-up.
    scene.message.with_mut(|text| unsafe { *text = 5 });
    scene.parker.unpark();
    sleeper.join().unwrap();
}

/// The sleeper sleeps elsewhere, where it must be interrupted.
fn a_message_elsewhere() {
    let scene: &'static Scene =
        Box::leak(Box::new(Scene { parker: Parker::new(), message: UnsafeCell::new(0) }));
    let bed: &'static Parker = Box::leak(Box::new(Parker::new()));
    let sleeper = thread::spawn(move || {
        assert!(scene.parker.park_in(|| bed.park()), "only the wake-up ends that sleep");
        // SAFETY: (I1) written before the wake-up.
        assert_eq!(scene.message.with(|text| unsafe { *text }), 5);
    });
    // SAFETY: (I1) read after the wake-up.
    scene.message.with_mut(|text| unsafe { *text = 5 });
    scene.parker.unpark_or(|| bed.unpark());
    sleeper.join().unwrap();
}

#[test]
fn loom_i1_a_wake_up_is_consumed_elsewhere() {
    loom::model(a_message_elsewhere);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_not_roused() {
    canary::PARKER_NOT_INTERRUPTED.model(a_message_elsewhere);
}

/// A thread that sleeps elsewhere announces that before it has left its mark there.
const AWAY_TOO_EARLY: Canary = Canary::new("parker away too early");
/// A thread that consumes a signal for the sleeper does not pass it on.
const SIGNAL_NOT_PASSED_ON: Canary = Canary::new("parker signal not passed on");

/// What ends a sleep in a reactor: each signal is consumed by one.
struct Eventfd {
    is_signalled: Mutex<bool>,
    signalled: Condvar,
}

impl Eventfd {
    fn signal(&self) {
        *self.is_signalled.lock().unwrap() = true;
        self.signalled.notify_one();
    }

    fn wait(&self) {
        let mut is_signalled = self.is_signalled.lock().unwrap();
        while !std::mem::take(&mut *is_signalled) {
            is_signalled = self.signalled.wait(is_signalled);
        }
    }

    fn is_consumed(&self) -> bool {
        std::mem::take(&mut *self.is_signalled.lock().unwrap())
    }
}

/// The same, while another thread polls the place where it sleeps, as it would poll a reactor. That
/// thread may consume the interruption, and passes it on if it finds the mark.
fn a_look_beside_it() {
    let parker: &'static Parker = Box::leak(Box::new(Parker::new()));
    let eventfd: &'static Eventfd =
        Box::leak(Box::new(Eventfd { is_signalled: Mutex::new(false), signalled: Condvar::new() }));
    let is_slept_in: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let sleeper = thread::spawn(move || {
        let early = AWAY_TOO_EARLY.sings();
        let mark = || is_slept_in.store(true, Ordering::Relaxed);
        if !early {
            mark();
        }
        let is_woken = parker.park_in(|| {
            if early {
                mark();
            }
            eventfd.wait();
        });
        assert!(is_woken);
    });
    let looker = thread::spawn(move || {
        let is_consumed = eventfd.is_consumed();
        if is_consumed && is_slept_in.load(Ordering::Relaxed) && !SIGNAL_NOT_PASSED_ON.sings() {
            eventfd.signal();
        }
    });
    parker.unpark_or(|| eventfd.signal());
    sleeper.join().unwrap();
    looker.join().unwrap();
}

#[test]
fn loom_i1_a_wake_up_beside_a_look() {
    loom::model(a_look_beside_it);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_away_too_early() {
    AWAY_TOO_EARLY.model(a_look_beside_it);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_signal_not_passed_on() {
    SIGNAL_NOT_PASSED_ON.model(a_look_beside_it);
}

#[test]
fn loom_i1_a_wake_up_is_kept_or_heard() {
    loom::model(a_message);
}

/// Two wake-ups at once end one sleep, or two.
#[test]
fn loom_i1_two_wakers() {
    loom::model(|| {
        let parker: &'static Parker = Box::leak(Box::new(Parker::new()));
        let other = thread::spawn(move || parker.unpark());
        parker.unpark();
        parker.park();
        other.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_unpark_relaxed() {
    canary::PARKER_UNPARK_RELAXED.model(a_message);
}

/// One thread leaves a message and interrupts; a light sleeper checks it, and is not woken.
fn an_interruption() {
    let scene: &'static Scene =
        Box::leak(Box::new(Scene { parker: Parker::new(), message: UnsafeCell::new(0) }));
    let sleeper = thread::spawn(move || {
        assert!(!scene.parker.park_lightly(None), "an interruption is no wake-up");
        // SAFETY: (I1) written before the interruption.
        assert_eq!(scene.message.with(|text| unsafe { *text }), 5);
    });
    // SAFETY: (I1) read after the interruption.
    scene.message.with_mut(|text| unsafe { *text = 5 });
    scene.parker.interrupt();
    sleeper.join().unwrap();
}

#[test]
fn loom_i1_an_interruption_is_kept_or_seen() {
    loom::model(an_interruption);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_interrupt_lost() {
    canary::PARKER_INTERRUPT_LOST.model(an_interruption);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_interrupt_relaxed() {
    canary::PARKER_INTERRUPT_RELAXED.model(an_interruption);
}

/// A thread that waits for a wake-up is interrupted meanwhile.
fn an_interruption_beside_a_wake_up() {
    let parker: &'static Parker = Box::leak(Box::new(Parker::new()));
    let sleeper = thread::spawn(move || parker.park());
    let interrupts = thread::spawn(move || parker.interrupt());
    parker.unpark();
    sleeper.join().unwrap();
    interrupts.join().unwrap();
}

#[test]
fn loom_i1_an_interruption_takes_no_wake_up() {
    loom::model(an_interruption_beside_a_wake_up);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_interrupt_for_wake_up() {
    canary::PARKER_INTERRUPT_FOR_WAKE_UP.model(an_interruption_beside_a_wake_up);
}
