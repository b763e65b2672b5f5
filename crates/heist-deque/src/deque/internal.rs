//! What only the heist runtime uses: the fast paths of [`Owner`] through a raw pointer, marks, and
//! the bell. None of it appears in the documentation, and all of it may change in any release.

use super::buffer::Buffer;
use super::owner::Owner;
use super::owner_side::OwnerSide;
use super::stealer::Stealer;
use heist_sync::Barrier;
use std::ptr::NonNull;

/// A pointer to what an owner's push and pop need, to be kept where it is found faster than the
/// owner is.
#[doc(hidden)]
pub struct OwnerPtr<T>(NonNull<OwnerSide<T>>);

/// The result of a push on the fast path.
#[doc(hidden)]
#[derive(Debug)]
#[must_use = "the push may have to be completed"]
pub enum Pushed<T> {
    /// The item was pushed.
    Done,
    /// The item was pushed, and a flag is set: the caller must call [`Owner::finish_push`].
    Flagged,
    /// There is no room: the caller must [push](Owner::push) the item through the owner.
    Full(T),
}

/// The end of a deque at some moment.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Mark(u64);

impl Mark {
    /// The mark with this position. No deque ever has an item at 2⁵⁹ or after it. 2⁶⁴ − 1 is not
    /// allowed.
    #[inline(always)]
    pub fn at(position: u64) -> Self {
        Mark(position)
    }

    /// The mark as a number, which is less than 2⁵⁹ if a deque has made the mark.
    #[inline(always)]
    pub fn position(self) -> u64 {
        self.0
    }
}

impl<T> Clone for OwnerPtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for OwnerPtr<T> {}

impl<T> OwnerPtr<T> {
    /// As [`Owner::mark`].
    ///
    /// # Safety
    /// The owner is alive, and the caller could borrow it exclusively now.
    #[inline(always)]
    pub unsafe fn mark(self) -> Mark {
        // SAFETY: (Q2) the owner keeps it alive, as the caller promises.
        Mark(unsafe { self.0.as_ref() }.bottom())
    }

    /// As [`Owner::push_fast`].
    ///
    /// # Safety
    /// As for [`mark`](Self::mark), and `mark` is what that would return now.
    #[inline(always)]
    pub unsafe fn push_fast(self, Mark(bottom): Mark, item: T) -> Pushed<T> {
        // SAFETY: (Q2) the owner keeps it alive, as the caller promises.
        let own = unsafe { self.0.as_ref() };
        if bottom == own.limit() {
            return Pushed::Full(item);
        }
        let buffer: Buffer<T> = own.buffer();
        // SAFETY: (Q2) the owner keeps the buffer alive.
        let slot = unsafe { buffer.slot(bottom as u32) };
        // SAFETY: (Q1) below the limit the slot is free, and only the owner writes slots.
        unsafe { slot.put(item) };
        own.set_bottom(bottom + 1);
        Barrier::hold_compiler();
        if own.threshold.is_at_most(bottom) { Pushed::Done } else { Pushed::Flagged }
    }

    /// As [`Owner::take_back`].
    ///
    /// # Safety
    /// As for [`mark`](Self::mark).
    #[inline(always)]
    pub unsafe fn take_back(self, Mark(last): Mark) -> bool {
        // SAFETY: (Q2) the owner keeps it alive, as the caller promises.
        let own = unsafe { self.0.as_ref() };
        if own.bottom() != last.wrapping_add(1) {
            return false;
        }
        // As in pop() (Q7).
        own.set_bottom(last);
        Barrier::hold_compiler();
        own.threshold.is_at_most(last) || own.take_back_slowly(last)
    }
}

#[doc(hidden)]
impl<T> Owner<T> {
    /// A pointer to what a push needs.
    pub fn owner_ptr(&self) -> OwnerPtr<T> {
        OwnerPtr(NonNull::from(&self.shared.own))
    }

    /// The fast path of [`push`](Self::push), which calls no function. The caller completes the
    /// push as the result says.
    #[inline(always)]
    pub fn push_fast(&mut self, item: T) -> Pushed<T> {
        let mark = self.mark();
        // SAFETY: (Q2) the exclusive borrow proves that this is the owner.
        unsafe { self.owner_ptr().push_fast(mark, item) }
    }

    /// Completes a push that saw a flag: makes items public if a thief has asked.
    /// Returns whether the bell rings or the owner was nudged.
    #[cold]
    pub fn finish_push(&mut self) -> bool {
        if self.shared.own.threshold.is_asked() {
            self.publish_half();
        }
        self.shared.own.barrier.light();
        self.shared.own.threshold.is_rung_or_nudged()
    }

    /// Rings the deque's bell, as [`Stealer::ring`] does.
    pub fn ring(&self) -> bool {
        self.shared.own.threshold.ring()
    }

    /// Whether the bell rings. Nudges do not count.
    pub fn rings(&self) -> bool {
        self.shared.own.threshold.is_rung()
    }

    /// Silences the bell and forgets nudges. The caller must order what it reads afterwards.
    pub fn silence(&self) {
        self.shared.own.threshold.silence();
    }

    /// Takes back the item that was pushed when the deque ended at `mark`, and forgets it as
    /// [`mem::forget`](std::mem::forget) does: the caller still has a copy. Returns `false` if the
    /// item is gone, is not the newest, or may be taken by a thief; a [`pop`](Self::pop) decides
    /// then.
    #[inline(always)]
    pub fn take_back(&mut self, mark: Mark) -> bool {
        // SAFETY: (Q2) the exclusive borrow proves that this is the owner.
        unsafe { self.owner_ptr().take_back(mark) }
    }

    /// The current end of the deque, where the next item will be.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark::at(self.shared.own.bottom())
    }

    /// Whether there is an item where the deque ended at `mark`.
    pub fn has(&self, mark: Mark) -> bool {
        let newer = self.newer_than(mark);
        newer > 0 && newer as usize <= self.len()
    }

    /// Takes the newest item if it was pushed after `mark` was made.
    pub fn pop_newer(&mut self, mark: Mark) -> Option<T> {
        if self.newer_than(mark) > 0 { self.pop() } else { None }
    }

    /// The number of items that were pushed after `mark` was made, or 0 if older ones were popped
    /// since.
    fn newer_than(&self, mark: Mark) -> u64 {
        self.shared.own.bottom().saturating_sub(mark.position())
    }

    /// Makes the older half public if nothing is, so that the next thief need not ask for it.
    pub fn share(&mut self) {
        if self.shared.split.load().public() == 0 {
            self.publish_half();
        }
    }

    /// Has the next push make the older half public, as if a thief had asked.
    pub fn share_next(&mut self) {
        self.shared.own.threshold.ask();
    }
}

#[doc(hidden)]
impl<T> Stealer<T> {
    /// The current end of the deque. It changes with each push and pop of the owner, and with
    /// nothing else.
    pub fn mark(&self) -> Mark {
        Mark::at(self.shared.own.bottom_relaxed())
    }

    /// Rings the deque's bell, so that the owner's next push says so. It rings until the owner
    /// [silences](Owner::silence) it. Returns whether it was silent.
    ///
    /// A thread that rings the bell, then runs the heavy side of the barrier that
    /// [`Barrier::detect`] returns, and then finds the deque empty, is heard by the next push. A
    /// thread that finds the bell ringing may leave the barrier to the one that rang it, if all
    /// that ring it run the barrier and recheck the deque afterwards.
    pub fn ring(&self) -> bool {
        self.shared.own.threshold.ring()
    }

    /// Has the owner's next push behave as if the bell rang, if the owner notices it in time. This
    /// is a hint and needs no barrier.
    pub fn nudge(&self) {
        self.shared.own.threshold.nudge();
    }
}
