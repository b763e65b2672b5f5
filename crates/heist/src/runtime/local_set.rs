//! Tasks that stay on one thread: futures that are not `Send`.
//!
//! | module | what |
//! |---|---|
//! | `scheduler` | the queues of a set, and its end; told in `local_set/README.md` |
//! | `context` | which set a thread is in |

mod context;
#[cfg(all(test, loom))]
mod loom_tests;
mod scheduler;

pub(super) use context::spawn_with;
pub use context::{LocalEnterGuard, spawn_local};

use super::Runtime;
use crate::task::JoinHandle;
use pin_project_lite::pin_project;
use scheduler::LocalScheduler;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Tasks that run on one thread, so that their futures need not be `Send`.
///
/// They run while the set is awaited, or while a future given to [`run_until`](Self::run_until)
/// or [`block_on`](Self::block_on) is polled, and between those polls only. Dropping the set drops
/// their futures, on their thread.
///
/// ```
/// use heist::task::{self, LocalSet};
/// use std::rc::Rc;
///
/// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// let shared = Rc::new(5);
/// let local = LocalSet::new();
/// let output = local.block_on(&rt, async move {
///     let copy = Rc::clone(&shared);
///     task::spawn_local(async move { *copy + 1 }).await.unwrap()
/// });
/// assert_eq!(output, 6);
/// ```
///
/// It stays on its thread:
///
/// ```compile_fail,E0277
/// fn needs_send<T: Send>() {}
/// needs_send::<heist::task::LocalSet>();
/// ```
pub struct LocalSet {
    scheduler: LocalScheduler,
    /// (T6) Dropped on the thread that it was made on, and its futures with it.
    _thread: PhantomData<*const ()>,
}

impl LocalSet {
    /// An empty set, which belongs to the calling thread.
    pub fn new() -> LocalSet {
        LocalSet { scheduler: LocalScheduler::new(), _thread: PhantomData }
    }

    /// Makes this the set that [`spawn_local`] uses, for as long as the guard lives. What is
    /// spawned runs when the set is run.
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard::new(&self.scheduler)
    }

    /// Adds a task to the set. It runs when the set is run.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn_with(future, None)
    }

    #[track_caller]
    pub(super) fn spawn_with<F>(&self, future: F, name: Option<&str>) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.scheduler.spawn(future, name, Location::caller())
    }

    /// Runs a future on this thread and waits for it, and runs the tasks of the set meanwhile.
    /// Those that are not done then go on when the set is run again.
    ///
    /// # Panics
    /// As [`Runtime::block_on`].
    #[track_caller]
    pub fn block_on<F: Future>(&self, rt: &Runtime, future: F) -> F::Output {
        rt.block_on_for("LocalSet::block_on", self.run_until(future))
    }

    /// Waits for a future, and runs the tasks of the set meanwhile. Inside of the future
    /// [`spawn_local`] adds to this set.
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        RunUntil { set: self, future }.await
    }
}

/// Done when all tasks of the set are.
impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _entered = self.enter();
        let turn = self.scheduler.begin(cx.waker());
        turn.run();
        if turn.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }
}

pin_project! {
    struct RunUntil<'a, F> {
        set: &'a LocalSet,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = this.set.enter();
        let turn = this.set.scheduler.begin(cx.waker());
        let output = this.future.poll(cx);
        if output.is_pending() {
            turn.run();
        }
        output
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        let _entered = self.enter();
        self.scheduler.shut_down();
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        LocalSet::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").finish_non_exhaustive()
    }
}
