//! `JoinHandle` and `AbortHandle`.

use super::cell::RawTask;
use super::{Id, JoinError, coop};
use crate::trace::Resource;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker, ready};

/// A handle to a task, which can be awaited for the task's output. Dropping it detaches the task.
///
/// A detached task continues to run; its output is dropped. (A [`JobHandle`](crate::JobHandle), by
/// contrast, cancels its job when it is dropped.)
///
/// Awaiting the handle gives a [`JoinError`] if the task panicked or was cancelled.
///
/// # Examples
///
/// ```
/// # #[heist::main]
/// # async fn main() {
/// let task = heist::spawn(async { 6 * 7 });
/// assert_eq!(task.await.unwrap(), 42);
///
/// let panics = heist::spawn(async { panic!("boom") });
/// assert!(panics.await.unwrap_err().is_panic());
/// # }
/// ```
///
/// A handle is `Send` only if the output is:
///
/// ```compile_fail,E0277
/// fn needs_send<T: Send>() {}
/// needs_send::<heist::task::JoinHandle<std::rc::Rc<()>>>();
/// ```
///
/// # Cancel safety
///
/// Awaiting `&mut JoinHandle` is cancel safe: if another branch of `select!` completes first, the
/// task continues, and the handle can be awaited again.
pub struct JoinHandle<T> {
    task: RawTask,
    output: PhantomData<T>,
}

// SAFETY: (T5) the output moves to the thread that awaits it.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: (T5) a shared handle gives access to no output.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}
impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    /// The task's output is a `T`, and this is its only join handle; it takes over a reference.
    pub(super) unsafe fn new(task: RawTask) -> Self {
        JoinHandle { task, output: PhantomData }
    }

    /// Returns the output, or registers `waker` to be woken when there is one. Takes no budget.
    pub(crate) fn poll_output(&mut self, waker: &Waker) -> Poll<Result<T, JoinError>> {
        let mut output = Poll::Pending;
        // SAFETY: (T5) this is the task's join handle, and T its output.
        unsafe { self.task.read_output(NonNull::from(&mut output).cast(), waker) };
        output
    }

    /// Aborts the task: a waiting task is cancelled, a running one when its current poll returns.
    ///
    /// A task that completes first keeps its output. Awaiting the handle tells which was the case
    /// (T6). A blocking closure that has started is not stopped.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let task = heist::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # }
    /// ```
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Returns a handle that can abort the task but not wait for it.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let task = heist::spawn(std::future::pending::<()>());
    /// let abort = task.abort_handle();
    /// abort.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # }
    /// ```
    pub fn abort_handle(&self) -> AbortHandle {
        self.task.add_ref();
        AbortHandle { task: self.task }
    }

    /// Returns whether the task has ended, by completing, panicking or being cancelled.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let task = heist::spawn(std::future::pending::<()>());
    /// assert!(!task.is_finished());
    /// # task.abort();
    /// # }
    /// ```
    pub fn is_finished(&self) -> bool {
        self.task.header().state.load().is_complete()
    }

    /// Returns the id of the task.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let task = heist::spawn(async { heist::task::id() });
    /// let id = task.id();
    /// assert_eq!(task.await.unwrap(), id);
    /// # }
    /// ```
    pub fn id(&self) -> Id {
        self.task.header().id
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let progress = ready!(coop::poll_proceed_with(cx, || Resource::Task));
        let output = ready!(self.poll_output(cx.waker()));
        progress.made_progress();
        Poll::Ready(output)
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        // SAFETY: (T5) this is the task's join handle, at its end.
        unsafe { self.task.drop_join_handle() };
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "JoinHandle", self.task)
    }
}

/// A handle that can abort a task but not wait for it.
///
/// [`JoinHandle::abort_handle`] and the methods of [`JoinSet`](crate::task::JoinSet) return one. It
/// does not keep the task alive, and dropping it has no effect.
///
/// # Examples
///
/// ```
/// use heist::task::JoinSet;
///
/// # #[heist::main]
/// # async fn main() {
/// let mut set = JoinSet::new();
/// let first = set.spawn(std::future::pending::<&str>());
/// set.spawn(async { "second" });
/// first.abort();
/// let results = [set.join_next().await.unwrap(), set.join_next().await.unwrap()];
/// assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
/// # }
/// ```
pub struct AbortHandle {
    task: RawTask,
}

// SAFETY: (T6) aborting is allowed from any thread.
unsafe impl Send for AbortHandle {}
// SAFETY: (T6) as above.
unsafe impl Sync for AbortHandle {}

impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

impl AbortHandle {
    /// Aborts the task; see [`JoinHandle::abort`].
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let task = heist::spawn(std::future::pending::<()>());
    /// let abort = task.abort_handle();
    /// abort.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// assert!(abort.is_finished());
    /// # }
    /// ```
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Returns whether the task has ended, by completing, panicking or being cancelled.
    pub fn is_finished(&self) -> bool {
        self.task.header().state.load().is_complete()
    }

    /// Returns the id of the task.
    pub fn id(&self) -> Id {
        self.task.header().id
    }
}

impl Clone for AbortHandle {
    fn clone(&self) -> Self {
        self.task.add_ref();
        AbortHandle { task: self.task }
    }
}

impl Drop for AbortHandle {
    fn drop(&mut self) {
        self.task.drop_ref();
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "AbortHandle", self.task)
    }
}

fn debug(f: &mut fmt::Formatter<'_>, handle: &str, task: RawTask) -> fmt::Result {
    let mut f = f.debug_struct(handle);
    f.field("id", &task.header().id);
    if let Some(name) = task.name() {
        f.field("name", &name);
    }
    f.finish()
}
