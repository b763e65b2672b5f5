//! Whether anybody sits where a reactor is.

use crate::canary;
use heist_sync::{AdaptiveBarrier, AtomicBool, Ordering, fence};

/// What a reactor is to the guard.
pub(in crate::reactor) struct Post {
    /// Whether nobody sits on its seat. For a moment it may say what was so before: somebody is about to set it
    /// right then.
    is_left: AtomicBool,
    /// Whether the guard may be watching it. Spares those who sit down a system call.
    is_watched: AtomicBool,
}

impl Post {
    pub(in crate::reactor) fn new() -> Self {
        Post { is_left: AtomicBool::new(false), is_watched: AtomicBool::new(false) }
    }

    /// Somebody has sat down or left, and `is_vacant` tells which. Marks it; `then` does what follows from
    /// that. If the seat has changed meanwhile, once more. To be called after each change of the seat.
    pub(super) fn settle(&self, is_vacant: impl Fn() -> bool, then: impl Fn(bool)) {
        loop {
            let is_left = is_vacant();
            // SeqCst: pairs with the one below, in another thread that does the same: if that one's mark comes
            // last, its second look sees the seat as we have.
            fence(Ordering::SeqCst);
            self.is_left.store(is_left, Ordering::Relaxed);
            // SeqCst: pairs with the one above.
            fence(Ordering::SeqCst);
            then(is_left);
            if is_vacant() == is_left || canary::GUARD_NO_SECOND_LOOK.sings() {
                return;
            }
        }
    }

    /// Something has been added to the reactor. Whether nobody sits there to look.
    #[inline]
    pub(super) fn is_left_behind(&self, barrier: &AdaptiveBarrier) -> bool {
        if !canary::GUARD_NO_LIGHT_BARRIER.sings() {
            // Pairs with the heavy one before entrust(), and with that of a vigil: one of us sees what the
            // other did.
            barrier.light();
        }
        self.is_left()
    }

    #[inline]
    pub(super) fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// From now on it is watched, or not; whether it was.
    pub(super) fn set_watched(&self, is_so: bool) -> bool {
        // Relaxed: if it is watched and this does not say so, that costs the guard a look.
        self.is_watched.swap(is_so, Ordering::Relaxed)
    }
}
