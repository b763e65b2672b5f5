//! What leaves a ring when it overflows.

use super::owner::Owner;
use crate::slot::drop_each;
use std::fmt;

/// The items that [`Owner::drain_half`] took out, oldest first. Those that are not taken from
/// here are dropped with it.
pub struct Drain<'a, T> {
    /// Holding the owner keeps it from reusing the slots that are still to be read.
    owner: &'a mut Owner<T>,
    next: u32,
    left: u32,
}

impl<'a, T> Drain<'a, T> {
    /// The `count` items from `start` on, which the owner has claimed.
    pub(super) fn new(owner: &'a mut Owner<T>, start: u32, count: u32) -> Self {
        Drain { owner, next: start, left: count }
    }
}

impl<T> Iterator for Drain<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        let slot = self.owner.shared.slot(self.next);
        self.next = self.next.wrapping_add(1);
        self.left -= 1;
        // SAFETY: (Q1, Q5) claimed by the owner, who cannot push while it is borrowed; the
        // position has moved on, so this item is taken once.
        Some(unsafe { slot.take() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<T> ExactSizeIterator for Drain<'_, T> {}

impl<T> std::iter::FusedIterator for Drain<'_, T> {}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        drop_each(|| self.next());
    }
}

impl<T> fmt::Debug for Drain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").field("left", &self.left).finish()
    }
}
