//! `Handle`: a reference to a runtime.

use super::block_in_place;
use super::block_on::block_on;
use super::context::{self, EnterGuard, TryCurrentError};
use super::{Id, RuntimeFlavor, RuntimeMetrics};
use crate::metrics;
use crate::reactor::Reactors;
use crate::reactor::ShutDown;
use crate::scheduler::blocking::{Closure, Host, NeverWaits};
use crate::scheduler::{Late, Scheduler, Worker};
use crate::task::tracker::{self, Tracker};
use crate::task::{self, JoinHandle, Notified};
use crate::trace;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

/// A reference to a runtime, which can be cloned and sent to other threads.
///
/// Cloning a handle is cheap. A handle does not keep its runtime running: once the runtime has been
/// shut down, tasks that are spawned through a handle are cancelled.
///
/// The fork-join methods run closures on this runtime, whichever runtime is current.
///
/// # Examples
///
/// ```
/// use heist::runtime::{Handle, Runtime};
///
/// let rt = Runtime::new().unwrap();
/// let handle = rt.block_on(async { Handle::current() });
/// let thread = std::thread::spawn(move || handle.spawn(async { "spawned from another thread" }));
/// let task = thread.join().unwrap();
/// assert_eq!(rt.block_on(task).unwrap(), "spawned from another thread");
/// ```
#[derive(Clone)]
pub struct Handle {
    pub(super) scheduler: Scheduler,
}

impl Handle {
    /// Returns a handle to the current runtime: the one that the calling thread belongs to or has
    /// entered.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{Handle, Runtime};
    ///
    /// let rt = Runtime::new().unwrap();
    /// let id = rt.block_on(async { Handle::current().id() });
    /// assert_eq!(id, rt.handle().id());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if there is no current runtime; [`try_current`](Self::try_current) returns an error
    /// instead.
    #[track_caller]
    pub fn current() -> Handle {
        Handle::current_for("Handle::current")
    }

    /// [`current`](Self::current) on behalf of `api`, which a panic message names.
    #[track_caller]
    pub(crate) fn current_for(api: &str) -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{api}: {error}"),
        }
    }

    /// Returns a handle to the current runtime, if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{Handle, Runtime};
    ///
    /// assert!(Handle::try_current().unwrap_err().is_missing_context());
    /// let rt = Runtime::new().unwrap();
    /// let _guard = rt.enter();
    /// assert!(Handle::try_current().is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the calling thread is in no runtime, or if it is ending and its
    /// thread-locals have been destroyed.
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        context::current()
    }

    /// Enters this runtime: until the guard is dropped, it is the current runtime of the calling
    /// thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{Handle, Runtime};
    ///
    /// let rt = Runtime::new().unwrap();
    /// let handle = rt.handle().clone();
    /// let thread = std::thread::spawn(move || {
    ///     let _guard = handle.enter();
    ///     Handle::current().id()
    /// });
    /// assert_eq!(thread.join().unwrap(), rt.handle().id());
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        context::guard(self)
    }

    /// Spawns a task on this runtime; see [`spawn`](crate::spawn).
    ///
    /// If the runtime has been shut down, the task is cancelled at once.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let task = rt.handle().spawn(async { 6 * 7 });
    /// assert_eq!(rt.block_on(task).unwrap(), 42);
    ///
    /// let handle = rt.handle().clone();
    /// drop(rt);
    /// let cancelled = handle.spawn(async { 6 * 7 });
    /// assert!(handle.block_on(cancelled).unwrap_err().is_cancelled());
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (task, join) = match self.tracker() {
            None => task::new(future, Location::caller()),
            tracker => task::new_detailed(future, Location::caller(), None, tracker),
        };
        self.scheduler.submit(task);
        join
    }

    /// Spawns a task with a name; see [`spawn`](Self::spawn).
    #[track_caller]
    pub(crate) fn spawn_named<F>(&self, future: F, name: &str) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let name = Some(name.into());
        let (task, join) = task::new_detailed(future, Location::caller(), name, self.tracker());
        self.scheduler.submit(task);
        join
    }

    /// The statistics of single tasks, if the runtime keeps them.
    #[inline(always)]
    pub(super) fn tracker(&self) -> Option<&Arc<Tracker>> {
        if tracker::is_anywhere() { self.scheduler.config().tracker.as_ref() } else { None }
    }

    /// Runs a closure that may block on a thread of its own; see
    /// [`task::spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let sum = rt.handle().spawn_blocking(|| (1..=100).sum::<u32>());
    /// assert_eq!(rt.block_on(sum).unwrap(), 5050);
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, closure: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let (task, join) = task::new(Closure::new(closure), Location::caller());
        self.submit_closure(task);
        join
    }

    /// Runs a closure that must not be cancelled once it was accepted: it runs, and is waited for,
    /// even if the runtime is shut down before it has a thread.
    ///
    /// # Errors
    /// Returns an error if the runtime has been shut down; the closure has then been dropped.
    #[track_caller]
    pub(crate) fn spawn_mandatory_blocking<F, R>(
        &self,
        closure: F,
    ) -> Result<JoinHandle<R>, ShutDown>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let (task, join) = task::new(Closure::new(closure), Location::caller());
        self.scheduler.record_closure(&task);
        match self.scheduler.blocking.submit(task, true, self) {
            Ok(()) => Ok(join),
            Err(closure) => {
                self.within(|| drop(closure));
                Err(ShutDown)
            }
        }
    }

    /// Runs a blocking closure with a name; see [`spawn_blocking`](Self::spawn_blocking).
    #[track_caller]
    pub(crate) fn spawn_blocking_named<F, R>(&self, closure: F, name: &str) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let closure = Closure::new(closure);
        let (task, join) = task::new_detailed(closure, Location::caller(), Some(name.into()), None);
        self.submit_closure(task);
        join
    }

    /// Has a thread run the closure. If the runtime is down it is cancelled (T9).
    fn submit_closure(&self, closure: Notified<NeverWaits>) {
        self.scheduler.record_closure(&closure);
        if let Err(closure) = self.scheduler.blocking.submit(closure, false, self) {
            self.scheduler.refuse(Late::Closure(closure));
        }
    }

    /// Runs a future on the calling thread, and blocks the thread until the future completes.
    ///
    /// This may be called in a task of a runtime with worker threads: a spare takes the worker's
    /// place, as in [`block_in_place`](crate::task::block_in_place). Unlike
    /// [`Runtime::block_on`](super::Runtime::block_on), it never runs the tasks of a runtime
    /// without worker threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{Handle, Runtime};
    ///
    /// let rt = Runtime::new().unwrap();
    /// let sum = rt.spawn_blocking(|| {
    ///     let handle = Handle::current();
    ///     handle.block_on(async { heist::spawn(async { 6 * 7 }).await.unwrap() })
    /// });
    /// assert_eq!(rt.block_on(sum).unwrap(), 42);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the future panics. Also panics if it is called in a task of a runtime without
    /// worker threads, or with [`thread_per_core`](super::Builder::thread_per_core), because no
    /// other thread could run the tasks of this thread meanwhile. Await the future instead.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.wait_in("Handle::block_on", || block_on(future))
    }

    /// Enters the runtime and waits there.
    #[track_caller]
    pub(super) fn wait_in<R>(&self, api: &str, wait: impl FnOnce() -> R) -> R {
        let _aside = block_in_place::step_aside(api, "await the future instead");
        let _entered = context::enter(self);
        // What waits for I/O or time here does so in this runtime, also on a worker that keeps its
        // seat because its threads are fixed.
        let _sits = Reactors::sit_nowhere();
        let _polling = context::Polling::begin();
        let _counting = metrics::count_at(&self.scheduler.outside_budget_yields);
        // Polls of a LocalSet on this thread are recorded on behalf of this runtime.
        let _here = trace::enter(self.scheduler.recorder(), None);
        wait()
    }

    /// A handle to the runtime of `worker`.
    pub(crate) fn of_worker(worker: &Worker) -> Handle {
        Handle { scheduler: worker.scheduler().clone() }
    }

    #[inline]
    pub(crate) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The reactors, for an `api` that does I/O. Panics if I/O is disabled.
    #[track_caller]
    pub(crate) fn reactors_for_io(&self, api: &str) -> Arc<Reactors> {
        match &self.scheduler.config().reactors {
            Some(reactors) if reactors.has_io() => Arc::clone(reactors),
            _ => panic!(
                "{api}: this runtime does no I/O: call `enable_io` or `enable_all` on its Builder"
            ),
        }
    }

    /// The reactors, for an `api` that uses timers. Panics if timers are disabled.
    #[track_caller]
    pub(crate) fn reactors_for_time(&self, api: &str) -> &Reactors {
        match &self.scheduler.config().reactors {
            Some(reactors) if reactors.has_time() => reactors,
            _ => panic!(
                "{api}: timers are disabled on this runtime: call `enable_time` or `enable_all` on \
                 its Builder"
            ),
        }
    }

    /// The reactors, if I/O or timers are enabled, or the clock was paused from the beginning.
    pub(crate) fn reactors(&self) -> Option<&Reactors> {
        self.scheduler.config().reactors.as_deref()
    }

    /// The reactors, if I/O is enabled.
    pub(crate) fn reactors_if_io(&self) -> Option<Arc<Reactors>> {
        self.scheduler.config().reactors.clone().filter(|reactors| reactors.has_io())
    }

    /// Returns the metrics of this runtime, which remain available after its shutdown.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let metrics = rt.handle().metrics();
    /// drop(rt);
    /// assert_eq!(metrics.num_alive_tasks(), 0);
    /// ```
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::new(self.scheduler.clone())
    }

    /// Returns the id of this runtime, which no other runtime of the process has or had.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Runtime;
    ///
    /// let (one, other) = (Runtime::new().unwrap(), Runtime::new().unwrap());
    /// assert_ne!(one.handle().id(), other.handle().id());
    /// ```
    pub fn id(&self) -> Id {
        self.scheduler.identity().id
    }

    /// Returns the name of this runtime, which [`Builder::name`](super::Builder::name) sets.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_current_thread().name("orders").build().unwrap();
    /// assert_eq!(rt.handle().name(), Some("orders"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.scheduler.identity().name.as_deref()
    }

    /// Returns the flavor of this runtime: whether it has worker threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{Builder, RuntimeFlavor};
    ///
    /// let rt = Builder::new_current_thread().build().unwrap();
    /// assert_eq!(rt.handle().runtime_flavor(), RuntimeFlavor::CurrentThread);
    /// ```
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        self.scheduler.flavor()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("id", &self.id())
            .field("name", &self.name())
            .field("injected", &self.scheduler.inject_depth())
            .field("blocking", &self.scheduler.blocking)
            .finish()
    }
}
