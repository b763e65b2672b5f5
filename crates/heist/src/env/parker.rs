//! Sleeping and being woken.

use crate::canary;
use heist_sync::{Ordering, WaitWord};
use std::time::Duration;

#[cfg(all(test, loom))]
mod loom_tests;

/// Puts a thread to sleep, and lets any other thread wake it. A wake-up that comes first is kept.
///
/// | state | meaning |
/// |---|---|
/// | EMPTY | no thread sleeps, and no wake-up is kept |
/// | PARKED | a thread sleeps here, or is about to |
/// | AWAY | a thread sleeps elsewhere, or is about to: it must be interrupted there |
/// | INTERRUPTED | the thread that slept here, or the next one, must check what there is to do; no wake-up |
/// | NOTIFIED | a wake-up is kept |
pub(crate) struct Parker {
    state: WaitWord,
}

const EMPTY: u32 = 0;
const PARKED: u32 = 1;
const NOTIFIED: u32 = 2;
const AWAY: u32 = 3;
const INTERRUPTED: u32 = 4;

impl Parker {
    pub(crate) fn new() -> Self {
        Parker { state: WaitWord::new(EMPTY) }
    }

    /// Sleeps until [`unpark`](Self::unpark) has been called since the last sleep. Only one thread
    /// at a time may sleep.
    pub(crate) fn park(&self) {
        while !self.park_lightly(None) {}
    }

    /// Sleeps until there is a wake-up or an [interruption](Self::interrupt), or until about `limit`
    /// has passed. Returns whether there was a wake-up. It may return early.
    pub(crate) fn park_lightly(&self, limit: Option<Duration>) -> bool {
        // Relaxed: take_wake_up() acquires the wake-up.
        let goes = self.state.compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        if goes.is_ok() {
            self.state.sleep_while(PARKED, limit);
        }
        // A wake-up that arrived after the timeout is taken too.
        self.take_wake_up()
    }

    /// Sleeps in `sleep_elsewhere`, unless there is a wake-up or an interruption. Returns whether
    /// there was a wake-up by its end. Writes before this call are visible to the thread that ends
    /// that sleep.
    pub(crate) fn park_in(&self, sleep_elsewhere: impl FnOnce()) -> bool {
        // Release: pairs with the Acquire in unpark_or(): the thread that wakes this one sees what
        // was done before.
        let goes = self.state.compare_exchange(EMPTY, AWAY, Ordering::Release, Ordering::Relaxed);
        if goes.is_ok() {
            sleep_elsewhere();
        }
        self.take_wake_up()
    }

    /// Takes a kept wake-up, if there is one. For a worker that never sleeps.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn try_park(&self) -> bool {
        self.take_wake_up()
    }

    /// Whether a wake-up is kept. This is only a hint.
    pub(crate) fn is_notified(&self) -> bool {
        self.state.load(Ordering::Relaxed) == NOTIFIED
    }

    fn take_wake_up(&self) -> bool {
        // Acquire: pairs with the Release in unpark_or() and interrupt().
        self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED
    }

    /// Wakes the sleeping thread, or ends the next sleep.
    pub(crate) fn unpark(&self) {
        self.unpark_or(|| unreachable!("no thread sleeps elsewhere"));
    }

    /// Wakes the sleeping thread. If it sleeps elsewhere, or is about to, `interrupt` must end that
    /// sleep.
    pub(crate) fn unpark_or(&self, interrupt: impl FnOnce()) {
        // Release: pairs with the Acquire in take_wake_up(). Acquire: with the Release in
        // park_in().
        let order = canary::PARKER_UNPARK_RELAXED.weakens(Ordering::AcqRel);
        match self.state.swap(NOTIFIED, order) {
            // The thread that interrupted the sleeper may not have woken it yet.
            PARKED | INTERRUPTED => self.state.wake_one(),
            AWAY if !canary::PARKER_NOT_INTERRUPTED.sings() => interrupt(),
            _ => {}
        }
    }

    /// Ends a [light](Self::park_lightly) sleep, or prevents the next one, because there is
    /// something to check. It is not a wake-up, and consumes none.
    pub(crate) fn interrupt(&self) {
        let mut state = self.state.load(Ordering::Relaxed);
        while matches!(state, EMPTY | PARKED) || canary::PARKER_INTERRUPT_FOR_WAKE_UP.sings() {
            if state == EMPTY && canary::PARKER_INTERRUPT_LOST.sings() {
                return;
            }
            // Release: pairs with the Acquire in take_wake_up().
            let order = canary::PARKER_INTERRUPT_RELAXED.weakens(Ordering::Release);
            match self.state.compare_exchange(state, INTERRUPTED, order, Ordering::Relaxed) {
                Ok(PARKED) => return self.state.wake_one(),
                Ok(_) => return,
                Err(now) => state = now,
            }
        }
    }
}
