//! `LocalSet`: tasks that stay on one thread, for futures that are not `Send`.
//!
//! | module | contents |
//! |---|---|
//! | `scheduler` | the queues of a set, and its end; specified in `local_set/README.md` |
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

/// A set of tasks that run on one thread, so that their futures need not be `Send`.
///
/// The tasks run only while the set is being polled: when it is awaited, or inside
/// [`run_until`](Self::run_until) or [`block_on`](Self::block_on). Dropping the set drops their
/// futures. A destructor that runs then may wait for what it spawns on the set, which is cancelled
/// at once, unless it runs inside of 16 or more destructors that do the same. It must not wait for
/// other tasks of the set, because no other thread may drop them.
///
/// The set itself must stay on its thread:
///
/// ```compile_fail,E0277
/// fn needs_send<T: Send>() {}
/// needs_send::<heist::task::LocalSet>();
/// ```
///
/// # Examples
///
/// ```
/// use heist::task::{self, LocalSet};
/// use std::rc::Rc;
///
/// let rt = heist::runtime::Runtime::new().unwrap();
/// let shared = Rc::new(5);
/// let local = LocalSet::new();
/// let output = local.block_on(&rt, async move {
///     let copy = Rc::clone(&shared);
///     task::spawn_local(async move { *copy + 1 }).await.unwrap()
/// });
/// assert_eq!(output, 6);
/// ```
///
/// Awaiting the set runs all of its tasks to the end:
///
/// ```
/// use heist::task::LocalSet;
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// let rt = heist::runtime::Runtime::new().unwrap();
/// let (local, count) = (LocalSet::new(), Rc::new(Cell::new(0)));
/// for _ in 0..3 {
///     let count = Rc::clone(&count);
///     local.spawn_local(async move { count.set(count.get() + 1) });
/// }
/// rt.block_on(local);
/// assert_eq!(count.get(), 3);
/// ```
pub struct LocalSet {
    scheduler: LocalScheduler,
    /// (T6) The set is dropped on the thread that made it, and its futures with it.
    _thread: PhantomData<*const ()>,
}

impl LocalSet {
    /// Creates an empty set, which belongs to the calling thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::LocalSet;
    /// use std::rc::Rc;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let set = LocalSet::new();
    /// let shared = Rc::new(42);
    /// let task = set.spawn_local(async move { *shared });
    /// assert_eq!(set.run_until(task).await.unwrap(), 42);
    /// # }
    /// ```
    pub fn new() -> LocalSet {
        LocalSet { scheduler: LocalScheduler::new(), _thread: PhantomData }
    }

    /// Enters the set: until the guard is dropped, [`spawn_local`] adds tasks to it.
    ///
    /// The tasks run when the set is polled.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::{LocalSet, spawn_local};
    ///
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let local = LocalSet::new();
    /// let task = {
    ///     let _guard = local.enter();
    ///     spawn_local(async { 6 * 7 })
    /// };
    /// assert_eq!(local.block_on(&rt, task).unwrap(), 42);
    /// ```
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard::new(&self.scheduler)
    }

    /// Spawns a task on the set. It runs when the set is polled.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let local = heist::task::LocalSet::new();
    /// let task = local.spawn_local(async { 6 * 7 });
    /// assert_eq!(local.block_on(&rt, task).unwrap(), 42);
    /// ```
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

    /// Runs a future and the tasks of the set on the calling thread, and blocks until the future
    /// completes.
    ///
    /// Tasks that have not ended by then continue when the set is polled again.
    ///
    /// # Panics
    ///
    /// Panics if the future panics, and under the conditions of [`Runtime::block_on`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::{LocalSet, spawn_local};
    ///
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let answer = LocalSet::new().block_on(&rt, async { spawn_local(async { 42 }).await.unwrap() });
    /// assert_eq!(answer, 42);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, rt: &Runtime, future: F) -> F::Output {
        rt.block_on_for("LocalSet::block_on", self.run_until(future))
    }

    /// Runs a future to completion, and the tasks of the set meanwhile.
    ///
    /// Inside the future, [`spawn_local`] adds tasks to this set. Tasks that have not ended when
    /// the future completes continue when the set is polled again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the returned future drops `future`; the tasks of the set remain in it.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::{LocalSet, spawn_local};
    ///
    /// # #[heist::main]
    /// # async fn main() {
    /// let local = LocalSet::new();
    /// let output = local.run_until(async { spawn_local(async { 6 * 7 }).await.unwrap() }).await;
    /// assert_eq!(output, 42);
    /// # }
    /// ```
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        RunUntil { set: self, future }.await
    }
}

/// Completes when all tasks of the set have ended.
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
