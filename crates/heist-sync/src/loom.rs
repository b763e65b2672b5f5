//! Loom's primitives, with one addition that makes its search complete for lock-free protocols.
//!
//! To find the interleavings that matter, loom looks for accesses of two threads to the same
//! atomic, one of which is a write. It remembers only the *last* access. When a thread loads a
//! word and then exchanges it, its own load hides the earlier load of the other thread, and the
//! interleaving in which the exchange comes first is never tried. Nearly all steps of lock-free
//! protocols are a load followed by an exchange. So every access here is announced by a store to a
//! second atomic that no thread reads. Stores always conflict with each other, and Relaxed stores
//! order nothing, so the memory model stays as it is.

pub use loom::cell::UnsafeCell;
pub use loom::sync::atomic::fence;
pub use loom::sync::{Arc, Mutex, MutexGuard};

use loom::sync::atomic::{self, Ordering};

/// Whether a model has failed and is being torn down. Then loom's atomics must not be used any
/// more: a destructor that used one would turn the report into an abort.
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

            pub fn store(&self, value: $value, order: Ordering) {
                self.announced().store(value, order);
            }

            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.announced().swap(value, order)
            }

            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.announced().compare_exchange(current, new, success, failure)
            }
        }
    };
}

announced!(AtomicBool, atomic::AtomicBool, bool);
announced!(AtomicPtr<T>, atomic::AtomicPtr<T>, *mut T);
announced!(AtomicU32, atomic::AtomicU32, u32);
announced!(AtomicU64, atomic::AtomicU64, u64);
announced!(AtomicUsize, atomic::AtomicUsize, usize);

macro_rules! counting {
    ($name:ident, $value:ty) => {
        impl $name {
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.announced().fetch_add(value, order)
            }

            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.announced().fetch_sub(value, order)
            }

            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.announced().fetch_or(value, order)
            }

            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.announced().fetch_and(value, order)
            }

            pub fn fetch_xor(&self, value: $value, order: Ordering) -> $value {
                self.announced().fetch_xor(value, order)
            }
        }
    };
}

/// # Safety
/// As for `std`. Loom fails a model that violates it.
pub unsafe fn load_own(word: &AtomicU64) -> u64 {
    // SAFETY: (type) passed on to the caller.
    unsafe { word.announced().unsync_load() }
}

counting!(AtomicU32, u32);
counting!(AtomicU64, u64);
counting!(AtomicUsize, usize);

/// Loom's condition variable. A model has no time: a timeout of zero elapses at once, any other
/// never.
#[derive(Debug, Default)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub fn new() -> Self {
        Condvar(loom::sync::Condvar::new())
    }

    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn wait_timeout<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
        timeout: std::time::Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        if timeout.is_zero() {
            // Other threads may run in between, as during a real timeout.
            drop(guard);
            return (mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), true);
        }
        (self.wait(guard), false)
    }

    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
