//! The wake-up of one wait, on a thread whose waits may be nested.

use super::Parker;
use crate::canary;
use heist_sync::{AtomicBool, Ordering};
use std::sync::Arc;

#[cfg(all(test, loom))]
mod loom_tests;

/// What ends one wait (I7).
///
/// All waits that are nested on one thread sleep on the same parker, which keeps one wake-up: a
/// wait that sleeps may consume the one that was meant for a wait around it. So each wait has a
/// word of its own, which is set before the parker is woken, and which only that wait clears. It
/// sleeps only while the word is clear.
pub(crate) struct Wakeup {
    is_woken: AtomicBool,
    parker: Arc<Parker>,
}

impl Wakeup {
    /// Creates a wait of the thread that sleeps on `parker`.
    pub(crate) fn new(parker: Arc<Parker>) -> Self {
        Wakeup { is_woken: AtomicBool::new(false), parker }
    }

    /// Ends the wait or, if there is none, the next one.
    pub(crate) fn wake(&self) {
        // Release: pairs with the Acquire in take(). A swap, so that each of several wakers is
        // visible there.
        let order = canary::WAKEUP_RELAXED.weakens(Ordering::Release);
        self.is_woken.swap(true, order);
        self.parker.unpark();
    }

    /// Whether the wait was woken. This consumes the wake-up.
    pub(crate) fn take(&self) -> bool {
        // Relaxed: a hint. What is set before the parker is woken is visible after the sleep that
        // this ends.
        let is_woken = self.is_woken.load(Ordering::Relaxed);
        // Acquire: pairs with the Release in wake().
        is_woken && self.is_woken.swap(false, Ordering::Acquire)
    }

    /// Whether [`sleep`](Self::sleep) would return at once.
    pub(crate) fn ends_sleep(&self) -> bool {
        self.parker.is_notified()
    }

    /// Sleeps until anything wakes the thread, after [`take`](Self::take) has found nothing.
    pub(crate) fn sleep(&self) {
        self.parker.park();
    }
}
