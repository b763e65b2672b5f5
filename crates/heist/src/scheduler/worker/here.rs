//! The worker of this thread.

use super::Local;
use super::jobs::Hand;
use std::cell::Cell;
use std::ptr;

thread_local! {
    static LOCAL: Cell<*const Local> = const { Cell::new(ptr::null()) };
    /// That worker's hand, if there is a worker: what a join needs, without a load of the worker.
    static HAND: Cell<Hand> = const { Cell::new(Hand::NONE) };
}

/// Its address, or null.
#[inline(always)]
pub(super) fn address() -> *const Local {
    LOCAL.try_with(Cell::get).unwrap_or(ptr::null())
}

/// Makes another worker that of this thread, or none; returns which it was. On a thread that is ending there is none.
///
/// # Safety
/// Null, or of a worker that lives, and stays where it is, until something else is set.
pub(super) unsafe fn replace(local: *const Local) -> *const Local {
    // SAFETY: (W10) alive, as the caller promises.
    let hand = unsafe { local.as_ref() }.map_or(Hand::NONE, Local::hand);
    let _ = HAND.try_with(|here| here.set(hand));
    LOCAL.try_with(|here| here.replace(local)).unwrap_or(ptr::null())
}

/// Calls `f` with the worker of this thread, if it has one and that has not stepped aside.
#[inline(always)]
pub(crate) fn with_here<R>(f: impl FnOnce(Option<&Local>) -> R) -> R {
    // SAFETY: (W10) it lives on this thread's stack, below `f`.
    f(unsafe { address().as_ref() })
}

/// The worker of this thread.
///
/// # Safety
/// A caller further down on the stack has found it here, by [`with_here`] or as who runs a job.
#[inline(always)]
pub(crate) unsafe fn here<'a>() -> &'a Local {
    let local = LOCAL.with(Cell::get);
    debug_assert!(!local.is_null(), "whoever has stepped aside has come back");
    // SAFETY: (W10) as in with_here(): it is still there, as the caller promises.
    unsafe { &*local }
}

/// The hand of this thread's worker; [`Hand::NONE`] if it has none, or that has stepped aside.
#[inline(always)]
pub(crate) fn hand_here() -> Hand {
    HAND.try_with(Cell::get).unwrap_or(Hand::NONE)
}
