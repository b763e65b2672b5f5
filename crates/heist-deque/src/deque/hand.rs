//! The part of a push and a pop that is nearly always all of it.

use super::buffer::Buffer;
use super::own::Own;
use heist_sync::Barrier;
use std::ptr::{self, NonNull};

/// An [owner](super::Owner)'s hand: one pointer, to be kept where it is found faster than the owner is.
pub struct Hand<T>(NonNull<Own<T>>);

/// The owner that there is where there is none: at its [hand](Self::hand) nothing can be pushed. So who has either finds out by the push, and need not look before.
///
/// In a model its hand must not be used: atomics of a model are no statics.
pub struct Nobody<T> {
    #[cfg(not(loom))]
    own: Own<T>,
    #[cfg(loom)]
    own: std::marker::PhantomData<fn(T)>,
}

// SAFETY: (type) there is nothing in it, and nothing is ever written.
unsafe impl<T> Sync for Nobody<T> {}

#[cfg(not(loom))]
impl<T> Nobody<T> {
    /// For a static.
    #[expect(clippy::new_without_default, reason = "one is enough for a program")]
    pub const fn new() -> Self {
        Nobody { own: Own::nobodys() }
    }

    /// Its hand. Any number of threads may use it at once: each push comes to [`Pushed::Not`].
    pub const fn hand(&'static self) -> Hand<T> {
        // SAFETY: (type) a reference is not null.
        Hand(unsafe { NonNull::new_unchecked(ptr::from_ref(&self.own).cast_mut()) })
    }
}

#[cfg(loom)]
impl<T> Nobody<T> {
    #[expect(clippy::new_without_default, reason = "as above")]
    pub const fn new() -> Self {
        Nobody { own: std::marker::PhantomData }
    }

    pub const fn hand(&'static self) -> Hand<T> {
        Hand(NonNull::dangling())
    }
}

/// What has become of an item that was pushed lazily.
#[derive(Debug)]
#[must_use = "perhaps it was not"]
pub enum Pushed<T> {
    /// It is there, and that was all.
    Calmly,
    /// It is there, and the deque has to be [attended](super::Owner::attend) to.
    Noted,
    /// There is no room, and it has to be [pushed](super::Owner::push), unless the hand is [nobody's](Nobody).
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
    #[inline(always)]
    pub(super) fn of(own: &Own<T>) -> Self {
        Hand(NonNull::from(own))
    }

    /// As [`Owner::mark`](super::Owner::mark).
    ///
    /// # Safety
    /// The owner is alive, and the caller could borrow it exclusively now; or it is [nobody's](Nobody).
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
    /// As for [`mark`](Self::mark), and if it is [nobody's](Nobody), with no mark but its own.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn at_nobodys_hand_nothing_can_be_pushed() {
        static NOBODY: Nobody<Box<u32>> = Nobody::new();
        let hand = NOBODY.hand();
        for number in 0..3 {
            // SAFETY: (Q2) it is nobody's.
            let mark = unsafe { hand.mark() };
            // SAFETY: (Q2) as above, and that is what it says.
            let pushed = unsafe { hand.push_lazily(mark, Box::new(number)) };
            assert!(matches!(pushed, Pushed::Not(item) if *item == number));
            // SAFETY: (Q2) as above.
            assert!(!unsafe { hand.take_back(mark) });
        }
    }
}
