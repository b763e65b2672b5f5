//! Spawning tasks that stay on one worker.

use super::{Handle, Runtime, RuntimeFlavor, global};
use crate::scheduler::Runnable;
use crate::task::{self, JoinHandle, MadeHere, OnOneThread};
use std::future::Future;
use std::panic::Location;

/// Runs a future on one worker, and only there; it need not be `Send`.
///
/// Called on a worker, the task stays on that worker. Called on any other thread, the workers are
/// taken in turn; so they are on a spare worker, which may be gone before the task is, and in
/// `block_in_place`. [`Handle::spawn_pinned_on`] chooses one. What makes the future is called on the
/// worker, and there the future is polled and, when it ends, is aborted or the runtime goes down,
/// dropped.
///
/// The price: nobody else can take the task. It waits for its worker, also while others are idle;
/// and a task that keeps its worker busy, pinned or not, keeps all that are pinned there waiting.
///
/// On a runtime without worker threads a task belongs to the thread that first runs it: the one that
/// waits in `block_on`. If another thread runs it later, it panics; if it is cancelled on another
/// thread, its future is leaked instead of dropped. So use one thread, or a
/// [`LocalSet`](crate::task::LocalSet).
///
/// ```
/// use std::{cell::Cell, rc::Rc};
///
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// # rt.block_on(async {
/// let task = heist::task::spawn_pinned(|| async {
///     let shared = Rc::new(Cell::new(1));
///     let other = Rc::clone(&shared);
///     heist::task::yield_now().await;
///     other.set(2);
///     shared.get()
/// });
/// assert_eq!(task.await.unwrap(), 2);
/// # });
/// ```
///
/// What makes the future must be `Send`, and so must the output: both cross threads.
///
/// ```compile_fail,E0277
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// let here = std::rc::Rc::new(1);
/// rt.spawn_pinned(move || async move { *here });
/// ```
///
/// ```compile_fail,E0277
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// rt.spawn_pinned(|| async { std::rc::Rc::new(1) });
/// ```
///
/// # Panics
/// As [`spawn`](crate::task::spawn), if the global runtime is needed and cannot be started.
#[track_caller]
pub fn spawn_pinned<F, Fut>(make: F) -> JoinHandle<Fut::Output>
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future + 'static,
    Fut::Output: Send + 'static,
{
    global::current_or_global().spawn_pinned(make)
}

impl Runtime {
    /// Runs a future on one worker, and only there; see
    /// [`spawn_pinned`].
    #[track_caller]
    pub fn spawn_pinned<F, Fut>(&self, make: F) -> JoinHandle<Fut::Output>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        self.handle.spawn_pinned(make)
    }
}

impl Handle {
    /// Runs a future on one worker, and only there; see
    /// [`task::spawn_pinned`](crate::task::spawn_pinned).
    #[track_caller]
    pub fn spawn_pinned<F, Fut>(&self, make: F) -> JoinHandle<Fut::Output>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let (task, join) = self.new_pinned(make, Location::caller());
        self.scheduler.submit_pinned(task);
        join
    }

    /// As [`spawn_pinned`](Self::spawn_pinned), on the worker of this number, from 0 on.
    ///
    /// # Panics
    /// If there is no such worker.
    #[track_caller]
    pub fn spawn_pinned_on<F, Fut>(&self, worker: usize, make: F) -> JoinHandle<Fut::Output>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let workers = self.scheduler.workers();
        assert!(
            worker < workers,
            "Handle::spawn_pinned_on: there is no worker {worker}; this runtime has {workers}, \
             numbered from 0. Choose one of them, or ask Builder::worker_threads for more"
        );
        let (task, join) = self.new_pinned(make, Location::caller());
        self.scheduler.submit_pinned_to(worker, task);
        join
    }

    /// A task for the scheduler's pinned queues, and for nothing else.
    fn new_pinned<F, Fut>(
        &self,
        make: F,
        spawned_at: &'static Location<'static>,
    ) -> (Runnable, JoinHandle<Fut::Output>)
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        match self.runtime_flavor() {
            RuntimeFlavor::CurrentThread => {
                let future = MadeHere::new(|| OnOneThread::new(make()));
                // SAFETY: (T6) until it is made it is Send, and then it minds its thread itself.
                unsafe { task::new_local(future, spawned_at, None, self.tracker()) }
            }
            RuntimeFlavor::MultiThread => {
                // SAFETY: (T6, W8) until it is made it is Send; what makes it is the first poll.
                // The callers give it to one worker, on whose one thread it is polled and dropped.
                unsafe { task::new_local(MadeHere::new(make), spawned_at, None, self.tracker()) }
            }
        }
    }
}
