//! `spawn_pinned`: tasks that stay on one worker.

use super::{Handle, Runtime, RuntimeFlavor, global};
use crate::scheduler::Runnable;
use crate::task::{self, JoinHandle, MadeHere, OnOneThread};
use std::future::Future;
use std::panic::Location;

/// Spawns a task that stays on one worker. Its future need not be `Send`.
///
/// `make` is sent to the worker and called there. The future that it returns is polled only on that
/// worker, and dropped there when it completes, is aborted or the runtime is shut down.
///
/// If the calling thread is a worker, the task stays on that worker. Otherwise the workers are used
/// in turn; that includes calls on a spare worker, which may end before the task does, and calls
/// inside [`block_in_place`](crate::task::block_in_place). [`Handle::spawn_pinned_on`] selects a
/// worker. Outside of a runtime, the task runs on the global runtime.
///
/// The price is that no other worker can run the task. It waits for its worker even if others are
/// idle, and a task that keeps the worker busy delays all tasks that are pinned to it.
///
/// On a runtime without worker threads, the task belongs to the thread that first runs it in
/// `block_on`. If another thread runs it later, it panics; if it is cancelled on another thread,
/// its future is leaked. Use only one thread there, or a [`LocalSet`](crate::task::LocalSet).
///
/// # Examples
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
/// `make` must be `Send`, because it is sent to the worker:
///
/// ```compile_fail,E0277
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// let here = std::rc::Rc::new(1);
/// rt.spawn_pinned(move || async move { *here });
/// ```
///
/// The output must be `Send`, because it is sent back:
///
/// ```compile_fail,E0277
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// rt.spawn_pinned(|| async { std::rc::Rc::new(1) });
/// ```
///
/// # Panics
///
/// Panics if the global runtime is needed and cannot be started. A panic of `make` or of the future
/// is returned by the handle.
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
    /// Spawns a task that stays on one worker of this runtime; see [`spawn_pinned`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let task = rt.spawn_pinned(|| async { *Rc::new(42) });
    /// assert_eq!(rt.block_on(task).unwrap(), 42);
    /// ```
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
    /// Spawns a task that stays on one worker of this runtime; see
    /// [`task::spawn_pinned`](crate::task::spawn_pinned).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::rc::Rc;
    ///
    /// let rt = Builder::new_multi_thread().build().unwrap();
    /// let task = rt.handle().spawn_pinned(|| async {
    ///     let value = Rc::new(5); // Not `Send`.
    ///     heist::task::yield_now().await;
    ///     *value
    /// });
    /// assert_eq!(rt.block_on(task).unwrap(), 5);
    /// ```
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

    /// Spawns a task that stays on the worker with the given index; see
    /// [`spawn_pinned`](Self::spawn_pinned).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{self, Builder};
    ///
    /// let rt = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let index = rt.handle().spawn_pinned_on(1, || async { runtime::worker_index() });
    /// assert_eq!(rt.block_on(index).unwrap(), Some(1));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if there is no such worker.
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

    /// Creates a task that must go to one of the scheduler's pinned queues.
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
                // SAFETY: (T6) `make` is Send, and the future that it makes checks its thread.
                unsafe { task::new_local(future, spawned_at, None, self.tracker()) }
            }
            RuntimeFlavor::MultiThread => {
                // SAFETY: (T6, W8) `make` is Send, and the first poll calls it. The callers give
                // the task to one worker, on whose one thread it is polled and dropped.
                unsafe { task::new_local(MadeHere::new(make), spawned_at, None, self.tracker()) }
            }
        }
    }
}
