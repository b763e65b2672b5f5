//! The owner's side of a deque.

use super::buffer::Buffer;
use super::calm::Calm;
use crate::canary;
use crossbeam_utils::CachePadded;
use heist_sync::Barrier;
use heist_sync::{AtomicU64, Ordering, load_own};
use std::cell::Cell;

/// All that a push or a pop looks at, as long as there is nothing to mind. Others have *calm* and `bottom_seen`, `bottom_lately`; the rest is for the
/// owner's thread alone.
pub(super) struct Own<T> {
    place: CachePadded<Place<T>>,
    pub(super) calm: CachePadded<Calm>,
    pub(super) barrier: Barrier,
}

/// What the owner alone writes: where it pushes.
struct Place<T> {
    /// The position after the newest item; all that others look at.
    bottom: AtomicU64,
    /// Up to here slots are known to be free: the floor plus the capacity, where the floor is
    /// the first position that a thief may still be copying out of this buffer.
    limit: Cell<u64>,
    /// The buffer of the newest generation.
    buffer: Cell<Buffer<T>>,
}

impl<T> Own<T> {
    /// Of an empty deque with this buffer, whose first item goes to `position`.
    pub(super) fn starting_at(position: u64, buffer: Buffer<T>, barrier: Barrier) -> Self {
        let place = Place {
            bottom: AtomicU64::new(position),
            limit: Cell::new(position + u64::from(buffer.capacity())),
            buffer: Cell::new(buffer),
        };
        Own {
            place: CachePadded::new(place),
            calm: CachePadded::new(Calm::new(position, barrier)),
            barrier,
        }
    }

    /// The position after the newest item, for the owner alone.
    #[inline(always)]
    pub(super) fn bottom(&self) -> u64 {
        // SAFETY: (Q2) only the owner writes it, and only the owner comes here.
        unsafe { load_own(&self.place.bottom) }
    }

    /// The owner moves the bottom, in a push as in a pop.
    #[inline(always)]
    pub(super) fn set_bottom(&self, position: u64) {
        // Release: pairs with the Acquire in bottom_seen(): whoever sees the index sees the data of
        // all items before it (Q7).
        self.place.bottom.store(position, canary::DEQUE_PUBLISH_RELAXED.weakens(Ordering::Release));
    }

    /// The position after the newest item, for thieves, as the split word would have it.
    pub(super) fn bottom_seen(&self) -> u32 {
        if canary::DEQUE_BOTTOM_PLAIN.sings() {
            return self.bottom() as u32;
        }
        // Acquire: pairs with the Release in set_bottom().
        self.place.bottom.load(Ordering::Acquire) as u32
    }

    /// The same, for those who only want to know whether it moves.
    pub(super) fn bottom_lately(&self) -> u64 {
        // Relaxed: nothing is read by it.
        self.place.bottom.load(Ordering::Relaxed)
    }

    /// Up to where slots are known to be free, for the owner.
    #[inline(always)]
    pub(super) fn limit(&self) -> u64 {
        self.place.limit.get()
    }

    pub(super) fn set_limit(&self, limit: u64) {
        self.place.limit.set(limit);
    }

    /// Where the owner puts items.
    #[inline(always)]
    pub(super) fn buffer(&self) -> Buffer<T> {
        self.place.buffer.get()
    }

    pub(super) fn set_buffer(&self, buffer: Buffer<T>) {
        self.place.buffer.set(buffer);
    }

    /// The owner is after the item at `last`, has stored its bottom, and there is something to mind: a fence perhaps, and then who
    /// has asked. Whether it has the item; if not, the bottom is where it was.
    #[cold]
    #[inline(never)]
    pub(super) fn take_back_noted(&self, last: u64) -> bool {
        let is_taken = self.has_at_second_look(last);
        if !is_taken {
            self.set_bottom(last + 1);
        }
        is_taken
    }

    /// The part of that which a pop has, too.
    pub(super) fn has_at_second_look(&self, last: u64) -> bool {
        if !canary::DEQUE_LIGHT_BARRIER_MISSING.sings() {
            self.barrier.light();
        }
        self.calm.is_own(last)
    }
}
