//! The buffers that hold a deque's items.

use super::split::GENERATIONS;
use crate::slot::Slot;
use heist_sync::{AtomicPtr, AtomicU32, Ordering, model_has_failed};
use std::ptr::{self, NonNull};

/// A circular array of slots, and of marks. The low bits of a position are the index.
pub(super) struct Buffer<T> {
    slots: NonNull<Slot<T>>,
    /// For each slot the last position whose item a thief has copied out of it. Before the first
    /// theft it is a position of another slot. The marks are separate from the slots because
    /// thieves write marks and the owner writes slots.
    copied: NonNull<AtomicU32>,
    mask: u32,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Buffer<T> {}

impl<T> Buffer<T> {
    fn allocate(capacity: usize) -> Self {
        let count = capacity as u32;
        Buffer {
            slots: leak((0..count).map(|_| Slot::empty())),
            copied: leak((0..count).map(|index| AtomicU32::new(index + 1))),
            mask: count - 1,
        }
    }

    /// # Safety
    /// The buffer was allocated with this capacity, is freed once, and no thread reads it any more.
    unsafe fn free(self) {
        let capacity = self.mask as usize + 1;
        let slots = ptr::slice_from_raw_parts_mut(self.slots.as_ptr(), capacity);
        // SAFETY: (Q2) made by leak() with this length in allocate(), and given up by the caller.
        drop(unsafe { Box::from_raw(slots) });
        let copied = ptr::slice_from_raw_parts_mut(self.copied.as_ptr(), capacity);
        // SAFETY: (Q2) the same.
        drop(unsafe { Box::from_raw(copied) });
    }

    #[inline(always)]
    pub(super) fn capacity(self) -> u32 {
        self.mask + 1
    }

    /// The slot of `position`.
    ///
    /// # Safety
    /// The [`Generations`] that made this buffer are alive while the reference is used.
    #[inline(always)]
    pub(super) unsafe fn slot<'a>(self, position: u32) -> &'a Slot<T> {
        // SAFETY: (Q2) masked, the index is within the allocation.
        let slot = unsafe { self.slots.add((position & self.mask) as usize) };
        // SAFETY: (Q2) allocated, initialised, and alive as the caller promises.
        unsafe { slot.as_ref() }
    }

    /// Records that a thief has copied the item of `position`.
    ///
    /// # Safety
    /// As for [`slot`](Self::slot).
    #[inline(always)]
    pub(super) unsafe fn mark_copied(self, position: u32) {
        // SAFETY: (Q2) passed on to the caller.
        let mark = unsafe { self.mark(position) };
        // Release: pairs with the Acquire in is_copied(), after which the owner overwrites.
        mark.store(position, Ordering::Release);
    }

    /// Whether the thief that took `position` has copied the item.
    ///
    /// # Safety
    /// As for [`slot`](Self::slot).
    pub(super) unsafe fn is_copied(self, position: u32) -> bool {
        // SAFETY: (Q2) passed on to the caller.
        let mark = unsafe { self.mark(position) };
        // Acquire: pairs with the Release in mark_copied().
        mark.load(Ordering::Acquire) == position
    }

    #[inline(always)]
    unsafe fn mark<'a>(self, position: u32) -> &'a AtomicU32 {
        // SAFETY: (Q2) masked, the index is within the allocation.
        let mark = unsafe { self.copied.add((position & self.mask) as usize) };
        // SAFETY: (Q2) allocated, initialised, and alive as the caller promises.
        unsafe { mark.as_ref() }
    }
}

fn leak<T>(items: impl Iterator<Item = T>) -> NonNull<T> {
    let first = Box::into_raw(items.collect::<Box<[T]>>()).cast::<T>();
    // SAFETY: (type) a Box is never null.
    unsafe { NonNull::new_unchecked(first) }
}

/// All buffers that a deque ever had, each twice as large as the one before. They are freed with
/// the deque, so a thief may still read from a buffer that was outgrown. The outgrown buffers
/// together are smaller than the last one.
pub(super) struct Generations<T> {
    first_capacity: usize,
    slots: [AtomicPtr<Slot<T>>; GENERATIONS],
    copied: [AtomicPtr<AtomicU32>; GENERATIONS],
}

impl<T> Generations<T> {
    /// Layout: the largest buffer. Positions must be comparable by their signed difference.
    const MAX_CAPACITY: usize = 1 << 30;

    /// Creates the list with a first buffer of `first_capacity` slots.
    pub(super) fn new(first_capacity: usize) -> (Self, Buffer<T>) {
        assert!(
            first_capacity.is_power_of_two() && (2..=Self::MAX_CAPACITY).contains(&first_capacity),
            "deque::Owner::with_capacity: {first_capacity} is not a power of two from 2 to 2^30; \
             round it up with usize::next_power_of_two"
        );
        let generations = Generations {
            first_capacity,
            slots: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            copied: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        };
        let first = generations.add(0);
        (generations, first)
    }

    /// Allocates the buffer of `generation`.
    pub(super) fn add(&self, generation: usize) -> Buffer<T> {
        let capacity = self.first_capacity << generation;
        assert!(
            capacity <= Self::MAX_CAPACITY,
            "deque::Owner::push: a deque holds at most 2^30 items; \
             the program is pushing without ever popping"
        );
        let buffer = Buffer::allocate(capacity);
        // Release: pairs with the Acquire in get().
        self.slots[generation].store(buffer.slots.as_ptr(), Ordering::Release);
        // Release: as above.
        self.copied[generation].store(buffer.copied.as_ptr(), Ordering::Release);
        buffer
    }

    /// The buffer of a generation that the split word has named.
    #[inline(always)]
    pub(super) fn get(&self, generation: usize) -> Buffer<T> {
        // Acquire: pairs with the Release in add().
        let slots = self.slots[generation].load(Ordering::Acquire);
        // Acquire: as above.
        let copied = self.copied[generation].load(Ordering::Acquire);
        let mask = ((self.first_capacity << generation) - 1) as u32;
        // SAFETY: (Q2) the owner adds a buffer before the split word names its generation.
        let slots = unsafe { NonNull::new_unchecked(slots) };
        // SAFETY: (Q2) as above.
        let copied = unsafe { NonNull::new_unchecked(copied) };
        Buffer { slots, copied, mask }
    }
}

impl<T> Drop for Generations<T> {
    fn drop(&mut self) {
        if model_has_failed() {
            return;
        }
        for generation in 0..GENERATIONS {
            if !self.slots[generation].load(Ordering::Relaxed).is_null() {
                // SAFETY: (Q2) no thread reads it any more, and it is freed once.
                unsafe { self.get(generation).free() };
            }
        }
    }
}
