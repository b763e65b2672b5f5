//! Tasks: a future with its header and output, in one allocation.
//!
//! This module knows no worker, no queue and no runtime. A task reaches its scheduler only through
//! `Schedule`. `task/README.md` specifies the life of a task, and which thread may touch what, and
//! when.
//!
//! The crate calls this module `task_core`: `lib.rs` combines it with the parts of the API that
//! need a runtime into the public module `task`.

mod cell;
pub mod coop;
mod error;
mod id;
mod join;
mod list;
mod local_key;
mod names;
mod pinned;
mod state;
// Loom has no sockets, so there is no console to show what is kept here.
#[cfg_attr(loom, allow(dead_code, unused_imports))]
pub(crate) mod tracker;
mod waker;
mod yield_now;

#[cfg(all(test, loom))]
mod loom_tests;

pub(crate) use cell::{Ran, TaskRef, is_cancelling};
#[doc(no_inline)]
pub use coop::{Unconstrained, consume_budget, unconstrained};
pub use error::JoinError;
pub use id::{Id, id, try_id};
pub use join::{AbortHandle, JoinHandle};
pub(crate) use list::TaskList;
pub use local_key::{AccessError, LocalKey};
pub(crate) use names::{keep_ended, last_name_of, name_of};
pub(crate) use pinned::{MadeHere, OnOneThread};
#[cfg_attr(loom, allow(unused_imports))]
pub(crate) use waker::{Prompt, is_prompt, prompt_waker};
pub use yield_now::yield_now;

use crate::memory;
use cell::{Details, RawTask};
use names::Name;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use tracker::Tracker;

/// Named futures that this module's functions return.
pub mod futures {
    pub use super::local_key::TaskLocalFuture;
}

/// What a task needs of its scheduler. Cheap to clone.
pub(crate) trait Schedule: Clone + Send + Sync + 'static {
    /// What each task keeps of the scheduler: a reference to it, and where it stores waiting tasks.
    type Link;

    /// Stores a task that is going to wait for the first time, so that a shutdown finds it. Returns
    /// `None` if the runtime has been shut down.
    fn adopt(&self, task: TaskRef) -> Option<Self::Link>;

    /// Whether [`schedule`](Self::schedule) runs no foreign code, so that it neither waits nor
    /// panics. Asked at each poll.
    #[inline(always)]
    fn is_prompt(&self) -> bool {
        true
    }

    /// Called after a poll that returned `Pending`: from now on the task may run on another thread.
    #[inline(always)]
    fn poll_returned(&self) {}

    /// Called when the task has ended. Returns whether it was still stored; the caller then owns
    /// its reference.
    fn release(link: Self::Link) -> bool;

    /// Takes a task that was woken, on any thread.
    ///
    /// # Safety
    /// `link` is alive until `task` is handed on. Afterwards the task may run, end and be freed by
    /// another thread, and `link` with it.
    unsafe fn schedule(link: *const Self::Link, task: Notified<Self>);
}

/// A runnable task, and the right to run it (T1). There is at most one for each task.
pub(crate) struct Notified<S: Schedule> {
    task: RawTask,
    scheduler: PhantomData<fn(&S)>,
}

// SAFETY: (T3, T6) spawning asks for futures and outputs that are Send, or for a scheduler that
// brings the task back to its own thread.
unsafe impl<S: Schedule> Send for Notified<S> {}

impl<S: Schedule> Notified<S> {
    /// # Safety
    /// The task is NOTIFIED, was allocated for `S`, and the reference that goes with being queued
    /// is the caller's to give.
    unsafe fn from_raw(task: RawTask) -> Self {
        Notified { task, scheduler: PhantomData }
    }

    /// Does the first half of a wake-up: marks the task as queued but gives it to no scheduler.
    ///
    /// # Safety
    /// `waker` belongs to a waiting task that was allocated for `S`.
    #[cfg(all(test, not(loom)))]
    pub(crate) unsafe fn half_woken(waker: &std::task::Waker) -> Self {
        let task = RawTask(NonNull::new(waker.data().cast_mut().cast()).unwrap());
        assert_eq!(task.header().state.notify_by_ref(), state::Notify::Schedule);
        // SAFETY: (T1) the state has just become NOTIFIED, with a reference for the queue.
        unsafe { Notified::from_raw(task) }
    }

    fn into_task(self) -> RawTask {
        ManuallyDrop::new(self).task
    }

    #[inline(always)]
    pub(crate) fn id(&self) -> Id {
        self.task.header().id
    }

    #[inline(always)]
    pub(crate) fn spawned_at(&self) -> &'static Location<'static> {
        self.task.header().spawned_at
    }

    /// Polls the task, or cancels it if it was aborted. Returns the task if it was woken meanwhile.
    pub(crate) fn run(self, scheduler: &S) -> Ran<Self> {
        let task = self.into_task();
        // SAFETY: (T2) this was the one right to run it.
        match unsafe { task.run(scheduler) } {
            Ran::Done => Ran::Done,
            Ran::Waits => Ran::Waits,
            // SAFETY: (T4) woken while it ran: NOTIFIED, and the worker's reference is the queue's.
            Ran::Again(()) => Ran::Again(unsafe { Notified::from_raw(task) }),
        }
    }

    /// Cancels the task because there is no thread to run it.
    pub(crate) fn fail(self, error: &Arc<io::Error>) {
        let task = self.into_task();
        let why = JoinError::no_thread(task.header().id, Arc::clone(error));
        // SAFETY: (T2) this was the one right to run it.
        unsafe { task.cancel(why) };
    }

    /// Prefetches the task with these bits, which will probably run soon. It may be gone.
    #[inline(always)]
    pub(crate) fn prefetch(bits: MaybeUninit<Self>) {
        // SAFETY: (type) one pointer, which was written when the task was pushed. It may be stale,
        // but it is not dereferenced.
        memory::prefetch(unsafe { bits.as_ptr().cast::<*const u8>().read() });
    }

    /// Turns the task into a plain pointer, for a slot or a queue of pointers.
    pub(crate) fn into_raw(self) -> NonNull<()> {
        self.into_task().0.cast()
    }

    /// # Safety
    /// `raw` comes from [`into_raw`](Self::into_raw), and is converted back only once.
    pub(crate) unsafe fn from_ptr(raw: NonNull<()>) -> Self {
        Notified { task: RawTask(raw.cast()), scheduler: PhantomData }
    }
}

/// Cancels a runnable task that no worker will run, because its queue is dropped.
impl<S: Schedule> Drop for Notified<S> {
    fn drop(&mut self) {
        if heist_sync::model_has_failed() {
            return;
        }
        let why = JoinError::cancelled(self.task.header().id);
        // SAFETY: (T2) this was the one right to run it.
        unsafe { self.task.cancel(why) };
    }
}

/// Makes a runnable task of `future`, and a handle to wait for it.
pub(crate) fn new<F, S>(
    future: F,
    spawned_at: &'static Location<'static>,
) -> (Notified<S>, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    let task = RawTask(cell::allocate::<F, S>(future, Id::next(), spawned_at));
    // SAFETY: (T1) just allocated, for S, and the future's output is what the handle asks for.
    unsafe { both_ends(task) }
}

/// Makes a task like [`new`], with an optional name and an optional tracker.
pub(crate) fn new_detailed<F, S>(
    future: F,
    spawned_at: &'static Location<'static>,
    name: Option<Arc<str>>,
    tracker: Option<&Arc<Tracker>>,
) -> (Notified<S>, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    // SAFETY: (T6) it may be run and dropped on any thread.
    unsafe { new_local(future, spawned_at, name, tracker) }
}

/// Makes a task like [`new_detailed`], of a future that must stay on certain threads.
///
/// # Safety
/// The returned task is run and dropped only on threads where `future` may be.
pub(crate) unsafe fn new_local<F, S>(
    future: F,
    spawned_at: &'static Location<'static>,
    name: Option<Arc<str>>,
    tracker: Option<&Arc<Tracker>>,
) -> (Notified<S>, JoinHandle<F::Output>)
where
    F: Future + 'static,
    F::Output: 'static,
    S: Schedule,
{
    let id = Id::next();
    let tracked = tracker.and_then(|tracker| tracker.track(id, spawned_at, name.clone()));
    let name = name.map(|name| Name::new(id, name));
    let task = RawTask(match (name, tracked) {
        (None, None) => cell::allocate::<F, S>(future, id, spawned_at),
        (name, tracked) => {
            let details = Details { name, tracked };
            cell::allocate_detailed::<F, S>(future, id, spawned_at, details)
        }
    });
    // SAFETY: (T1, T6) as above, and the caller keeps it on threads where it may be.
    unsafe { both_ends(task) }
}

/// # Safety
/// The task is new, was allocated for `S`, and its output is a `T`.
unsafe fn both_ends<S: Schedule, T>(task: RawTask) -> (Notified<S>, JoinHandle<T>) {
    // SAFETY: (T1) a new task is NOTIFIED, and has a reference for the queue.
    let notified = unsafe { Notified::from_raw(task) };
    // SAFETY: (T10) a new task has a reference for its one handle.
    let join = unsafe { JoinHandle::new(task) };
    (notified, join)
}
