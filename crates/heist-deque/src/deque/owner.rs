//! The single handle that pushes and pops.

use super::buffer::Buffer;
use super::internal::Pushed;
use super::shared::{Shared, half};
use super::split::Split;
use super::stealer::Stealer;
use crate::canary;
use crate::slot::Slot;
use heist_sync::Arc;
use heist_sync::Barrier;
use std::fmt;

/// The handle that pushes to and pops from a deque. There is one for each deque.
///
/// # Examples
///
/// ```
/// use heist_deque::deque::Owner;
///
/// let mut owner = Owner::new();
/// owner.push(1);
/// owner.push(2);
/// assert_eq!(owner.pop(), Some(2));
/// assert_eq!(owner.pop(), Some(1));
/// assert_eq!(owner.pop(), None);
/// ```
pub struct Owner<T> {
    pub(super) shared: Arc<Shared<T>>,
}

impl<T> Owner<T> {
    /// Number of items for which a deque from [`Owner::new`] has room before it grows.
    // Layout: the size of the first buffer.
    pub const DEFAULT_CAPACITY: usize = 64;

    /// Creates an empty deque.
    ///
    /// # Examples
    ///
    /// ```
    /// let owner = heist_deque::deque::Owner::<u32>::new();
    /// assert!(owner.is_empty());
    /// ```
    pub fn new() -> Self {
        Self::with_capacity(Self::DEFAULT_CAPACITY)
    }

    /// Creates an empty deque with room for `capacity` items. It grows when that does not suffice.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::deque::Owner::with_capacity(2);
    /// (0..3).for_each(|item| owner.push(item));
    /// assert_eq!(owner.capacity(), 4);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is not a power of two from 2 to 2³⁰.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::starting_at(capacity, 1, Barrier::detect())
    }

    /// A deque whose positions start at `position`. Tests start before the wrap-around, and with
    /// either barrier.
    pub(super) fn starting_at(capacity: usize, position: u64, barrier: Barrier) -> Self {
        Owner { shared: Arc::new(Shared::starting_at(capacity, position, barrier)) }
    }

    /// Returns a handle for a thief, which can be cloned.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::deque::Owner::new();
    /// owner.push("job");
    /// let thief = owner.stealer();
    /// let stolen = std::thread::spawn(move || thief.steal().success());
    /// assert_eq!(stolen.join().unwrap(), Some("job"));
    /// ```
    pub fn stealer(&self) -> Stealer<T> {
        Stealer::new(&self.shared)
    }

    /// Returns the number of items for which the deque has room now. It may grow with fewer items
    /// in it, while a thief is still copying one.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::deque::Owner;
    ///
    /// assert_eq!(Owner::<u32>::new().capacity(), Owner::<u32>::DEFAULT_CAPACITY);
    /// ```
    pub fn capacity(&self) -> usize {
        self.buffer().capacity() as usize
    }

    /// Number of items that thieves can take without asking.
    #[cfg(all(test, not(loom)))]
    pub(super) fn public(&self) -> u32 {
        self.shared.split.load().public()
    }

    /// Returns the number of items. Thieves may take some before the caller uses the result.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::deque::Owner::new();
    /// owner.push(1);
    /// assert_eq!(owner.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether the deque is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::deque::Owner::new();
    /// owner.push(1);
    /// assert!(!owner.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an item as the newest one (Q2). The deque grows if it is full.
    ///
    /// A push ends with the frequent side of a StoreLoad barrier: if it is followed by a load, and
    /// another thread runs the rare side between a store to that place and a look at this deque,
    /// one of the two sees the other's store.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::deque::Owner::new();
    /// (0..100).for_each(|item| owner.push(item));
    /// assert_eq!(owner.pop(), Some(99));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the deque holds 2³⁰ items.
    #[inline]
    pub fn push(&mut self, item: T) {
        match self.push_fast(item) {
            Pushed::Done => {}
            Pushed::Flagged => _ = self.finish_push(),
            Pushed::Full(item) => self.push_to_full(item),
        }
    }

    #[cold]
    fn push_to_full(&mut self, item: T) {
        self.make_room();
        self.push(item);
    }

    /// Takes the newest item, or returns `None` if the deque is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::deque::Owner::new();
    /// owner.push("older");
    /// owner.push("newer");
    /// assert_eq!(owner.pop(), Some("newer"));
    /// ```
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let last = self.shared.own.bottom() - 1;
        // First announce which item the owner takes, then check whether a thief may take it too.
        // An exposing thief does the same the other way round, with the heavy side of the barrier
        // in between: one of the two sees the other (Q7).
        self.shared.own.set_bottom(last);
        Barrier::hold_compiler();
        if self.shared.own.threshold.is_at_most(last) {
            Some(self.take(last))
        } else {
            self.pop_slowly(last)
        }
    }

    /// The slow path of a pop that has stored its bottom.
    #[cold]
    fn pop_slowly(&mut self, last: u64) -> Option<T> {
        if self.shared.own.is_private_after_barrier(last) {
            Some(self.take(last))
        } else {
            self.compete(last)
        }
    }

    /// Moves out the item at `last`, which has just become the bottom and belongs to the owner.
    #[inline(always)]
    fn take(&mut self, last: u64) -> T {
        // SAFETY: (Q1) the item is at or after the split, and the bottom is before it now.
        unsafe { self.slot(last as u32).take() }
    }

    /// Takes the item at `last` although thieves may reach it, by moving the split before it.
    fn compete(&mut self, last: u64) -> Option<T> {
        let asked = self.shared.own.threshold.is_asked();
        let bottom = last + 1;
        // Each iteration but the last means that a thief took or exposed an item (Q6).
        loop {
            let split = self.shared.split.load();
            let len = (bottom as u32).wrapping_sub(split.top());
            if len == 0 {
                if asked && !canary::DEQUE_LEFT_UNANSWERED.sings() {
                    // An earlier iteration may have cleared the flag for an exchange that failed. A
                    // thief that has seen it set may still expose.
                    self.share_next();
                }
                self.shared.own.set_bottom(bottom);
                return None;
            }
            // A thief that has asked gets half of what is left. If nothing is left, the next push
            // answers. Taking back half of the public items spreads the cost of one exchange over
            // many pops.
            let answers = asked && len > 1;
            let public = if answers { half(len - 1) } else { split.public() / 2 };
            if self.move_split(split, public, answers) {
                return Some(self.take(last));
            }
        }
    }

    /// Makes the older half public, as an answer to a thief.
    pub(super) fn publish_half(&mut self) {
        loop {
            let split = self.shared.split.load();
            let public = half(self.shared.len_from(split.top()));
            if self.move_split(split, public, true) {
                return;
            }
        }
    }

    /// Tries to make the `public` oldest items public and the others private.
    fn move_split(&mut self, split: Split, public: u32, answers: bool) -> bool {
        if answers && !canary::DEQUE_ACKNOWLEDGED_LATE.sings() {
            self.shared.own.threshold.acknowledge();
        }
        let moved = split.sharing(public);
        let won = self.shared.split.replace(split, moved);
        if won && !canary::DEQUE_SPLIT_UNFOLLOWED.sings() {
            self.shared.own.threshold.set_split(self.shared.widen(moved.split()));
        }
        if answers && canary::DEQUE_ACKNOWLEDGED_LATE.sings() {
            self.shared.own.threshold.acknowledge();
        }
        won
    }

    /// Grows the deque until `count` pushes fit, which then cannot panic.
    pub(super) fn reserve(&mut self, count: u32) {
        while self.shared.own.limit() - self.shared.own.bottom() < u64::from(count) {
            self.make_room();
        }
    }

    /// Raises the limit to the first slot that a thief is still copying or, if that does not help,
    /// grows the deque.
    #[cold]
    fn make_room(&mut self) {
        let (before, capacity) = (self.shared.own.limit(), u64::from(self.buffer().capacity()));
        let top = self.shared.split.load().top();
        let mut floor = before - capacity;
        // SAFETY: (Q2) `self.shared` keeps the buffer alive.
        let is_copied = |position| unsafe { self.buffer().is_copied(position) };
        while floor as u32 != top
            && (is_copied(floor as u32) || canary::DEQUE_COPIED_IGNORED.sings())
        {
            floor += 1;
        }
        self.shared.own.set_limit(floor + capacity);
        if floor + capacity == before {
            self.grow();
        }
    }

    /// Moves all items to a buffer of twice the size.
    ///
    /// Thieves continue meanwhile. A claim made before the split word names the new generation
    /// reads from the old buffer, a later one from the new buffer. So no thief copies from the new
    /// buffer before the top of that moment.
    fn grow(&mut self) {
        let mut split = self.shared.split.load();
        let larger = self.shared.generations.add(split.generation() + 1);
        let mut position = split.top();
        let bottom = self.shared.own.bottom_acquire();
        while position != bottom {
            // SAFETY: (Q2) `shared` keeps the buffers alive.
            let new = unsafe { larger.slot(position) };
            // SAFETY: (Q2) no thief knows the new buffer yet, and only the owner writes to the old
            // one. One of the two copies is taken: the generation in the claim says which.
            unsafe { new.mirror(self.slot(position)) };
            position = position.wrapping_add(1);
        }
        while !self.shared.split.replace(split, split.grown()) {
            split = self.shared.split.load();
        }
        self.shared.own.set_buffer(larger);
        self.shared.own.set_limit(self.shared.widen(split.top()) + u64::from(larger.capacity()));
    }

    #[inline(always)]
    fn buffer(&self) -> Buffer<T> {
        self.shared.own.buffer()
    }

    #[inline(always)]
    fn slot(&self, position: u32) -> &Slot<T> {
        // SAFETY: (Q2) `self.shared` keeps the buffer alive while `self` is borrowed.
        unsafe { self.buffer().slot(position) }
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
