//! Where a deque's items lie.

use super::split::GENERATIONS;
use crate::slot::Slot;
use heist_sync::{AtomicPtr, AtomicU32, Ordering, model_has_failed};
use std::ptr::{self, NonNull};

/// A slot, and whether the thief that took its item is done with it.
pub(super) struct Place<T> {
    pub(super) slot: Slot<T>,
    /// The last position whose item a thief has copied out of here. Before the first theft
    /// it is a position that belongs to another slot.
    copied: AtomicU32,
}

impl<T> Place<T> {
    /// A thief has copied out the item of `position`.
    #[inline(always)]
    pub(super) fn mark_copied(&self, position: u32) {
        // Release: pairs with the Acquire in is_copied(), after which the owner overwrites.
        self.copied.store(position, Ordering::Release);
    }

    /// Whether the thief that took `position` is done with this slot.
    pub(super) fn is_copied(&self, position: u32) -> bool {
        // Acquire: pairs with the Release in mark_copied().
        self.copied.load(Ordering::Acquire) == position
    }
}

/// A circular array of places. The position of an item says which: its low bits.
pub(super) struct Buffer<T> {
    places: NonNull<Place<T>>,
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
        let places: Box<[Place<T>]> = (0..capacity as u32)
            .map(|index| Place { slot: Slot::empty(), copied: AtomicU32::new(index + 1) })
            .collect();
        let first = Box::into_raw(places).cast::<Place<T>>();
        // SAFETY: (type) a Box is never null.
        Buffer { places: unsafe { NonNull::new_unchecked(first) }, mask: capacity as u32 - 1 }
    }

    #[inline(always)]
    pub(super) fn capacity(self) -> u32 {
        self.mask + 1
    }

    /// The place of `position`.
    ///
    /// # Safety
    /// The [`Generations`] that made this buffer are alive while the reference is used.
    #[inline(always)]
    pub(super) unsafe fn place<'a>(self, position: u32) -> &'a Place<T> {
        // SAFETY: (Q2) masked, the index is within the allocation.
        let place = unsafe { self.places.add((position & self.mask) as usize) };
        // SAFETY: (Q2) allocated, initialised, and alive as the caller promises.
        unsafe { place.as_ref() }
    }
}

/// All buffers that a deque ever had, each twice as large as the one before. None is freed
/// before the deque goes, so a thief may go on reading from one that has been outgrown; the
/// outgrown ones together are smaller than the last one.
pub(super) struct Generations<T> {
    first_capacity: usize,
    buffers: [AtomicPtr<Place<T>>; GENERATIONS],
}

impl<T> Generations<T> {
    /// The largest buffer: positions must be comparable by their signed difference.
    const MAX_CAPACITY: usize = 1 << 30;

    /// The first buffer has `first_capacity` places.
    pub(super) fn new(first_capacity: usize) -> (Self, Buffer<T>) {
        assert!(
            first_capacity.is_power_of_two() && (2..=Self::MAX_CAPACITY).contains(&first_capacity),
            "deque::Owner::with_capacity: {first_capacity} is not a power of two from 2 to 2^30; \
             round it up with usize::next_power_of_two"
        );
        let buffers = std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()));
        let generations = Generations { first_capacity, buffers };
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
        self.buffers[generation].store(buffer.places.as_ptr(), Ordering::Release);
        buffer
    }

    /// The buffer of a generation that the split word has named.
    #[inline(always)]
    pub(super) fn get(&self, generation: usize) -> Buffer<T> {
        // Acquire: pairs with the Release in add().
        let places = self.buffers[generation].load(Ordering::Acquire);
        let mask = ((self.first_capacity << generation) - 1) as u32;
        // SAFETY: (Q2) the owner adds a buffer before the split word names its generation.
        Buffer { places: unsafe { NonNull::new_unchecked(places) }, mask }
    }
}

impl<T> Drop for Generations<T> {
    fn drop(&mut self) {
        if model_has_failed() {
            return;
        }
        for (generation, buffer) in self.buffers.iter().enumerate() {
            let places = buffer.load(Ordering::Relaxed);
            if !places.is_null() {
                let all = ptr::slice_from_raw_parts_mut(places, self.first_capacity << generation);
                // SAFETY: (Q2) made by Box::into_raw with this length in allocate(), and nobody
                // is left to read it.
                drop(unsafe { Box::from_raw(all) });
            }
        }
    }
}
