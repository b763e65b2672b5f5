//! Sleeping beside a reactor that nobody waits for.
//!
//! To wake a thread that sleeps on a futex takes half as long as to wake one in a poller. So who would sleep in a reactor
//! without sources sleeps on its seat's parker, and is nudged when the first source comes. The protocol is told in `README.md`.

#[cfg(all(test, loom))]
mod loom_tests;

use crate::canary;
use crate::env::Parker;
use heist_sync::{AtomicBool, Ordering, fence};

/// The mark of who sleeps beside the reactor.
pub(super) struct Apart {
    is_used: AtomicBool,
}

impl Apart {
    pub(super) fn new() -> Self {
        Apart { is_used: AtomicBool::new(false) }
    }
}

/// For who sleeps.
impl Apart {
    /// Whether it may sleep on its parker alone, as there is no source. Before it tells anybody that it has to be roused.
    pub(super) fn lie_down(&self, has_sources: impl Fn() -> bool) -> bool {
        if has_sources() {
            return false;
        }
        self.is_used.store(true, Ordering::Relaxed);
        if !canary::APART_NO_SLEEPER_FENCE.sings() {
            // SeqCst: pairs with the one in added_source(): one of us sees the other.
            fence(Ordering::SeqCst);
        }
        if has_sources() && !canary::APART_NO_SECOND_LOOK.sings() {
            self.rise();
            return false;
        }
        true
    }

    /// It sleeps there no more. A nudge that still comes ends its next sleep, for nothing.
    pub(super) fn rise(&self) {
        // Relaxed: before its next sleep it tells those who have to rouse it, with all that was before.
        self.is_used.store(false, Ordering::Relaxed);
    }
}

/// For all others.
impl Apart {
    /// Ends the sleep of who sleeps on `parker`; `false` if it sleeps in the reactor, or not at all.
    pub(super) fn rouse(&self, parker: &Parker) -> bool {
        // Relaxed: who knows that somebody has to be roused knows where, too.
        let is_used = self.is_used.load(Ordering::Relaxed);
        if is_used {
            parker.nudge();
        }
        is_used
    }

    /// There is a source. Who sleeps on `parker` has to look.
    pub(super) fn added_source(&self, parker: &Parker) {
        if !canary::APART_NO_SOURCE_FENCE.sings() {
            // SeqCst: pairs with the one in lie_down().
            fence(Ordering::SeqCst);
        }
        self.rouse(parker);
    }
}
