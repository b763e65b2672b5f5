//! The part of a ring that its owner and its thieves share.

use super::head::{AtomicHead, Head, MAX_CAPACITY};
use crate::canary;
use crate::slot::{Slot, drop_each};
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicU32, Ordering, model_has_failed};

/// The slots and the two ends of a ring.
///
/// Positions have 32 bits and wrap around. The low bits of a position are the index of its slot.
/// `floor ≤ head ≤ tail ≤ floor + capacity` always holds.
pub(super) struct Shared<T> {
    pub(super) head: CachePadded<AtomicHead>,
    /// The position after the newest item. Only the owner writes it.
    tail: CachePadded<AtomicU32>,
    slots: Box<[Slot<T>]>,
}

// SAFETY: (Q1) a slot is accessed by the thread that has claimed it or, between the tail and the
// floor's next lap, by the owner. Items move between threads, so they must be Send.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: (type) a ring owns its items and holds nothing that is tied to a thread.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// An empty ring whose first item goes to `position`.
    pub(super) fn starting_at(capacity: usize, position: u32) -> Self {
        assert!(
            capacity.is_power_of_two() && (2..=MAX_CAPACITY).contains(&capacity),
            "ring::Owner::with_capacity: {capacity} is not a power of two from 2 to \
             {MAX_CAPACITY}; round it up with usize::next_power_of_two"
        );
        Shared {
            head: CachePadded::new(AtomicHead::new(Head::at(position))),
            tail: CachePadded::new(AtomicU32::new(position)),
            slots: (0..capacity).map(|_| Slot::empty()).collect(),
        }
    }

    #[inline(always)]
    pub(super) fn capacity(&self) -> u32 {
        self.slots.len() as u32
    }

    #[inline(always)]
    pub(super) fn slot(&self, position: u32) -> &Slot<T> {
        let mask = self.slots.len() - 1;
        // The compiler sees that the mask is the length minus one, and omits the bounds check.
        &self.slots[position as usize & mask]
    }

    /// The slots from `position` on, at most `count` and at most to the end of the array.
    #[inline(always)]
    pub(super) fn run(&self, position: u32, count: u32) -> &[Slot<T>] {
        let start = position as usize & (self.slots.len() - 1);
        let end = (start + count as usize).min(self.slots.len());
        &self.slots[start..end]
    }

    /// Makes everything before `tail` visible to thieves (Q7).
    #[inline(always)]
    pub(super) fn publish(&self, tail: u32) {
        // Release: pairs with the Acquire in tail(): a thread that sees the index sees the data.
        self.tail.store(tail, canary::RING_PUBLISH_RELAXED.weakens(Ordering::Release));
    }

    /// The position after the newest item, for thieves.
    #[inline(always)]
    pub(super) fn tail(&self) -> u32 {
        // Acquire: pairs with the Release in publish().
        self.tail.load(Ordering::Acquire)
    }

    /// The number of items that are not claimed, as a snapshot.
    pub(super) fn len(&self) -> usize {
        let head = self.head.load().position();
        // Between the two loads the tail may have moved far ahead of the loaded head.
        (self.tail().wrapping_sub(head) as usize).min(self.slots.len())
    }

    /// Whether there is nothing to claim. A closed ring is not empty, so that an item that stays in
    /// the ring is never missed.
    pub(super) fn is_empty(&self) -> bool {
        let head = self.head.load();
        !head.is_closed() && self.tail() == head.position()
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if model_has_failed() {
            return;
        }
        let mut position = self.head.load().position();
        let tail = self.tail();
        drop_each(|| {
            (position != tail).then(|| {
                let slot = self.slot(position);
                position = position.wrapping_add(1);
                // SAFETY: (Q1) the last handle is gone, so no other thread claims. Between head and
                // tail each slot holds an item, and the position moves on before the drop.
                unsafe { slot.take() }
            })
        });
    }
}
