//! The current runtime of each thread.

use super::Handle;
use crate::env::companion;
use crate::scheduler::{self, Runnable, Scheduler};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::sync::MutexGuard;
use std::time::Instant;

thread_local! {
    static CURRENT: RefCell<Option<Handle>> = const { RefCell::new(None) };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether the thread is polling for a runtime: as a worker, or in `block_on`.
    static IN_TASK: Cell<bool> = const { Cell::new(false) };
}

/// A guard of [`Runtime::enter`](super::Runtime::enter): the thread is in the runtime until the
/// guard is dropped.
///
/// # Examples
///
/// The runtime may be shut down meanwhile; it remains the current one:
///
/// ```
/// let runtime = heist::runtime::Runtime::new().unwrap();
/// let _guard = runtime.enter();
/// runtime.shutdown_background();
/// assert!(heist::runtime::Handle::try_current().is_ok());
/// ```
///
/// # Panics
///
/// Dropping a guard panics if a guard that was made later still exists.
#[must_use = "the thread leaves the runtime when the guard is dropped"]
pub struct EnterGuard<'a> {
    _inner: Entered<'a>,
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnterGuard")
    }
}

/// A guard: the thread is in a runtime, and in that runtime's companion.
pub(super) struct Entered<'a> {
    _previous: Previous,
    _companion: companion::Guard<'a>,
}

/// Restores the previous current runtime when it is dropped. Like a lock guard it is `Sync` but not
/// `Send`. It borrows nothing, so that a guard does not prevent a shutdown of the runtime.
struct Previous {
    handle: Option<Handle>,
    depth: usize,
    _thread: PhantomData<MutexGuard<'static, ()>>,
}

pub(super) fn guard(handle: &Handle) -> EnterGuard<'_> {
    EnterGuard { _inner: enter(handle) }
}

pub(super) fn enter(handle: &Handle) -> Entered<'_> {
    let previous = exchange(Some(handle.clone()));
    let depth = DEPTH.get() + 1;
    DEPTH.set(depth);
    let _previous = Previous { handle: previous, depth, _thread: PhantomData };
    Entered { _previous, _companion: handle.scheduler.companion.enter() }
}

/// Returns a function that makes the calling thread enter the runtime for the rest of its life, if
/// the runtime still exists. For threads that are not the runtime's own.
pub(super) fn staying(handle: &Handle) -> impl Fn() + Send + Sync + 'static {
    let scheduler = handle.scheduler.downgrade();
    move || {
        let handle = Scheduler::upgrade(&scheduler).map(|scheduler| Handle { scheduler });
        drop(exchange(handle));
    }
}

impl Drop for Previous {
    fn drop(&mut self) {
        if DEPTH.get() != self.depth {
            if !std::thread::panicking() {
                panic!(
                    "EnterGuard: dropped out of order; guards must be dropped in the reverse of \
                     the order in which they were made"
                );
            }
            return;
        }
        let previous = self.handle.take();
        // Dropped outside of the borrow, because it may be the last handle.
        let current = exchange(previous);
        DEPTH.set(self.depth - 1);
        drop(current);
    }
}

/// Replaces the current runtime. On a thread that is ending this does nothing, so that a runtime
/// can still be dropped there.
fn exchange(handle: Option<Handle>) -> Option<Handle> {
    CURRENT.try_with(|current| current.replace(handle)).ok().flatten()
}

/// The error of [`Handle::try_current`]: there is no current runtime.
///
/// # Examples
///
/// ```
/// let error = heist::runtime::Handle::try_current().unwrap_err();
/// assert!(error.is_missing_context());
/// assert!(!error.is_thread_local_destroyed());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TryCurrentError {
    is_thread_ending: bool,
}

impl TryCurrentError {
    /// Returns whether the reason is that the thread is in no runtime.
    pub fn is_missing_context(&self) -> bool {
        !self.is_thread_ending
    }

    /// Returns whether the reason is that the thread is ending and its thread-locals are gone.
    pub fn is_thread_local_destroyed(&self) -> bool {
        self.is_thread_ending
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_thread_ending {
            "the thread is ending: its thread-locals, and with them its runtime, are gone"
        } else {
            "there is no runtime on this thread: call this from a task, from block_on, or while \
             the guard of Runtime::enter lives"
        })
    }
}

impl std::error::Error for TryCurrentError {}

pub(super) fn current() -> Result<Handle, TryCurrentError> {
    CURRENT
        .try_with(|current| current.borrow().clone())
        .map_err(|_| TryCurrentError { is_thread_ending: true })?
        .ok_or(TryCurrentError { is_thread_ending: false })
}

/// Whether the calling thread is in a runtime that has not been shut down.
pub(crate) fn is_up() -> bool {
    let is_up = |current: &RefCell<Option<Handle>>| {
        current.borrow().as_ref().is_some_and(|handle| !handle.scheduler.is_down())
    };
    CURRENT.try_with(is_up).unwrap_or(false)
}

/// The time on the clock of the calling thread's runtime, if it has a clock.
pub(crate) fn instant() -> Option<Instant> {
    let instant = |current: &RefCell<Option<Handle>>| {
        Some(current.borrow().as_ref()?.reactors()?.clock.instant())
    };
    CURRENT.try_with(instant).ok().flatten()
}

/// Gives a new task to this thread's worker, or returns it if the thread is not a worker of the
/// current runtime.
#[inline]
pub(super) fn try_submit(task: Runnable) -> Result<(), Runnable> {
    let address = |current: &RefCell<Option<Handle>>| {
        current.borrow().as_ref().map(|handle| handle.scheduler.address())
    };
    // Nothing is borrowed here: a runtime that is shutting down may drop this task or others.
    match CURRENT.try_with(address) {
        Ok(Some(current)) => scheduler::try_submit(current, task),
        _ => Err(task),
    }
}

/// Whether the calling thread is polling for a runtime.
pub(super) fn is_in_task() -> bool {
    IN_TASK.try_with(Cell::get).unwrap_or(false)
}

/// A guard that marks the thread as polling for a runtime, or as not polling.
pub(super) struct Polling(bool);

impl Polling {
    pub(super) fn begin() -> Self {
        Polling(IN_TASK.replace(true))
    }

    pub(super) fn pause() -> Self {
        Polling(IN_TASK.replace(false))
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        IN_TASK.set(self.0);
    }
}
