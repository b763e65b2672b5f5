//! A set of tasks, awaited in the order in which they end.
//!
//! Each task that is still running when it is first looked at gets a waker of its own, which puts
//! the task's key into a queue. So a wake-up says who has ended, and taking an output is a matter
//! of one queue and one handle, however many others there are.

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

/// A set of tasks with the same kind of output, awaited in the order in which they end. Dropping
/// it aborts them all.
///
/// ```
/// use heist::task::JoinSet;
///
/// # heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(async {
/// let mut squares = JoinSet::new();
/// for i in 0..10u32 {
///     squares.spawn(async move { i * i });
/// }
/// let mut sum = 0;
/// while let Some(square) = squares.join_next().await {
///     sum += square.unwrap();
/// }
/// assert_eq!(sum, 285);
/// # });
/// ```
#[must_use = "the tasks are aborted when the set is dropped"]
pub struct JoinSet<T> {
    tasks: Slab<Entry<T>>,
    /// Keys of tasks to be looked at: new ones, and what was taken over from `ended`. A key may
    /// be there twice, or without a task: looking is harmless.
    to_check: VecDeque<usize>,
    ended: Arc<Ended>,
}

struct Entry<T> {
    task: JoinHandle<T>,
    /// Made when the task is first found running.
    waker: Option<Waker>,
}

/// What the tasks' wakers tell the set.
struct Ended(Mutex<Inbox>);

#[derive(Default)]
struct Inbox {
    keys: VecDeque<usize>,
    /// Who waits for a key.
    waker: Option<Waker>,
}

impl<T> JoinSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        let ended = Arc::new(Ended(Mutex::default()));
        JoinSet { tasks: Slab::new(), to_check: VecDeque::new(), ended }
    }

    /// How many tasks are in the set, ended ones included until they are joined.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no task in the set.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns with more to be said about the task: see [`Builder`].
    pub fn build_task(&mut self) -> Builder<'_, T> {
        Builder { set: self, builder: TaskBuilder::new() }
    }

    /// Runs a future on the current runtime, or on the global one if the calling thread is in none, as a member of the set.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(spawn(task))
    }

    /// Runs a future on the runtime of `handle`, as a member of the set.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(task))
    }

    /// Runs a closure that may block, as a member of the set.
    ///
    /// # Panics
    /// If the calling thread is in no runtime; see [`spawn_blocking_on`](Self::spawn_blocking_on).
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

    /// Adds a task to the current [`LocalSet`], and to this set.
    ///
    /// # Panics
    /// If the calling thread is in no `LocalSet`; see [`spawn_local_on`](Self::spawn_local_on).
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(spawn_local(task))
    }

    /// Adds a task to `local_set`, and to this set.
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

    /// Waits for a task to end, and takes its output. `None` if the set is empty.
    ///
    /// Nothing is lost if the future returned here is dropped before it is done.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// As [`join_next`](Self::join_next), and says which task it was. If it failed, the error
    /// does.
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// Takes the output of a task that has ended, if there is one.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// As [`try_join_next`](Self::try_join_next), and says which task it was.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        loop {
            if let Some(output) = self.check() {
                return Some(output);
            }
            // Changed for the empty one, so that both keep their room.
            mem::swap(&mut self.to_check, &mut self.ended.lock().keys);
            if self.to_check.is_empty() {
                return None;
            }
        }
    }

    /// Aborts all tasks, and waits until they have ended. The set is empty afterwards.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Waits for all tasks. Their outputs come in the order in which they ended.
    ///
    /// ```
    /// # heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(async {
    /// let set: heist::task::JoinSet<_> = (0..5).map(|i| async move { i }).collect();
    /// let mut outputs = set.join_all().await;
    /// outputs.sort();
    /// assert_eq!(outputs, [0, 1, 2, 3, 4]);
    /// # });
    /// ```
    ///
    /// # Panics
    /// With the panic of a task that panicked, or if a task was aborted. The others are aborted
    /// then. Use [`join_next`](Self::join_next) to go on.
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

    /// Aborts all tasks. They stay in the set until they are joined.
    pub fn abort_all(&mut self) {
        self.tasks.iter().for_each(|(_, entry)| entry.task.abort());
    }

    /// Lets all tasks go on without the set, which is empty afterwards.
    pub fn detach_all(&mut self) {
        self.tasks.clear();
        self.to_check.clear();
    }

    /// Takes the output of a task that has ended. `Ready(None)` if the set is empty; `Pending` if
    /// no task has ended yet, or if the caller's budget is used up (W9): it is woken in either
    /// case when there is a reason to come back. Only the last caller is.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(|joined| joined.map(without_id))
    }

    /// As [`poll_join_next`](Self::poll_join_next), and says which task it was.
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
        // A waker's clone may panic with the lock held, before anything was changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the keys that have come in for an empty queue; if there are none, the caller is
    /// woken by the next.
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
        // Outside of the lock: dropping a waker may drop a task, and with it anything.
        drop(inbox);
        drop(old);
        Poll::Pending
    }
}

/// Wakes a set, and says which task has ended.
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

/// Spawns each future on the current runtime.
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

/// Spawns each future on the current runtime.
impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        futures.into_iter().for_each(|future| drop(self.spawn(future)));
    }
}

/// Spawns a task with a name as a member of a set; from [`JoinSet::build_task`].
#[derive(Debug)]
#[must_use = "a builder does nothing until one of its spawn methods is called"]
pub struct Builder<'a, T> {
    set: &'a mut JoinSet<T>,
    builder: TaskBuilder<'a>,
}

impl<'a, T: 'static> Builder<'a, T> {
    /// The task's name. It need not be unlike others.
    pub fn name(self, name: &'a str) -> Self {
        Builder { builder: self.builder.name(name), ..self }
    }

    /// As [`JoinSet::spawn`].
    ///
    /// # Errors
    /// As [`task::Builder::spawn`](TaskBuilder::spawn).
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn(future)?))
    }

    /// As [`JoinSet::spawn_on`].
    ///
    /// # Errors
    /// As [`task::Builder::spawn_on`](TaskBuilder::spawn_on).
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_on(future, handle)?))
    }
    /// As [`JoinSet::spawn_blocking`].
    ///
    /// # Errors
    /// As [`task::Builder::spawn_blocking`](TaskBuilder::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F>(self, f: F) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_blocking(f)?))
    }

    /// As [`JoinSet::spawn_blocking_on`].
    ///
    /// # Errors
    /// As [`task::Builder::spawn_blocking_on`](TaskBuilder::spawn_blocking_on).
    #[track_caller]
    pub fn spawn_blocking_on<F>(self, f: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.builder.spawn_blocking_on(f, handle)?))
    }

    /// As [`JoinSet::spawn_local`].
    ///
    /// # Errors
    /// As [`task::Builder::spawn_local`](TaskBuilder::spawn_local).
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.set.insert(self.builder.spawn_local(future)?))
    }

    /// As [`JoinSet::spawn_local_on`].
    ///
    /// # Errors
    /// As [`task::Builder::spawn_local_on`](TaskBuilder::spawn_local_on).
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
