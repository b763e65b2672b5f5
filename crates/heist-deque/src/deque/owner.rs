//! The one end that pushes and pops.

use super::buffer::Buffer;
use super::hand::{Hand, Mark, Pushed};
use super::shared::{Shared, share};
use super::split::Split;
use super::stealer::Stealer;
use crate::canary;
use crate::slot::Slot;
use heist_sync::Arc;
use heist_sync::Barrier;
use std::fmt;

/// The one handle that pushes to and pops from a deque. See the [module](super) for its life.
pub struct Owner<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Owner<T> {
    /// How many items a deque from [`Owner::new`] holds before it grows for the first time.
    pub const DEFAULT_CAPACITY: usize = 64;

    /// An empty deque.
    pub fn new() -> Self {
        Self::with_capacity(Self::DEFAULT_CAPACITY)
    }

    /// An empty deque with `capacity` slots to begin with.
    ///
    /// # Panics
    /// If `capacity` is not a power of two from 2 to 2³⁰.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::starting_at(capacity, 1, Barrier::detect())
    }

    /// A deque whose positions start at `position`: tests start it before the wrap-around, and
    /// with either barrier.
    pub(super) fn starting_at(capacity: usize, position: u64, barrier: Barrier) -> Self {
        Owner { shared: Arc::new(Shared::starting_at(capacity, position, barrier)) }
    }

    /// What pushes and takes back here, to be kept where it is found faster than the owner.
    pub fn hand(&self) -> Hand<T> {
        Hand::of(&self.shared.own)
    }

    /// A handle for a thief; clone it as often as needed.
    pub fn stealer(&self) -> Stealer<T> {
        Stealer::new(&self.shared)
    }

    /// How many slots the deque has now. It may grow when fewer items are in it, while a thief
    /// is still copying out of the others.
    pub fn capacity(&self) -> usize {
        self.buffer().capacity() as usize
    }

    /// How many items thieves can take without asking.
    #[cfg(all(test, not(loom)))]
    pub(super) fn public(&self) -> u32 {
        self.shared.split.load().public()
    }

    /// How many items there are; thieves may take some before the caller looks at it.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the newest item (Q2). Grows the deque when it is full. Ends with the frequent side of the
    /// barrier that [`Barrier::detect`] finds: who looks for sleepers afterwards need not order that.
    ///
    /// # Panics
    /// If the deque holds 2³⁰ items.
    #[inline]
    pub fn push(&mut self, item: T) {
        match self.push_lazily(item) {
            Pushed::Calmly => {}
            Pushed::Noted => _ = self.attend(),
            Pushed::Not(item) => self.push_to_full(item),
        }
    }

    /// The part of [`push`](Self::push) that is nearly always all of it, and calls nothing: the caller sees to the rest.
    #[inline(always)]
    pub fn push_lazily(&mut self, item: T) -> Pushed<T> {
        let mark = self.mark();
        // SAFETY: (Q2) it is the owner's, who is here.
        unsafe { self.hand().push_lazily(mark, item) }
    }

    #[cold]
    fn push_to_full(&mut self, item: T) {
        self.make_room();
        self.push(item);
    }

    /// There is something to mind after a push: a thief that has asked, perhaps. Whether the bell rings, or somebody has nudged.
    #[cold]
    pub fn attend(&mut self) -> bool {
        if self.shared.own.calm.is_asked() {
            self.lay_out();
        }
        self.shared.own.barrier.light();
        self.shared.own.calm.is_rung()
    }

    /// Rings the deque's bell, as [`Stealer::ring`] does.
    pub fn ring(&self) -> bool {
        self.shared.own.calm.ring()
    }

    /// Whether the bell rings. Nudges do not count.
    pub fn rings(&self) -> bool {
        self.shared.own.calm.rings()
    }

    /// Silences the bell, and forgets nudges. What the caller looks at afterwards it must order itself.
    pub fn hush(&self) {
        self.shared.own.calm.hush();
    }

    /// Takes the newest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let last = self.shared.own.bottom() - 1;
        // First say which item we are after, then look whether a thief may be after it too. An
        // exposing thief does the same the other way round, with the heavy side of the barrier
        // in between: one of the two sees the other (Q7).
        self.shared.own.set_bottom(last);
        Barrier::hold_compiler();
        if self.shared.own.calm.reaches(last) { Some(self.take(last)) } else { self.contend(last) }
    }

    /// There is something to mind in a pop that has stored its bottom.
    #[cold]
    fn contend(&mut self, last: u64) -> Option<T> {
        if self.shared.own.has_at_second_look(last) {
            Some(self.take(last))
        } else {
            self.compete(last)
        }
    }

    /// Takes back the item that was pushed when the deque ended at `mark`, and forgets it, as
    /// [`mem::forget`](std::mem::forget) does: who pushed it knows what it was. `false` if it is not there any
    /// more, or is not the newest, or thieves may reach it: then a [`pop`](Self::pop) will tell.
    #[inline(always)]
    pub fn take_back(&mut self, mark: Mark) -> bool {
        // SAFETY: (Q2) it is the owner's, who is here.
        unsafe { self.hand().take_back(mark) }
    }

    /// Where the deque ends now: where the next item will be.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark::at(self.shared.own.bottom())
    }

    /// Whether there is an item where the deque ended then.
    pub fn has(&self, mark: Mark) -> bool {
        let newer = self.newer_than(mark);
        newer > 0 && newer as usize <= self.len()
    }

    /// Takes the newest item, if it was pushed after `mark` was made.
    pub fn pop_newer(&mut self, mark: Mark) -> Option<T> {
        if self.newer_than(mark) > 0 { self.pop() } else { None }
    }

    /// How many items were pushed after `mark` was made; none, if older ones were popped since.
    fn newer_than(&self, mark: Mark) -> u64 {
        self.shared.own.bottom().saturating_sub(mark.position())
    }

    /// Takes the item at `last`, which has just become the bottom, and is the owner's alone.
    #[inline(always)]
    fn take(&mut self, last: u64) -> T {
        // SAFETY: (Q1) at or after the split, and the bottom lies before it now.
        unsafe { self.slot(last as u32).take() }
    }

    /// Takes the item at `last` although thieves may reach it: by moving the split before it.
    fn compete(&mut self, last: u64) -> Option<T> {
        let asked = self.shared.own.calm.is_asked();
        let bottom = last + 1;
        // Each turn of this loop but the last means that a thief took or exposed (Q6).
        loop {
            let split = self.shared.split.load();
            let len = (bottom as u32).wrapping_sub(split.top());
            if len == 0 {
                if asked && !canary::DEQUE_LEFT_UNANSWERED.sings() {
                    // An earlier turn may have lowered the note for an exchange that failed: who has seen it up may still expose.
                    self.share_next();
                }
                self.shared.own.set_bottom(bottom);
                return None;
            }
            // Half of what is left goes to a thief that has asked; if nothing is left, the next push answers.
            // Taking back half of what is public spreads the cost of one exchange over many pops.
            let answers = asked && len > 1;
            let public = if answers { share(len - 1) } else { split.public() / 2 };
            if self.move_split(split, public, answers) {
                return Some(self.take(last));
            }
        }
    }

    /// Makes the older half public, unless something is: for who knows that a thief will come, and need not wait then
    /// until it has asked.
    pub fn share(&mut self) {
        if self.shared.split.load().public() == 0 {
            self.lay_out();
        }
    }

    /// As [`share`](Self::share), with what is pushed next: the owner asks itself.
    pub fn share_next(&mut self) {
        self.shared.own.calm.ask();
    }

    /// A thief has asked, or may: makes the older half public.
    fn lay_out(&mut self) {
        loop {
            let split = self.shared.split.load();
            let public = share(self.shared.len_from(split.top()));
            if self.move_split(split, public, true) {
                return;
            }
        }
    }

    /// Tries to leave the `public` oldest items public and the rest private.
    fn move_split(&mut self, split: Split, public: u32, answers: bool) -> bool {
        if answers && !canary::DEQUE_ACKNOWLEDGED_LATE.sings() {
            self.shared.own.calm.acknowledge();
        }
        let moved = split.sharing(public);
        let won = self.shared.split.replace(split, moved);
        if won && !canary::DEQUE_SPLIT_UNFOLLOWED.sings() {
            self.shared.own.calm.follow(self.shared.whole(moved.split()));
        }
        if answers && canary::DEQUE_ACKNOWLEDGED_LATE.sings() {
            self.shared.own.calm.acknowledge();
        }
        won
    }

    /// Makes sure that `count` pushes can neither grow the deque nor panic.
    pub(super) fn reserve(&mut self, count: u32) {
        while self.shared.own.limit() - self.shared.own.bottom() < u64::from(count) {
            self.make_room();
        }
    }

    /// Raises the limit: to where thieves are still copying or, if that does not help, by
    /// growing.
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

    /// Moves everything to a buffer of twice the size.
    ///
    /// Thieves go on meanwhile. Those that claimed before the split word names the new
    /// generation read from the old buffer, those that claim afterwards from the new one: so
    /// in the new buffer nobody copies from before the top of that moment.
    fn grow(&mut self) {
        let mut split = self.shared.split.load();
        let larger = self.shared.generations.add(split.generation() + 1);
        let mut position = split.top();
        let bottom = self.shared.own.bottom_seen();
        while position != bottom {
            // SAFETY: (Q2) `shared` keeps the buffers alive.
            let new = unsafe { larger.slot(position) };
            // SAFETY: (Q2) nobody knows the new buffer yet, and only the owner writes to the old
            // one. Of the two copies one is taken: the generation in the claim says which.
            unsafe { new.mirror(self.slot(position)) };
            position = position.wrapping_add(1);
        }
        while !self.shared.split.replace(split, split.grown()) {
            split = self.shared.split.load();
        }
        self.shared.own.set_buffer(larger);
        self.shared.own.set_limit(self.shared.whole(split.top()) + u64::from(larger.capacity()));
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
