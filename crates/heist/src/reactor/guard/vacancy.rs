//! Marks the reactors of vacant seats.

use crate::canary;
use heist_sync::{AdaptiveBarrier, AtomicBool, Ordering, fence};

/// What the guard knows about a reactor.
pub(in crate::reactor) struct Vacancy {
    /// Whether its seat is vacant. It may be outdated while a thread is about to correct it.
    is_marked: AtomicBool,
    /// Whether the guard may be watching it. Saves a system call when a worker takes the seat.
    is_watched: AtomicBool,
}

impl Vacancy {
    pub(in crate::reactor) fn new() -> Self {
        Vacancy { is_marked: AtomicBool::new(false), is_watched: AtomicBool::new(false) }
    }

    /// Marks the seat after a worker has taken or left it, as `is_vacant` tells, and calls `then`.
    /// Repeats that if the seat has changed meanwhile. Must be called after each change of the
    /// seat.
    pub(super) fn settle(&self, is_vacant: impl Fn() -> bool, then: impl Fn(bool)) {
        loop {
            let is_left = is_vacant();
            // SeqCst: pairs with the one below, in another thread that does the same: if that
            // thread's mark comes last, its second check sees the seat as this thread has seen it.
            fence(Ordering::SeqCst);
            self.is_marked.store(is_left, Ordering::Relaxed);
            // SeqCst: pairs with the one above.
            fence(Ordering::SeqCst);
            then(is_left);
            if is_vacant() == is_left || canary::GUARD_NO_SECOND_LOOK.sings() {
                return;
            }
        }
    }

    /// Whether the seat is vacant, after something was added to the reactor.
    #[inline]
    pub(super) fn is_marked_after_barrier(&self, barrier: &AdaptiveBarrier) -> bool {
        if !canary::GUARD_NO_LIGHT_BARRIER.sings() {
            // Pairs with the heavy one before watch_if_vacant(), and with that of
            // GuardSleep::begin(): either the guard sees what was added, or this thread sees the
            // mark.
            barrier.light();
        }
        self.is_marked()
    }

    #[inline]
    pub(super) fn is_marked(&self) -> bool {
        self.is_marked.load(Ordering::Relaxed)
    }

    /// Sets whether it is watched, and returns whether it was.
    pub(super) fn set_watched(&self, is_so: bool) -> bool {
        // Relaxed: if it is watched and this does not say so, the guard polls once too often.
        self.is_watched.swap(is_so, Ordering::Relaxed)
    }
}
