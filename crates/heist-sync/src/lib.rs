#![doc = include_str!("../README.md")]
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

    /// A cell with loom's interface: it lends its address for the duration of a closure, so that
    /// loom sees reads and writes.
    ///
    /// # Examples
    ///
    /// ```
    /// let cell = heist_sync::UnsafeCell::new(1);
    /// // SAFETY: no other thread accesses the cell.
    /// cell.with_mut(|value| unsafe { *value += 1 });
    /// // SAFETY: as above.
    /// assert_eq!(cell.with(|value| unsafe { *value }), 2);
    /// ```
    #[derive(Debug)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Creates a cell.
        ///
        /// # Examples
        ///
        /// ```
        /// let mut cells = vec![heist_sync::UnsafeCell::new(1)];
        /// cells.push(heist_sync::UnsafeCell::new(2));
        /// ```
        pub const fn new(value: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        /// Calls `f` with the address of the value, for reading.
        ///
        /// # Examples
        ///
        /// ```
        /// let cell = heist_sync::UnsafeCell::new(1);
        /// // SAFETY: no thread writes to the cell.
        /// assert_eq!(cell.with(|value| unsafe { *value }), 1);
        /// ```
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Calls `f` with the address of the value, for writing.
        ///
        /// # Examples
        ///
        /// ```
        /// let cell = heist_sync::UnsafeCell::new(1);
        /// // SAFETY: no other thread accesses the cell.
        /// cell.with_mut(|value| unsafe { *value = 2 });
        /// ```
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }

    /// A condition variable with an interface that loom can implement. It ignores poisoning.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{Condvar, Mutex};
    ///
    /// let (is_ready, changed) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         *is_ready.lock().unwrap() = true;
    ///         changed.notify_one();
    ///     });
    ///     let mut guard = is_ready.lock().unwrap();
    ///     while !*guard {
    ///         guard = changed.wait(guard);
    ///     }
    /// });
    /// ```
    #[derive(Debug, Default)]
    pub struct Condvar(std::sync::Condvar);

    impl Condvar {
        /// Creates a condition variable.
        ///
        /// # Examples
        ///
        /// ```
        /// static CHANGED: heist_sync::Condvar = heist_sync::Condvar::new();
        /// CHANGED.notify_all();
        /// ```
        pub const fn new() -> Self {
            Condvar(std::sync::Condvar::new())
        }

        /// Waits for a notification. Spurious wake-ups are possible.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist_sync::{Condvar, Mutex};
        ///
        /// let (items, changed) = (Mutex::new(Vec::new()), Condvar::new());
        /// std::thread::scope(|scope| {
        ///     scope.spawn(|| {
        ///         items.lock().unwrap().push(1);
        ///         changed.notify_one();
        ///     });
        ///     let mut guard = items.lock().unwrap();
        ///     while guard.is_empty() {
        ///         guard = changed.wait(guard);
        ///     }
        ///     assert_eq!(*guard, [1]);
        /// });
        /// ```
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        /// Waits for a notification, for at most `timeout`. Also returns whether it has timed out.
        /// `guard` belongs to `mutex`.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist_sync::{Condvar, Mutex};
        /// use std::time::Duration;
        ///
        /// let (is_ready, changed) = (Mutex::new(false), Condvar::new());
        /// let guard = is_ready.lock().unwrap();
        /// let (guard, _has_timed_out) = changed.wait_timeout(&is_ready, guard, Duration::from_millis(1));
        /// assert!(!*guard);
        /// ```
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

        /// Wakes one waiting thread.
        ///
        /// # Examples
        ///
        /// ```
        /// heist_sync::Condvar::new().notify_one(); // Without waiting threads this does nothing.
        /// ```
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes all waiting threads.
        ///
        /// # Examples
        ///
        /// ```
        /// heist_sync::Condvar::new().notify_all(); // Without waiting threads this does nothing.
        /// ```
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    /// Loads a word that only the calling thread writes, while other threads may read it. This is a
    /// plain load, which the compiler can make part of a comparison, unlike an atomic one.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AtomicU64, Ordering, load_own};
    ///
    /// let tail = AtomicU64::new(0);
    /// // SAFETY: only this thread writes to the word.
    /// tail.store(unsafe { load_own(&tail) } + 1, Ordering::Release);
    /// assert_eq!(tail.load(Ordering::Acquire), 1);
    /// ```
    ///
    /// # Safety
    /// No other thread writes the word at the same time.
    #[inline(always)]
    pub unsafe fn load_own(word: &AtomicU64) -> u64 {
        // SAFETY: (type) valid while the word is borrowed, and no other thread writes it, as the
        // caller promises.
        unsafe { word.as_ptr().read() }
    }

    /// Whether a loom model has failed and is being torn down. Always `false` outside loom.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!heist_sync::model_has_failed());
    /// ```
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

/// Declares thread-locals: those of `std`, initialised at compile time, or those of loom, whose
/// threads are not threads of the system.
///
/// # Examples
///
/// ```
/// heist_sync::thread_local! {
///     static DEPTH: std::cell::Cell<u32> = std::cell::Cell::new(0);
/// }
/// DEPTH.set(1);
/// assert_eq!(DEPTH.get(), 1);
/// ```
#[cfg(not(loom))]
#[macro_export]
macro_rules! thread_local {
    ($($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $init:expr;)*) => {
        $(::std::thread_local! { $(#[$meta])* $vis static $name: $type = const { $init }; })*
    };
}

#[cfg(loom)]
pub use loom::thread_local;
