//! Loom's primitives, with one addition that makes its search complete for our protocols.
//!
//! To find the interleavings that matter, loom looks for accesses of two threads to the same
//! atomic of which one is a write. It remembers only the *last* access. When a thread loads a
//! word and then exchanges it, its own load hides the earlier load of the other thread, and the
//! interleaving in which the exchange comes first is never tried. Nearly everything in our
//! protocols is a load followed by an exchange. So every access here is announced by a store to a
//! companion that nobody reads: stores conflict with each other whatever follows, and Relaxed
//! ones order nothing, so that the memory model stays as it is.

pub use loom::cell::UnsafeCell;
pub use loom::sync::Arc;
pub use loom::sync::atomic::fence;

use loom::sync::atomic::{self, Ordering};

/// Whether a model has failed and is being torn down. Then loom's atomics can no longer be
/// used, and a destructor that did would turn the report into an abort.
pub fn model_has_failed() -> bool {
    std::thread::panicking()
}

macro_rules! announced {
    ($(#[$doc:meta])* $name:ident $(<$param:ident>)?, $inner:ty, $value:ty) => {
        $(#[$doc])*
        /// Loom's atomic of this name, each access announced.
        pub struct $name $(<$param>)? {
            value: $inner,
            announcement: atomic::AtomicBool,
        }

        impl $(<$param>)? $name $(<$param>)? {
            pub fn new(value: $value) -> Self {
                $name { value: <$inner>::new(value), announcement: atomic::AtomicBool::new(false) }
            }

            fn announced(&self) -> &$inner {
                self.announcement.store(true, Ordering::Relaxed);
                &self.value
            }

            pub fn load(&self, order: Ordering) -> $value {
                self.announced().load(order)
            }

        }
    };
}

announced!(AtomicBool, atomic::AtomicBool, bool);
announced!(AtomicPtr<T>, atomic::AtomicPtr<T>, *mut T);
announced!(AtomicU32, atomic::AtomicU32, u32);
announced!(AtomicU64, atomic::AtomicU64, u64);

impl AtomicBool {
    pub fn store(&self, value: bool, order: Ordering) {
        self.announced().store(value, order);
    }
}

impl<T> AtomicPtr<T> {
    pub fn store(&self, value: *mut T, order: Ordering) {
        self.announced().store(value, order);
    }
}

impl AtomicU32 {
    pub fn store(&self, value: u32, order: Ordering) {
        self.announced().store(value, order);
    }
}

impl AtomicU64 {
    pub fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.announced().compare_exchange(current, new, success, failure)
    }

    pub fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        self.announced().fetch_sub(value, order)
    }
}
