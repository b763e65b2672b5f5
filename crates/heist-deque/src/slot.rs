//! The storage for one item, and a way to drop many.

use heist_sync::UnsafeCell;
use std::mem::MaybeUninit;

/// Storage for an item, which may be empty. The queue's protocol knows whether it is, and which
/// thread may access it. A thread claims an item before it reads the slot, so items of any size
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
    /// The slot is empty, and no other thread accesses it now.
    #[inline(always)]
    pub(crate) unsafe fn put(&self, item: T) {
        self.0.with_mut(|place| {
            // SAFETY: (Q1) no other thread accesses the slot, and the cell's pointer is valid.
            unsafe { place.cast::<T>().write(item) };
        });
    }

    /// Moves the item out.
    ///
    /// # Safety
    /// The slot holds an item whose write happens-before this call. The caller has claimed it, and
    /// takes it once.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> T {
        self.0.with(|place| {
            // SAFETY: (Q1) the caller has claimed the item, so this is the only read that moves it.
            unsafe { place.cast::<T>().read() }
        })
    }

    /// Copies the bits of the slot, whether it is empty or not.
    ///
    /// # Safety
    /// No other thread writes to the slot now.
    #[inline(always)]
    pub(crate) unsafe fn bits(&self) -> MaybeUninit<T> {
        self.0.with(|place| {
            // SAFETY: (Q1) the pointer is valid and no thread writes; any bits may be copied.
            unsafe { place.read() }
        })
    }

    /// Copies the bits of `other` into this slot. At most one of the two will be taken.
    ///
    /// # Safety
    /// No other thread accesses this slot now, no thread writes to `other`, and the slots differ.
    pub(crate) unsafe fn mirror(&self, other: &Slot<T>) {
        self.0.with_mut(|to| {
            other.0.with(|from| {
                // SAFETY: (Q1) both pointers are valid for one slot, and the slots differ.
                unsafe { std::ptr::copy_nonoverlapping(from, to, 1) };
            });
        });
    }
}

/// Copies the bits of the slots `from` to the same number of slots `to`, as [`Slot::mirror`] does
/// for one.
///
/// # Safety
/// As for `mirror`, for each pair.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) unsafe fn mirror_run<T>(from: &[Slot<T>], to: &[Slot<T>]) {
    debug_assert_eq!(from.len(), to.len());
    // SAFETY: (Q1) a slot is a cell, so it may be written through a shared reference. Both runs are
    // valid for this length, and no other thread accesses `to`.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr().cast_mut(), to.len()) };
}

/// Copies slot by slot, so that loom sees every access.
///
/// # Safety
/// As for `mirror`, for each pair.
#[cfg(loom)]
pub(crate) unsafe fn mirror_run<T>(from: &[Slot<T>], to: &[Slot<T>]) {
    for (from, to) in from.iter().zip(to) {
        // SAFETY: (Q1) the caller guarantees it for each pair.
        unsafe { to.mirror(from) };
    }
}

/// Drops each item that `next` yields, even after one whose `Drop` panics. The first panic is
/// resumed; a second one aborts the process, as for `Vec`.
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
