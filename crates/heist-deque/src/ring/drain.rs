//! The items that leave a ring when it overflows.

use super::owner::Owner;
use crate::slot::drop_each;
use std::fmt;

/// An iterator over the items that [`Owner::drain_half`] has taken out, oldest first.
///
/// Dropping it drops the items that are left.
///
/// # Examples
///
/// ```
/// let mut owner = heist_deque::ring::Owner::with_capacity(4);
/// owner.push_batch(&mut (0..4));
/// let drain = owner.drain_half();
/// assert_eq!(drain.len(), 2);
/// assert_eq!(drain.collect::<Vec<_>>(), [2, 3]);
/// ```
pub struct Drain<'a, T> {
    /// Borrowed, so that the owner does not reuse slots that are still to be read.
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
        // SAFETY: (Q1, Q5) claimed by the owner, which cannot push while it is borrowed. The
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
