//! What the owner's push and pop read and write.

use super::buffer::Buffer;
use super::threshold::Threshold;
use crate::canary;
use crossbeam_utils::CachePadded;
use heist_sync::Barrier;
use heist_sync::{AtomicU64, Ordering, load_own};
use std::cell::Cell;

/// All that a push or a pop reads on its fast path. Other threads use only the threshold,
/// `bottom_acquire` and `bottom_relaxed`.
pub(super) struct OwnerSide<T> {
    end: CachePadded<End<T>>,
    pub(super) threshold: CachePadded<Threshold>,
    pub(super) barrier: Barrier,
}

/// What only the owner writes: where it pushes.
struct End<T> {
    /// The position after the newest item. Other threads read nothing else of this.
    bottom: AtomicU64,
    /// Slots before this position are known to be free: the floor plus the capacity, where the
    /// floor is the first position that a thief may still be copying out of this buffer.
    limit: Cell<u64>,
    /// The buffer of the newest generation.
    buffer: Cell<Buffer<T>>,
}

impl<T> OwnerSide<T> {
    /// The owner's side of an empty deque with this buffer, whose first item goes to `position`.
    pub(super) fn starting_at(position: u64, buffer: Buffer<T>, barrier: Barrier) -> Self {
        let end = End {
            bottom: AtomicU64::new(position),
            limit: Cell::new(position + u64::from(buffer.capacity())),
            buffer: Cell::new(buffer),
        };
        OwnerSide {
            end: CachePadded::new(end),
            threshold: CachePadded::new(Threshold::new(position, barrier)),
            barrier,
        }
    }

    /// The position after the newest item, for the owner only.
    #[inline(always)]
    pub(super) fn bottom(&self) -> u64 {
        // SAFETY: (Q2) only the owner writes it, and only the owner calls this.
        unsafe { load_own(&self.end.bottom) }
    }

    /// Moves the bottom, in a push or a pop of the owner.
    #[inline(always)]
    pub(super) fn set_bottom(&self, position: u64) {
        // Release: pairs with the Acquire in bottom_acquire(): a thread that sees the index sees
        // the data of all items before it (Q7).
        self.end.bottom.store(position, canary::DEQUE_PUBLISH_RELAXED.weakens(Ordering::Release));
    }

    /// The position after the newest item, for thieves: the bits that the split word has of it.
    pub(super) fn bottom_acquire(&self) -> u32 {
        if canary::DEQUE_BOTTOM_PLAIN.sings() {
            return self.bottom() as u32;
        }
        // Acquire: pairs with the Release in set_bottom().
        self.end.bottom.load(Ordering::Acquire) as u32
    }

    /// The position after the newest item, for threads that only check whether it changes.
    pub(super) fn bottom_relaxed(&self) -> u64 {
        // Relaxed: nothing is read because of it.
        self.end.bottom.load(Ordering::Relaxed)
    }

    /// The position before which slots are known to be free, for the owner only.
    #[inline(always)]
    pub(super) fn limit(&self) -> u64 {
        self.end.limit.get()
    }

    pub(super) fn set_limit(&self, limit: u64) {
        self.end.limit.set(limit);
    }

    /// The buffer to which the owner pushes.
    #[inline(always)]
    pub(super) fn buffer(&self) -> Buffer<T> {
        self.end.buffer.get()
    }

    pub(super) fn set_buffer(&self, buffer: Buffer<T>) {
        self.end.buffer.set(buffer);
    }

    /// The slow path of taking back the item at `last`, after the owner has stored the bottom
    /// before it: a flag is set, or the item is public. Returns whether the owner has the item; if
    /// not, the bottom is restored.
    #[cold]
    #[inline(never)]
    pub(super) fn take_back_slowly(&self, last: u64) -> bool {
        let is_taken = self.is_private_after_barrier(last);
        if !is_taken {
            self.set_bottom(last + 1);
        }
        is_taken
    }

    /// Runs the owner's side of the barrier in full, and returns whether the item at `last` is
    /// private and no thief has asked.
    pub(super) fn is_private_after_barrier(&self, last: u64) -> bool {
        if !canary::DEQUE_LIGHT_BARRIER_MISSING.sings() {
            self.barrier.light();
        }
        self.threshold.is_private(last)
    }
}
