//! The one place where the standard library and loom meet.
//!
//! Everything in heist's lock-free parts that another thread can see goes through these names,
//! so that the model checker sees every atomic, every cell and every fence of the protocols.
//! This crate is an implementation detail of heist: its interface follows what heist needs.
#![warn(missing_docs)]

mod adaptive;
mod barrier;
mod canary;
mod tuning;
mod wait_word;

pub use adaptive::AdaptiveBarrier;
pub use barrier::Barrier;
pub use canary::Canary;
pub use wait_word::WaitWord;

#[cfg(not(loom))]
mod primitives {
    pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
    pub use std::sync::{Arc, Mutex, MutexGuard};

    /// `std`'s cell behind loom's interface: access only through a raw pointer for the duration
    /// of a closure, which is what lets loom see who reads and who writes.
    #[derive(Debug)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// A cell with `value` in it.
        pub const fn new(value: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        /// The cell's address, for the duration of a read.
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        /// The cell's address, for the duration of a write.
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }

    /// `std`'s condition variable behind an interface that a model can have too.
    #[derive(Debug, Default)]
    pub struct Condvar(std::sync::Condvar);

    impl Condvar {
        /// One that nobody waits for.
        pub const fn new() -> Self {
            Condvar(std::sync::Condvar::new())
        }

        /// Waits for a notification. May return without one.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        /// Waits for a notification, at most as long as `timeout`; also tells whether that has
        /// passed. `guard` is that of `mutex`.
        pub fn wait_timeout<'a, T>(
            &self,
            _mutex: &'a Mutex<T>,
            guard: MutexGuard<'a, T>,
            timeout: std::time::Duration,
        ) -> (MutexGuard<'a, T>, bool) {
            let waited = self.0.wait_timeout(guard, timeout);
            let (guard, result) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
            (guard, result.timed_out())
        }

        /// Wakes one of those who wait.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes all who wait.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// What is in a word that the caller alone writes. Others may look at it meanwhile. It is a plain load, which the compiler can make part
    /// of a comparison; an atomic one it leaves apart.
    ///
    /// # Safety
    /// No other thread writes the word at the same time.
    #[inline(always)]
    pub unsafe fn load_own(word: &AtomicU64) -> u64 {
        // SAFETY: (type) valid as long as the word is borrowed; nobody else writes it, as the caller promises.
        unsafe { word.as_ptr().read() }
    }

    /// Whether a model has failed and is being torn down; see loom's side.
    #[inline(always)]
    pub fn model_has_failed() -> bool {
        false
    }
}

#[cfg(loom)]
#[path = "loom.rs"]
#[allow(missing_docs, reason = "the same names as above, documented there or in std")]
mod primitives;

pub use primitives::*;
pub use std::sync::atomic::Ordering;

/// Thread-locals: `std`'s, initialised at compile time, or loom's, whose threads are not the
/// system's.
#[cfg(not(loom))]
#[macro_export]
macro_rules! thread_local {
    ($($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $init:expr;)*) => {
        $(::std::thread_local! { $(#[$meta])* $vis static $name: $type = const { $init }; })*
    };
}

#[cfg(loom)]
pub use loom::thread_local;
