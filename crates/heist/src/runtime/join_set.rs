//! `JoinSet`: a collection of tasks, joined in the order in which they end.
//!
//! Each task that is not finished when the set first polls it gets a waker of its own, which
//! appends the task's key to a queue. A wake-up therefore says which task has ended, and taking an
//! output costs one queue operation and one poll, however many tasks there are.

use super::local_set::{LocalSet, spawn_local};
use super::task_builder::Builder as TaskBuilder;
use super::{Handle, spawn};
use crate::task::{AbortHandle, Id, JoinError, JoinHandle, coop};
use crate::trace::Resource;
use slab::Slab;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::panic;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};

/// A collection of tasks with the same output type, joined in the order in which they end.
///
/// Dropping the set aborts all of its tasks.
///
/// # Examples
///
/// ```
/// use heist::task::JoinSet;
///
/// # #[heist::main]
/// # async fn main() {
/// let mut squares = JoinSet::new();
/// for i in 0..10u32 {
///     squares.spawn(async move { i * i });
/// }
/// let mut sum = 0;
/// while let Some(square) = squares.join_next().await {
///     sum += square.unwrap();
/// }
/// assert_eq!(sum, 285);
/// # }
/// ```
#[must_use = "the tasks are aborted when the set is dropped"]
pub struct JoinSet<T> {
    tasks: Slab<Entry<T>>,
    /// Keys of tasks to poll: new ones, and those taken over from `ended`. A key may occur twice,
    /// or belong to no task; polling it does no harm.
    to_check: VecDeque<usize>,
    ended: Arc<Ended>,
}

struct Entry<T> {
    task: JoinHandle<T>,
    /// Made when the task is first found running.
    waker: Option<Waker>,
}

/// The queue in which the tasks' wakers put their keys.
struct Ended(Mutex<Inbox>);

#[derive(Default)]
struct Inbox {
    keys: VecDeque<usize>,
    /// The task that waits for a key.
    waker: Option<Waker>,
}

impl<T> JoinSet<T> {
    /// Creates an empty set.
    ///
    /// # Examples
    ///
    /// ```
    /// let set = heist::task::JoinSet::<()>::new();
    /// assert!(set.is_empty());
    /// ```
    pub fn new() -> Self {
        let ended = Arc::new(Ended(Mutex::default()));
        JoinSet { tasks: Slab::new(), to_check: VecDeque::new(), ended }
    }

    /// Returns the number of tasks in the set, including those that have ended but were not joined.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut set = heist::task::JoinSet::new();
    /// set.spawn(async { 1 });
    /// set.spawn(async { 2 });
    /// assert_eq!(set.len(), 2);
    /// set.join_next().await;
    /// assert_eq!(set.len(), 1);
    /// # }
    /// ```
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns whether the set contains no tasks.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// Returns a builder for a task of this set, which can give it a name.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut set = heist::task::JoinSet::new();
    /// let task = set.build_task().name("greeter").spawn(async { "hello" })?;
    /// assert!(format!("{task:?}").contains("greeter"));
    /// assert_eq!(set.join_next().await.unwrap()?, "hello");
    /// # Ok(())
    /// # }
    /// ```
    pub fn build_task(&mut self) -> Builder<'_, T> {
        Builder { set: self, builder: TaskBuilder::new() }
    }

    /// Spawns a task in the set, on the current runtime or, outside of a runtime, on the global
    /// one.
    ///
    /// The returned handle can abort the task.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut set = heist::task::JoinSet::new();
    /// let never = set.spawn(std::future::pending::<()>());
    /// never.abort();
    /// assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the global runtime is needed and cannot be started.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(spawn(task))
    }

    /// Spawns a task in the set, on the runtime of `handle`.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let mut set = heist::task::JoinSet::new();
    /// set.spawn_on(async { 6 * 7 }, rt.handle());
    /// assert_eq!(rt.block_on(set.join_next()).unwrap().unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(task))
    }

    /// Runs a closure that may block as a member of the set; see
    /// [`spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// Aborting it has an effect only before it has started.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut set = heist::task::JoinSet::new();
    /// for n in 1..=3 {
    ///     set.spawn_blocking(move || n * n);
    /// }
    /// let mut squares = set.join_all().await;
    /// squares.sort();
    /// assert_eq!(squares, [1, 4, 9]);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime; see
    /// [`spawn_blocking_on`](Self::spawn_blocking_on).
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let handle = Handle::current_for("JoinSet::spawn_blocking");
        self.insert(handle.spawn_blocking(f))
    }

    /// Runs a closure that may block on the runtime of `handle`, as a member of the set.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(f))
    }

    /// Spawns a task in this set and on the current [`LocalSet`], so that it need not be `Send`.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no `LocalSet`; see
    /// [`spawn_local_on`](Self::spawn_local_on).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::{JoinSet, LocalSet};
    /// use std::rc::Rc;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let shared = Rc::new(42);
    /// LocalSet::new()
    ///     .run_until(async {
    ///         let mut set = JoinSet::new();
    ///         set.spawn_local(async move { *shared });
    ///         assert_eq!(set.join_next().await.unwrap().unwrap(), 42);
    ///     })
    ///     .await;
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(spawn_local(task))
    }

    /// Spawns a task in this set and on `local_set`, so that it need not be `Send`.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::{JoinSet, LocalSet};
    /// use std::rc::Rc;
    ///
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let (local, mut set) = (LocalSet::new(), JoinSet::new());
    /// let shared = Rc::new(42);
    /// set.spawn_local_on(async move { *shared }, &local);
    /// assert_eq!(local.block_on(&rt, set.join_next()).unwrap().unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(local_set.spawn_local(task))
    }

    fn insert(&mut self, task: JoinHandle<T>) -> AbortHandle {
        let abort = task.abort_handle();
        let key = self.tasks.insert(Entry { task, waker: None });
        self.to_check.push_back(key);
        abort
    }

    /// Waits for the next task to end and returns its result, or `None` if the set is empty.
    ///
    /// A task that panicked or was aborted gives a [`JoinError`].
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: if the future is dropped before it completes, no task is removed
    /// from the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut set = heist::task::JoinSet::new();
    /// set.spawn(async { "one" });
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), "one");
    /// assert!(set.join_next().await.is_none());
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The result is an error if the task panicked or was cancelled.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// Waits for the next task to end and returns its id and result, or `None` if the set is empty.
    ///
    /// If the task failed, [`JoinError::id`] returns its id.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: if the future is dropped before it completes, no task is removed
    /// from the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut set = heist::task::JoinSet::new();
    /// let task = set.spawn(async { 6 * 7 });
    /// let (id, output) = set.join_next_with_id().await.unwrap().unwrap();
    /// assert_eq!((id, output), (task.id(), 42));
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The result is an error if the task panicked or was cancelled.
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// Returns the result of a task that has ended, or `None` if there is none yet.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut set = heist::task::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// assert!(set.try_join_next().is_none());
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The result is an error if the task panicked or was cancelled.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// Returns the id and result of a task that has ended, or `None` if there is none yet.
    ///
    /// # Errors
    ///
    /// The result is an error if the task panicked or was cancelled.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        loop {
            if let Some(output) = self.check() {
                return Some(output);
            }
            // Swapped with the empty queue, so that both keep their capacity.
            mem::swap(&mut self.to_check, &mut self.ended.lock().keys);
            if self.to_check.is_empty() {
                return None;
            }
        }
    }

    /// Aborts all tasks and waits until they have ended. The set is empty afterwards.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped early, the tasks that have not ended yet remain in the set; all of
    /// them have been aborted.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut set = heist::task::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.shutdown().await;
    /// assert!(set.is_empty());
    /// # }
    /// ```
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Waits for all tasks, and returns their outputs in the order in which they ended.
    ///
    /// # Cancel safety
    ///
    /// This method is not cancel safe: dropping the future drops the set, which aborts its tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let set: heist::task::JoinSet<_> = (0..5).map(|i| async move { i }).collect();
    /// let mut outputs = set.join_all().await;
    /// outputs.sort();
    /// assert_eq!(outputs, [0, 1, 2, 3, 4]);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If a task panicked, its panic is resumed. Also panics if a task was aborted. In both cases
    /// the other tasks are aborted. Use [`join_next`](Self::join_next) to handle failures.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(joined) = self.join_next().await {
            match joined {
                Ok(output) => outputs.push(output),
                Err(error) => match error.try_into_panic() {
                    Ok(payload) => panic::resume_unwind(payload),
                    Err(error) => panic!("JoinSet::join_all: {error}; use join_next to go on"),
                },
            }
        }
        outputs
    }

    /// Aborts all tasks. They remain in the set until they are joined.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut set = heist::task::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.abort_all();
    /// assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    /// # }
    /// ```
    pub fn abort_all(&mut self) {
        self.tasks.iter().for_each(|(_, entry)| entry.task.abort());
    }

    /// Removes all tasks from the set without aborting them.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let (sender, receiver) = heist::sync::oneshot::channel();
    /// let mut set = heist::task::JoinSet::new();
    /// set.spawn(async { sender.send("still ran") });
    /// set.detach_all();
    /// drop(set);
    /// assert_eq!(receiver.await, Ok("still ran"));
    /// # }
    /// ```
    pub fn detach_all(&mut self) {
        self.tasks.clear();
        self.to_check.clear();
    }

    /// Polls for the result of a task that has ended; the basis of [`join_next`](Self::join_next).
    ///
    /// Returns `Ready(None)` if the set is empty. Returns `Pending` if no task has ended yet, or if
    /// the caller's budget is used up (W9); in both cases the caller is woken when it should poll
    /// again. Only the most recent caller is woken.
    ///
    /// # Errors
    ///
    /// The result is an error if the task panicked or was cancelled.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(|joined| joined.map(without_id))
    }

    /// Polls for the id and result of a task that has ended; see
    /// [`poll_join_next`](Self::poll_join_next).
    ///
    /// # Errors
    ///
    /// The result is an error if the task panicked or was cancelled.
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.is_empty() {
            return Poll::Ready(None);
        }
        let progress = ready!(coop::poll_proceed_with(cx, || Resource::Task));
        loop {
            if let Some(output) = self.check() {
                progress.made_progress();
                return Poll::Ready(Some(output));
            }
            ready!(self.ended.poll_swap(&mut self.to_check, cx));
        }
    }

    /// Looks at those that may have ended, until one has. One that has not is left with a waker,
    /// and is not looked at again before it has ended.
    fn check(&mut self) -> Option<Result<(Id, T), JoinError>> {
        while let Some(key) = self.to_check.pop_front() {
            let Some(entry) = self.tasks.get_mut(key) else { continue };
            let id = entry.task.id();
            let output = if entry.waker.is_none() && !entry.task.is_finished() {
                let waker = EndWaker { key, ended: Arc::clone(&self.ended) };
                let waker = entry.waker.insert(Waker::from(Arc::new(waker)));
                entry.task.poll_output(waker)
            } else {
                let waker = entry.waker.as_ref().unwrap_or(Waker::noop());
                entry.task.poll_output(waker)
            };
            if let Poll::Ready(output) = output {
                self.tasks.remove(key);
                return Some(output.map(|output| (id, output)));
            }
        }
        None
    }
}

fn without_id<T>(joined: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    joined.map(|(_, output)| output)
}

impl Ended {
    fn lock(&self) -> MutexGuard<'_, Inbox> {
        // Cloning a waker may panic with the lock held, but only before anything was changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Swaps the queue with `empty`, or registers the caller to be woken by the next key.
    fn poll_swap(&self, empty: &mut VecDeque<usize>, cx: &mut Context<'_>) -> Poll<()> {
        let mut inbox = self.lock();
        if !inbox.keys.is_empty() {
            mem::swap(&mut inbox.keys, empty);
            return Poll::Ready(());
        }
        if inbox.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        let old = inbox.waker.replace(cx.waker().clone());
        // Outside of the lock: dropping a waker may drop a task, which may run any code.
        drop(inbox);
        drop(old);
        Poll::Pending
    }
}

/// Wakes a set and tells it which task has ended.
struct EndWaker {
    key: usize,
    ended: Arc<Ended>,
}

impl Wake for EndWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waker = {
            let mut inbox = self.ended.lock();
            inbox.keys.push_back(self.key);
            inbox.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.tasks.iter().for_each(|(_, entry)| entry.task.abort());
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        JoinSet::new()
    }
}

/// Spawns each future as [`JoinSet::spawn`] does.
impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = JoinSet::new();
        set.extend(futures);
        set
    }
}

/// Spawns each future as [`JoinSet::spawn`] does.
impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        futures.into_iter().for_each(|future| drop(self.spawn(future)));
    }
}

/// Spawns a task with a name as a member of a [`JoinSet`]; created by [`JoinSet::build_task`].
///
/// # Examples
///
/// ```
/// use heist::task::JoinSet;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut set = JoinSet::new();
/// set.build_task().name("parser").spawn(async { 7 }).unwrap();
/// assert_eq!(set.join_next().await.unwrap().unwrap(), 7);
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing until one of its spawn methods is called"]
pub struct Builder<'a, T> {
    set: &'a mut JoinSet<T>,
    builder: TaskBuilder<'a>,
}

impl<'a, T: 'static> Builder<'a, T> {
    /// Sets the name of the task. Names need not be unique.
    pub fn name(self, name: &'a str) -> Self {
        Builder { builder: self.builder.name(name), ..self }
    }

    /// Spawns a task in the set; see [`JoinSet::spawn`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::JoinSet;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut set = JoinSet::new();
    /// set.build_task().name("parser").spawn(async { 7 }).unwrap();
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 7);
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    ///
    /// # Panics
    ///
    /// Panics if the global runtime is needed and cannot be started.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn(future)?))
    }

    /// Spawns a task in the set, on the runtime of `handle`; see [`JoinSet::spawn_on`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_on(future, handle)?))
    }

    /// Runs a closure that may block as a member of the set; see [`JoinSet::spawn_blocking`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::JoinSet;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut set = JoinSet::new();
    /// set.build_task().name("parser").spawn_blocking(|| 7).unwrap();
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 7);
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime.
    #[track_caller]
    pub fn spawn_blocking<F>(self, f: F) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_blocking(f)?))
    }

    /// Runs a closure that may block on the runtime of `handle`; see
    /// [`JoinSet::spawn_blocking_on`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    #[track_caller]
    pub fn spawn_blocking_on<F>(self, f: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_blocking_on(f, handle)?))
    }

    /// Spawns a task in the set and on the current [`LocalSet`]; see [`JoinSet::spawn_local`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no `LocalSet`.
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.set.insert(self.builder.spawn_local(future)?))
    }

    /// Spawns a task in the set and on `local_set`; see [`JoinSet::spawn_local_on`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.set.insert(self.builder.spawn_local_on(future, local_set)?))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::runtime;
    use std::future::pending;

    #[test]
    fn one_that_ends_is_found_without_looking_at_the_others() {
        let rt = runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let mut set = JoinSet::new();
        let handles: Vec<_> =
            (0..1000).map(|_| set.spawn_on(pending::<()>(), rt.handle())).collect();
        assert!(set.try_join_next().is_none());
        assert!(set.to_check.is_empty() && set.ended.lock().keys.is_empty());
        handles[500].abort();
        while !handles[500].is_finished() {
            std::thread::yield_now();
        }
        // The handle is finished a moment before its waker is called.
        while set.ended.lock().keys.is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(set.ended.lock().keys, [500]);
        let error = set.try_join_next().unwrap().unwrap_err();
        assert_eq!(error.id(), handles[500].id());
        assert!(set.to_check.is_empty());
    }
}
