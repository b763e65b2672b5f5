//! The one end that pushes.

use super::drain::Drain;
use super::head::Head;
use super::shared::Shared;
use super::stealer::Stealer;
use crate::canary;
use crate::slot::Slot;
use heist_sync::Arc;
use std::fmt;
use std::mem::MaybeUninit;

/// The ring had no free slot; here is the item back.
///
/// Send it elsewhere, with what [`Owner::drain_half`] takes out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(
    /// The item that was not pushed.
    pub T,
);

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ring is full; send the item elsewhere with what drain_half takes out")
    }
}

impl<T> std::error::Error for Full<T> {}

/// The one handle that pushes to and pops from a ring. See the [module](super) for its life.
pub struct Owner<T> {
    pub(super) shared: Arc<Shared<T>>,
    /// The owner's own copy of the tail: nobody else writes it.
    pub(super) tail: u32,
    /// Up to here slots are known to be free. The true limit is this or further on, for the
    /// floor only rises.
    limit: u32,
    /// The head as it was when last seen. The true head is this or further on, so an owner
    /// that sees it at the tail knows that the ring is empty.
    head: Head,
}

impl<T> Owner<T> {
    /// How many slots [`Owner::new`] makes.
    pub const DEFAULT_CAPACITY: usize = 256;

    /// An empty ring of 256 slots.
    pub fn new() -> Self {
        Self::with_capacity(Self::DEFAULT_CAPACITY)
    }

    /// An empty ring of `capacity` slots.
    ///
    /// # Panics
    /// If `capacity` is not a power of two from 2 to 32768.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::starting_at(capacity, 0)
    }

    /// A ring whose positions start at `position`, for tests of the wrap-around.
    pub(super) fn starting_at(capacity: usize, position: u32) -> Self {
        let shared = Arc::new(Shared::starting_at(capacity, position));
        let limit = position.wrapping_add(shared.capacity());
        Owner { shared, tail: position, limit, head: Head::at(position) }
    }

    /// A handle for a thief; clone it as often as needed.
    pub fn stealer(&self) -> Stealer<T> {
        Stealer::new(&self.shared)
    }

    /// How many slots there are.
    pub fn capacity(&self) -> usize {
        self.shared.capacity() as usize
    }

    /// How many items nobody has taken; thieves may take some before the caller looks at it.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether nothing is there to take.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Appends `item`, or gives it back when no slot is free (Q3).
    ///
    /// A slot is free once its last item has been moved out. So a push may also fail because a
    /// thief has claimed items and is still copying them; it does not wait for the thief.
    ///
    /// # Errors
    /// [`Full`] holds the item when no slot is free.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Full<T>> {
        if self.room_for(1) == 0 {
            return Err(Full(item));
        }
        // SAFETY: (Q1, Q3) the position is below the limit.
        unsafe { self.free_slot(0).put(item) };
        self.publish(1);
        Ok(())
    }

    /// Appends items until the iterator ends or no slot is free, and returns how many. All of
    /// them become visible to thieves at once. What does not fit stays in the iterator.
    ///
    /// If the iterator panics, what it had yielded before is in the ring.
    pub fn push_batch<I: Iterator<Item = T>>(&mut self, items: &mut I) -> usize {
        /// Publishes what was put into slots, also when the iterator unwinds.
        struct Batch<'a, T> {
            owner: &'a mut Owner<T>,
            count: u32,
        }
        impl<T> Drop for Batch<'_, T> {
            fn drop(&mut self) {
                self.owner.publish(self.count);
            }
        }

        let room = self.room_for(self.shared.capacity());
        let mut batch = Batch { owner: self, count: 0 };
        while batch.count < room {
            let Some(item) = items.next() else { break };
            // SAFETY: (Q1, Q3) fewer than `room` slots after the tail are filled so far.
            unsafe { batch.owner.free_slot(batch.count).put(item) };
            batch.count += 1;
        }
        batch.count as usize
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        // Each turn of this loop but the last means that a thief claimed or finished (Q6).
        while self.head.position() != self.tail {
            let position = self.head.position();
            if self.claim(1) {
                // SAFETY: (Q1) the claim has just made this item ours alone.
                return Some(unsafe { self.shared.slot(position).take() });
            }
        }
        None
    }

    /// The bits of the item `ahead` places behind the one that [`pop`](Self::pop) takes next, if there is one.
    /// A thief may have taken it: good for nothing but to guess what memory will be needed.
    #[inline(always)]
    pub fn glimpse(&self, ahead: u32) -> Option<MaybeUninit<T>> {
        let first = self.head.position();
        let is_there = ahead < self.tail.wrapping_sub(first);
        // SAFETY: (Q1) the owner alone writes slots.
        is_there.then(|| unsafe { self.shared.slot(first.wrapping_add(ahead)).bits() })
    }

    /// Takes half of the items out, rounded up, to make room for an overflow (Q5).
    ///
    /// The *newer* half goes, so that what has waited longest stays here and in order. What the
    /// caller does not take from the iterator is dropped with it.
    ///
    /// While a thief is copying nothing is taken out, for the thief is making room already.
    /// So a push may fail again after this: send the one item elsewhere, do not loop.
    pub fn drain_half(&mut self) -> Drain<'_, T> {
        loop {
            self.head = self.shared.head.load();
            let start = self.head.position();
            let len = self.tail.wrapping_sub(start);
            let is_shared = self.head.has_thieves() && !canary::RING_DRAIN_IGNORES_THIEVES.sings();
            if len == 0 || is_shared {
                return Drain::new(self, start, 0);
            }
            let closed = self.head.closed_by_owner(len);
            if self.shared.head.replace(self.head, closed).is_ok() {
                let kept = len / 2;
                self.head = closed.reopened();
                self.republish(start, kept);
                self.shared.head.reopen();
                return Drain::new(self, start.wrapping_add(kept), len - kept);
            }
        }
    }

    /// Appends the `count` items from `start` on to the tail again, oldest first, after the
    /// owner has closed the ring: all slots are its own now.
    fn republish(&mut self, start: u32, count: u32) {
        let capacity = self.shared.capacity();
        self.limit = self.head.position().wrapping_add(capacity);
        // In a full ring, one lap on, each item lies in its new slot already.
        if self.tail.wrapping_sub(start) < capacity {
            for i in 0..count {
                let old = self.shared.slot(start.wrapping_add(i));
                // SAFETY: (Q1) the slots are the owner's. Going up, the new one is free, or the
                // old one of an item that has moved before.
                unsafe { self.free_slot(i).mirror(old) };
            }
        }
        self.publish(count);
    }

    /// Tries to claim the `count` oldest items; on failure the head is seen anew.
    #[inline(always)]
    fn claim(&mut self, count: u32) -> bool {
        let claimed = self.head.claimed_by_owner(count);
        match self.shared.head.replace(self.head, claimed) {
            Ok(()) => {
                self.head = claimed;
                true
            }
            Err(now) => {
                self.head = now;
                false
            }
        }
    }

    /// How many slots after the tail are free, `wanted` at the most. Looks at the head only
    /// when what is known does not suffice.
    #[inline(always)]
    pub(super) fn room_for(&mut self, wanted: u32) -> u32 {
        if self.limit.wrapping_sub(self.tail) < wanted {
            self.raise_limit();
        }
        self.limit.wrapping_sub(self.tail).min(wanted)
    }

    #[cold]
    fn raise_limit(&mut self) {
        self.head = self.shared.head.load();
        let floor = match canary::RING_FLOOR_IGNORED.sings() {
            false => self.head.floor(),
            true => self.head.position(),
        };
        self.limit = floor.wrapping_add(self.shared.capacity());
    }

    /// The slot for the item `offset` places after the tail; free if `offset` is less than what
    /// [`room_for`](Self::room_for) returned.
    #[inline(always)]
    pub(super) fn free_slot(&self, offset: u32) -> &Slot<T> {
        self.shared.slot(self.tail.wrapping_add(offset))
    }

    /// As many of the `count` free slots from `offset` places after the tail on as lie in a row.
    #[inline(always)]
    pub(super) fn free_run(&self, offset: u32, count: u32) -> &[Slot<T>] {
        self.shared.run(self.tail.wrapping_add(offset), count)
    }

    /// Makes the `count` items after the tail visible.
    #[inline(always)]
    pub(super) fn publish(&mut self, count: u32) {
        self.tail = self.tail.wrapping_add(count);
        self.shared.publish(self.tail);
    }
}

impl<T> Default for Owner<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, capacity) = (self.len(), self.capacity());
        f.debug_struct("Owner").field("len", &len).field("capacity", &capacity).finish()
    }
}
