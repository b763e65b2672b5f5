//! The allocator of all sides: which one it is, and a count of what it hands out.
//!
//! The feature `mimalloc` chooses the one below. The count is off unless a [`Balance`] is
//! open; then a call costs one more load of a flag that nobody writes.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

#[cfg(feature = "mimalloc")]
mod chosen {
    pub const NAME: &str = "mimalloc";
    pub static CHOSEN: mimalloc::MiMalloc = mimalloc::MiMalloc;
}

#[cfg(not(feature = "mimalloc"))]
mod chosen {
    pub const NAME: &str = "system";
    pub static CHOSEN: std::alloc::System = std::alloc::System;
}

use chosen::CHOSEN;
pub use chosen::NAME;

#[global_allocator]
static GLOBAL: Counting = Counting;

static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Bytes that were allocated and not freed since the balance was opened, by all threads.
static BYTES: AtomicI64 = AtomicI64::new(0);

/// Counts the bytes that all threads ask for, less those that they free.
///
/// What the allocator adds, by rounding up or for itself, is not in it.
#[derive(Debug)]
pub struct Balance(());

impl Balance {
    /// # Panics
    ///
    /// If one is open already: there is one count.
    pub fn open() -> Self {
        let was_open = IS_OPEN.swap(true, Ordering::Relaxed);
        assert!(!was_open, "Balance::open: close the other one first");
        BYTES.store(0, Ordering::Relaxed);
        Balance(())
    }

    /// Negative if more was freed than allocated.
    pub fn close(self) -> i64 {
        BYTES.load(Ordering::Relaxed)
    }
}

impl Drop for Balance {
    fn drop(&mut self) {
        IS_OPEN.store(false, Ordering::Relaxed);
    }
}

#[inline]
fn count(bytes: impl FnOnce() -> i64) {
    if IS_OPEN.load(Ordering::Relaxed) {
        BYTES.fetch_add(bytes(), Ordering::Relaxed);
    }
}

/// No object is larger than `isize::MAX`.
#[inline]
fn signed(size: usize) -> i64 {
    size as i64
}

struct Counting;

// SAFETY: (FFI) each call goes to an allocator that keeps the contract, with what it was given;
// counting allocates nothing and does not unwind.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(|| signed(layout.size()));
        // SAFETY: (FFI) our caller keeps the contract of this very function.
        unsafe { CHOSEN.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(|| signed(layout.size()));
        // SAFETY: (FFI) our caller keeps the contract of this very function.
        unsafe { CHOSEN.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(|| -signed(layout.size()));
        // SAFETY: (FFI) our caller keeps the contract of this very function.
        unsafe { CHOSEN.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(|| signed(new_size) - signed(layout.size()));
        // SAFETY: (FFI) our caller keeps the contract of this very function.
        unsafe { CHOSEN.realloc(memory, layout, new_size) }
    }
}
