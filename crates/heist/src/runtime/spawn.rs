//! Spawning tasks and blocking closures on the current runtime.

use super::{Handle, context, current_or_global};
use crate::task::{self, JoinHandle};
use std::future::Future;
use std::panic::Location;

/// Runs a future on the current runtime; on a thread that is in none, on the global one.
///
/// The global runtime is started by the first call that needs it. It has a worker for each core,
/// or as many as the environment variable `HEIST_WORKERS` says.
///
/// # Panics
/// If the global runtime is needed and cannot be started, or `HEIST_WORKERS` is nonsense.
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

/// Runs a closure that may block (files, locks, other programs, long computations) on a thread of
/// its own, beside the workers.
///
/// There are as many threads as closures need at once, up to
/// [`Builder::max_blocking_threads`]; beyond that closures wait for a thread, those that one thread
/// spawned in that order.
/// A thread is kept for a while ([`Builder::thread_keep_alive`]) and used again.
///
/// The closure is in the runtime but in no task: it may call `spawn`, and it may wait with
/// [`Handle::block_on`]. [`JoinHandle::abort`] cancels it as long as it has not begun; once it
/// runs nothing can stop it, and shutting down waits for it unless it is told otherwise. Shutting
/// down cancels closures that wait because all threads there may be are taken. One that was
/// accepted before and has a thread, though it be one that is only being started, runs. If no
/// blocking thread exists and none can be started, the handle gets a [`JoinError`] with
/// `is_cancelled`, whose `source` is the [`io::Error`] that says why; if there are some, the closure
/// waits for one of them.
///
/// ```
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// # rt.block_on(async {
/// let sum = heist::task::spawn_blocking(|| {
///     // A worker would run nothing else meanwhile. This thread has nothing else to run.
///     std::thread::sleep(std::time::Duration::from_millis(1));
///     (1..=1000u64).sum::<u64>()
/// });
/// assert_eq!(sum.await.unwrap(), 500_500);
/// # });
/// ```
///
/// # Panics
/// If the calling thread is in no runtime.
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
