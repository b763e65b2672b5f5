//! Sleeping outside of a reactor that has no sources.
//!
//! Waking a thread that sleeps on a futex takes half as long as waking one in a poller. Therefore a
//! worker whose reactor has no sources sleeps on its seat's parker alone, and is woken when the
//! first source is added. `README.md` specifies the protocol.

#[cfg(all(test, loom))]
mod loom_tests;

use crate::canary;
use crate::env::Parker;
use heist_sync::{AtomicBool, Ordering, fence};

/// The mark of a worker that sleeps outside of its reactor.
pub(super) struct ParkerSleep {
    is_used: AtomicBool,
}

impl ParkerSleep {
    pub(super) fn new() -> Self {
        ParkerSleep { is_used: AtomicBool::new(false) }
    }
}

/// For the sleeping worker.
impl ParkerSleep {
    /// Whether the worker may sleep on its parker alone, because there are no sources. Called
    /// before it announces its sleep.
    pub(super) fn begin_sleep(&self, has_sources: impl Fn() -> bool) -> bool {
        if has_sources() {
            return false;
        }
        self.is_used.store(true, Ordering::Relaxed);
        if !canary::PARKER_SLEEP_NO_SLEEPER_FENCE.sings() {
            // SeqCst: pairs with the one in added_source(): either that sees the mark, or this sees
            // the source.
            fence(Ordering::SeqCst);
        }
        if has_sources() && !canary::PARKER_SLEEP_NO_SECOND_LOOK.sings() {
            self.end_sleep();
            return false;
        }
        true
    }

    /// Clears the mark. A wake-up that still arrives ends the next sleep early.
    pub(super) fn end_sleep(&self) {
        // Relaxed: published when the worker announces its next sleep.
        self.is_used.store(false, Ordering::Relaxed);
    }
}

/// For other threads.
impl ParkerSleep {
    /// Wakes the worker if it sleeps on `parker`. Returns `false` if it sleeps in the reactor or
    /// not at all.
    pub(super) fn interrupt(&self, parker: &Parker) -> bool {
        // Relaxed: a thread that sees the sleep announced also sees the mark.
        let is_used = self.is_used.load(Ordering::Relaxed);
        if is_used {
            parker.interrupt();
        }
        is_used
    }

    /// A source was added: wakes a worker that sleeps on `parker`, so that it checks.
    pub(super) fn added_source(&self, parker: &Parker) {
        if !canary::PARKER_SLEEP_NO_SOURCE_FENCE.sings() {
            // SeqCst: pairs with the one in begin_sleep().
            fence(Ordering::SeqCst);
        }
        self.interrupt(parker);
    }
}
