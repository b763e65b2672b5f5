//! The one place where the standard library and loom meet.
//!
//! Everything in heist's lock-free parts that another thread can see goes through these names,
//! so that the model checker sees every atomic, every cell and every fence of the protocols.
//! This crate is an implementation detail of heist: its interface follows what heist needs.
#![warn(missing_docs)]

mod asymmetric;
mod canary;

pub use asymmetric::Barrier;
pub use canary::Canary;

#[cfg(not(loom))]
mod primitives {
    pub use std::sync::Arc;
    pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, fence};

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
