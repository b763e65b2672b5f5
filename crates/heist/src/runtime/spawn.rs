//! Spawning tasks and blocking closures on the current runtime.

use super::{Handle, context, current_or_global};
use crate::task::{self, JoinHandle};
use std::future::Future;
use std::panic::Location;

/// Spawns a task on the current runtime, and returns a [`JoinHandle`] for its output.
///
/// The task is queued at once and may run in parallel with the caller, even if the handle is not
/// awaited. Dropping the handle detaches the task. Outside of a runtime, the task runs on the
/// global runtime, which is started by the first call that needs it. That has one worker per core,
/// or as many as the environment variable `HEIST_WORKERS` says.
///
/// # Examples
///
/// ```
/// #[heist::main]
/// async fn main() {
///     let tasks: Vec<_> = (1..=3).map(|n| heist::spawn(async move { n * n })).collect();
///     let mut squares = Vec::new();
///     for task in tasks {
///         squares.push(task.await.unwrap());
///     }
///     assert_eq!(squares, [1, 4, 9]);
/// }
/// ```
///
/// The future must be `Send`, because the task may move between threads; [`spawn_pinned`] and
/// [`spawn_local`] have no such requirement:
///
/// ```compile_fail
/// # #[heist::main]
/// # async fn main() {
/// heist::spawn(async {
///     let local = std::rc::Rc::new(1);
///     heist::task::yield_now().await;
///     println!("{local}");
/// });
/// # }
/// ```
///
/// # Panics
///
/// Panics if the global runtime is needed and cannot be started, or if `HEIST_WORKERS` is invalid.
/// A panic of the task is returned by the handle, as a [`JoinError`](crate::task::JoinError).
///
/// [`spawn_pinned`]: crate::task::spawn_pinned
/// [`spawn_local`]: crate::task::spawn_local
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if task::tracker::is_anywhere() {
        return current_or_global().spawn(future);
    }
    let (task, join) = task::new(future, Location::caller());
    if let Err(task) = context::try_submit(task) {
        current_or_global().scheduler.submit(task);
    }
    join
}

/// Runs a closure that may block on a thread of its own, and returns a handle for its result.
///
/// This is for closures that wait: for files, locks or other programs. Use
/// [`spawn_job`](crate::spawn_job) for computations, which should run on the workers.
///
/// There are as many blocking threads as closures need at the same time, up to
/// [`Builder::max_blocking_threads`](super::Builder::max_blocking_threads). Beyond that limit
/// closures wait for a thread; those that one thread has spawned start in that order. An idle
/// thread is kept for [`Builder::thread_keep_alive`](super::Builder::thread_keep_alive) and used
/// again.
///
/// The closure runs inside the runtime but not in a task: it may call [`spawn`], and it may block
/// in [`Handle::block_on`].
///
/// # Cancellation
///
/// [`JoinHandle::abort`] cancels the closure if it has not started. A running closure cannot be
/// stopped, and shutting down the runtime waits for it, except in
/// [`Runtime::shutdown_timeout`](super::Runtime::shutdown_timeout) and
/// [`Runtime::shutdown_background`](super::Runtime::shutdown_background). A shutdown cancels
/// closures that wait because the limit of threads is reached; closures for which a thread exists
/// or is being started still run.
///
/// # Errors
///
/// Awaiting the handle returns a [`JoinError`] if the closure panicked or was cancelled. If there
/// is no blocking thread and none can be started, the closure is cancelled; the error's
/// [`source`](std::error::Error::source) is then the [`io::Error`](std::io::Error) that says why.
///
/// # Examples
///
/// ```
/// # #[heist::main]
/// # async fn main() {
/// let text = heist::task::spawn_blocking(|| {
///     // A worker would run nothing else meanwhile.
///     std::io::read_to_string(std::io::Cursor::new("blocking I/O")).unwrap()
/// });
/// assert_eq!(text.await.unwrap(), "blocking I/O");
/// # }
/// ```
///
/// # Panics
///
/// Panics if the calling thread is in no runtime.
///
/// [`JoinError`]: crate::task::JoinError
#[track_caller]
pub fn spawn_blocking<F, R>(closure: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    Handle::current_for("spawn_blocking").spawn_blocking(closure)
}
