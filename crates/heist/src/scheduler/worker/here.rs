//! The worker of this thread.

use super::Local;
use crate::scheduler::jobs::Job;
use heist_deque::deque;
use std::cell::Cell;
use std::ptr;

thread_local! {
    static LOCAL: Cell<*const Local> = const { Cell::new(ptr::null()) };
    /// That worker's deque, if there is a worker: what a join needs, without a load of the worker.
    static DEQUE: Cell<Option<deque::OwnerPtr<Job>>> = const { Cell::new(None) };
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
    let deque = unsafe { local.as_ref() }.map(Local::deque_ptr);
    let _ = DEQUE.try_with(|here| here.set(deque));
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

/// The deque of this thread's worker. Returns `None` if the thread has none, or if that worker has
/// stepped aside.
#[inline(always)]
pub(crate) fn deque_here() -> Option<deque::OwnerPtr<Job>> {
    DEQUE.try_with(Cell::get).unwrap_or(None)
}
