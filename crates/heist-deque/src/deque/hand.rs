//! The part of a push and a pop that is nearly always all of it.

use super::buffer::Buffer;
use super::own::Own;
use heist_sync::Barrier;
use std::ptr::NonNull;

/// An [owner](super::Owner)'s hand: one pointer, to be kept where it is found faster than the owner is.
pub struct Hand<T>(NonNull<Own<T>>);

/// What has become of an item that was pushed lazily.
#[derive(Debug)]
#[must_use = "perhaps it was not"]
pub enum Pushed<T> {
    /// It is there, and that was all.
    Calmly,
    /// It is there, and the deque has to be [attended](super::Owner::attend) to.
    Noted,
    /// There is no room, and it has to be [pushed](super::Owner::push), by the owner.
    Not(T),
}

/// Where a deque ended at some moment.
#[derive(Debug, Clone, Copy)]
pub struct Mark(u64);

impl Mark {
    /// The mark of this position. From 2⁵⁹ on no deque will ever have anything there. (The very last, 2⁶⁴ − 1, is none.)
    #[inline(always)]
    pub fn at(position: u64) -> Self {
        Mark(position)
    }

    /// As a number, which is less than 2⁵⁹ if a deque has made the mark.
    #[inline(always)]
    pub fn position(self) -> u64 {
        self.0
    }
}

impl<T> Clone for Hand<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Hand<T> {}

impl<T> Hand<T> {
    /// To what the owner looks at.
    #[inline(always)]
    pub(super) fn of(own: &Own<T>) -> Self {
        Hand(NonNull::from(own))
    }

    /// As [`Owner::mark`](super::Owner::mark).
    ///
    /// # Safety
    /// The owner is alive, and the caller could borrow it exclusively now.
    #[inline(always)]
    pub unsafe fn mark(self) -> Mark {
        // SAFETY: (Q2) the owner keeps it alive, as the caller promises.
        Mark(unsafe { self.0.as_ref() }.bottom())
    }

    /// As [`Owner::push_lazily`](super::Owner::push_lazily).
    ///
    /// # Safety
    /// As for [`mark`](Self::mark), and that is what it says now.
    #[inline(always)]
    pub unsafe fn push_lazily(self, Mark(bottom): Mark, item: T) -> Pushed<T> {
        // SAFETY: (Q2) the owner keeps it alive, as the caller promises.
        let own = unsafe { self.0.as_ref() };
        if bottom == own.limit() {
            return Pushed::Not(item);
        }
        let buffer: Buffer<T> = own.buffer();
        // SAFETY: (Q2) the owner keeps the buffer alive.
        let slot = unsafe { buffer.slot(bottom as u32) };
        // SAFETY: (Q1) below the limit the slot is free, and only the owner writes slots.
        unsafe { slot.put(item) };
        own.set_bottom(bottom + 1);
        Barrier::hold_compiler();
        if own.calm.reaches(bottom) { Pushed::Calmly } else { Pushed::Noted }
    }

    /// As [`Owner::take_back`](super::Owner::take_back).
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
        own.calm.reaches(last) || own.take_back_noted(last)
    }
}
