//! The handles that outlive a spawn.

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

/// Waits for a task. Dropping it detaches the task, which goes on.
///
/// ```compile_fail,E0277
/// fn needs_send<T: Send>() {}
/// needs_send::<heist::task::JoinHandle<std::rc::Rc<()>>>();
/// ```
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

    /// The output if there is one; else leaves `waker` to be woken once there is. Asks no budget.
    pub(crate) fn poll_output(&mut self, waker: &Waker) -> Poll<Result<T, JoinError>> {
        let mut output = Poll::Pending;
        // SAFETY: (T5) this is the task's join handle, and T its output.
        unsafe { self.task.read_output(NonNull::from(&mut output).cast(), waker) };
        output
    }

    /// Cancels the task at its next chance: if it waits, soon; if it runs, when its poll returns.
    /// A task that ends first has ended. Awaiting the handle tells which (T6).
    pub fn abort(&self) {
        self.task.abort();
    }

    /// A handle that can do nothing but abort.
    pub fn abort_handle(&self) -> AbortHandle {
        self.task.add_ref();
        AbortHandle { task: self.task }
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.task.header().state.load().is_complete()
    }

    /// Which task it is.
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

/// Aborts a task, without a right to its output.
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
    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.task.header().state.load().is_complete()
    }

    /// Which task it is.
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
