//! A place for one item, and the way to drop many.

use heist_sync::UnsafeCell;
use std::mem::MaybeUninit;

/// A place that holds an item or nothing; which of the two, and who may touch it, the queue's
/// protocol knows. Nobody reads a slot before having claimed it, so that items of any size
/// move without a data race.
#[repr(transparent)]
pub(crate) struct Slot<T>(UnsafeCell<MaybeUninit<T>>);

impl<T> Slot<T> {
    pub(crate) fn empty() -> Self {
        Slot(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Moves `item` in.
    ///
    /// # Safety
    /// The slot holds nothing, and no other thread accesses it now.
    #[inline(always)]
    pub(crate) unsafe fn put(&self, item: T) {
        self.0.with_mut(|place| {
            // SAFETY: (Q1) the caller is alone at this slot, and the cell's pointer is valid.
            unsafe { place.cast::<T>().write(item) };
        });
    }

    /// Moves the item out.
    ///
    /// # Safety
    /// The slot holds an item that happens-before this call, the caller has claimed it, and
    /// takes it once.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> T {
        self.0.with(|place| {
            // SAFETY: (Q1) the caller's claim makes this the only read that counts as the move.
            unsafe { place.cast::<T>().read() }
        })
    }

    /// A copy of what is here, item or not.
    ///
    /// # Safety
    /// No other thread writes to the slot now.
    #[inline(always)]
    pub(crate) unsafe fn bits(&self) -> MaybeUninit<T> {
        self.0.with(|place| {
            // SAFETY: (Q1) valid, and nobody writes; whatever is here may be copied as bits.
            unsafe { place.read() }
        })
    }

    /// Copies the bits of `other` here, item or not: only one of the two slots will be taken.
    ///
    /// # Safety
    /// No other thread accesses this slot now, none writes to `other`, and they are two slots.
    pub(crate) unsafe fn mirror(&self, other: &Slot<T>) {
        self.0.with_mut(|to| {
            other.0.with(|from| {
                // SAFETY: (Q1) both pointers are valid for one slot; no slot is mirrored to itself.
                unsafe { std::ptr::copy_nonoverlapping(from, to, 1) };
            });
        });
    }
}

/// Copies the bits of the slots `from` to as many slots `to`, as [`Slot::mirror`] does for one.
///
/// # Safety
/// As for `mirror`, for each pair.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) unsafe fn mirror_run<T>(from: &[Slot<T>], to: &[Slot<T>]) {
    debug_assert_eq!(from.len(), to.len());
    // SAFETY: (Q1) a slot is nothing but a cell, so writing through a shared reference is what
    // it is for; both runs are valid for this length, and the caller is alone at `to`.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr().cast_mut(), to.len()) };
}

/// Copies slot by slot, so that loom sees every access.
///
/// # Safety
/// As for `mirror`, for each pair.
#[cfg(loom)]
pub(crate) unsafe fn mirror_run<T>(from: &[Slot<T>], to: &[Slot<T>]) {
    for (from, to) in from.iter().zip(to) {
        // SAFETY: (Q1) passed on to the caller.
        unsafe { to.mirror(from) };
    }
}

/// Drops every item that `next` yields, and goes on after one whose `Drop` panics. The first
/// panic is passed on; a second one meanwhile aborts the process, as it does for `Vec`.
pub(crate) fn drop_each<T>(next: impl FnMut() -> Option<T>) {
    struct Rest<T, F: FnMut() -> Option<T>>(F);
    impl<T, F: FnMut() -> Option<T>> Drop for Rest<T, F> {
        fn drop(&mut self) {
            while let Some(item) = (self.0)() {
                drop(item);
            }
        }
    }
    let mut rest = Rest(next);
    while let Some(item) = (rest.0)() {
        drop(item);
    }
}
