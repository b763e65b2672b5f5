//! The single handle that pushes and pops.

use super::drain::Drain;
use super::head::Head;
use super::shared::Shared;
use super::stealer::Stealer;
use crate::canary;
use crate::slot::Slot;
use heist_sync::Arc;
use std::fmt;
use std::mem::MaybeUninit;

/// The error of a push to a ring without a free slot. It contains the item.
///
/// Put the item elsewhere, together with the items from [`Owner::drain_half`].
///
/// # Examples
///
/// ```
/// use heist_deque::ring::{Full, Owner};
///
/// let mut owner = Owner::with_capacity(2);
/// owner.push_batch(&mut (0..2));
/// assert_eq!(owner.push(2), Err(Full(2)));
/// ```
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

/// The handle that pushes to and pops from a ring. There is one for each ring.
///
/// # Examples
///
/// ```
/// use heist_deque::ring::Owner;
///
/// let mut owner = Owner::new();
/// owner.push(1).unwrap();
/// owner.push(2).unwrap();
/// assert_eq!(owner.pop(), Some(1));
/// assert_eq!(owner.pop(), Some(2));
/// assert_eq!(owner.pop(), None);
/// ```
pub struct Owner<T> {
    pub(super) shared: Arc<Shared<T>>,
    /// The owner's own copy of the tail, which no other thread writes.
    pub(super) tail: u32,
    /// Slots before this position are known to be free. The true limit is this or a later position,
    /// because the floor only rises.
    limit: u32,
    /// The head as it was last seen. The true head is this or a later position. If this is the
    /// tail, the ring is empty.
    head: Head,
}

impl<T> Owner<T> {
    /// Number of slots of a ring from [`Owner::new`].
    // Layout: the size of the buffer.
    pub const DEFAULT_CAPACITY: usize = 256;

    /// Creates an empty ring of 256 slots.
    ///
    /// # Examples
    ///
    /// ```
    /// let owner = heist_deque::ring::Owner::<u32>::new();
    /// assert_eq!(owner.capacity(), 256);
    /// ```
    pub fn new() -> Self {
        Self::with_capacity(Self::DEFAULT_CAPACITY)
    }

    /// Creates an empty ring of `capacity` slots.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::with_capacity(2);
    /// assert!(owner.push(0).is_ok() && owner.push(1).is_ok() && owner.push(2).is_err());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is not a power of two from 2 to 32768.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::starting_at(capacity, 0)
    }

    /// A ring whose positions start at `position`, for tests of the wrap-around.
    pub(super) fn starting_at(capacity: usize, position: u32) -> Self {
        let shared = Arc::new(Shared::starting_at(capacity, position));
        let limit = position.wrapping_add(shared.capacity());
        Owner { shared, tail: position, limit, head: Head::at(position) }
    }

    /// Returns a handle for a thief, which can be cloned.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::new();
    /// owner.push("task").unwrap();
    /// let thief = owner.stealer();
    /// let stolen = std::thread::spawn(move || thief.steal().success());
    /// assert_eq!(stolen.join().unwrap(), Some("task"));
    /// ```
    pub fn stealer(&self) -> Stealer<T> {
        Stealer::new(&self.shared)
    }

    /// Returns the number of slots.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(heist_deque::ring::Owner::<u32>::with_capacity(8).capacity(), 8);
    /// ```
    pub fn capacity(&self) -> usize {
        self.shared.capacity() as usize
    }

    /// Returns the number of items. Thieves may take some before the caller uses the result.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::new();
    /// owner.push(1).unwrap();
    /// assert_eq!(owner.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether the ring is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::new();
    /// owner.push(1).unwrap();
    /// assert!(!owner.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Appends an item (Q3).
    ///
    /// A slot is free once its last item has been moved out. So a push may also fail because a
    /// thief has claimed items and is still copying them. It does not wait for the thief.
    ///
    /// # Errors
    ///
    /// Returns [`Full`] with the item if no slot is free.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::new();
    /// owner.push("task").unwrap();
    /// assert_eq!(owner.pop(), Some("task"));
    /// ```
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

    /// Appends items until the iterator ends or no slot is free, and returns their number. All of
    /// them become visible to thieves at once. Items that do not fit stay in the iterator.
    ///
    /// If the iterator panics, the items that it has yielded are in the ring.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::with_capacity(4);
    /// let mut tasks = 0..6;
    /// assert_eq!(owner.push_batch(&mut tasks), 4);
    /// assert_eq!(tasks, 4..6);
    /// ```
    pub fn push_batch<I: Iterator<Item = T>>(&mut self, items: &mut I) -> usize {
        /// Publishes the items in slots, even if the iterator unwinds.
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

    /// Takes the oldest item, or returns `None` if the ring is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::new();
    /// owner.push_batch(&mut (0..2));
    /// assert_eq!((owner.pop(), owner.pop(), owner.pop()), (Some(0), Some(1), None));
    /// ```
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        // Each iteration but the last means that a thief claimed items or finished (Q6).
        while self.head.position() != self.tail {
            let position = self.head.position();
            if self.claim(1) {
                // SAFETY: (Q1) after the claim, this item is the owner's.
                return Some(unsafe { self.shared.slot(position).take() });
            }
        }
        None
    }

    /// The bits of the item `ahead` places after the one that [`pop`](Self::pop) takes next, if
    /// there is one. A thief may have taken it, so they are only a hint at what memory will be
    /// needed.
    #[doc(hidden)]
    #[inline(always)]
    pub fn glimpse(&self, ahead: u32) -> Option<MaybeUninit<T>> {
        let first = self.head.position();
        let is_there = ahead < self.tail.wrapping_sub(first);
        // SAFETY: (Q1) the owner alone writes slots.
        is_there.then(|| unsafe { self.shared.slot(first.wrapping_add(ahead)).bits() })
    }

    /// Takes half of the items out, rounded up, to make room after an overflow (Q5).
    ///
    /// It takes the *newer* half, so that the items that have waited longest stay here and in
    /// order. Items that the caller does not take from the iterator are dropped with it.
    ///
    /// While a thief is copying, nothing is taken out, because the thief makes room itself. So a
    /// push may fail again afterwards: put that item elsewhere, and do not loop.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::with_capacity(4);
    /// owner.push_batch(&mut (0..4));
    /// assert_eq!(owner.drain_half().collect::<Vec<_>>(), [2, 3]);
    /// assert_eq!(owner.len(), 2);
    /// ```
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

    /// Appends the `count` items from `start` on to the tail again, oldest first. The owner has
    /// closed the ring, so all slots are its own.
    fn republish(&mut self, start: u32, count: u32) {
        let capacity = self.shared.capacity();
        self.limit = self.head.position().wrapping_add(capacity);
        // In a full ring each item is in its new slot already, one lap later.
        if self.tail.wrapping_sub(start) < capacity {
            for i in 0..count {
                let old = self.shared.slot(start.wrapping_add(i));
                // SAFETY: (Q1) the slots are the owner's. In ascending order the new slot is free,
                // or the old one of an item that has been moved already.
                unsafe { self.free_slot(i).mirror(old) };
            }
        }
        self.publish(count);
    }

    /// Tries to claim the `count` oldest items. A failure updates the known head.
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

    /// The number of free slots after the tail, at most `wanted`. Loads the head only if the known
    /// limit does not suffice.
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

    /// The slot `offset` places after the tail. It is free if `offset` is less than the result of
    /// [`room_for`](Self::room_for).
    #[inline(always)]
    pub(super) fn free_slot(&self, offset: u32) -> &Slot<T> {
        self.shared.slot(self.tail.wrapping_add(offset))
    }

    /// The first of `count` free slots from `offset` places after the tail on, as many as are
    /// contiguous.
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
