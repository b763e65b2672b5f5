//! The one place where the standard library and loom meet.
//!
//! Everything in this crate that another thread can see goes through these names, so that the
//! model checker sees every atomic, every cell and every fence of the protocols.

pub(crate) mod asymmetric;
pub(crate) mod canary;

#[cfg(not(loom))]
mod primitives {
    pub(crate) use std::sync::Arc;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, fence};

    /// `std`'s cell behind loom's interface: access only through a raw pointer for the duration
    /// of a closure, which is what lets loom see who reads and who writes.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }

    /// Whether a model has failed and is being torn down; see loom's side.
    #[inline(always)]
    pub(crate) fn model_has_failed() -> bool {
        false
    }
}

#[cfg(loom)]
#[path = "sync/loom.rs"]
mod primitives;

pub(crate) use primitives::*;
pub(crate) use std::sync::atomic::Ordering;
