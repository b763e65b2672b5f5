//! A handle on a runtime.

use super::block_in_place;
use super::block_on::block_on;
use super::context::{self, EnterGuard, TryCurrentError};
use super::{Id, RuntimeFlavor, RuntimeMetrics};
use crate::metrics;
use crate::reactor::Reactors;
use crate::reactor::ShutDown;
use crate::scheduler::blocking::{Closure, IsClosed};
use crate::scheduler::{Local, Scheduler};
use crate::task::tracker::{self, Tracker};
use crate::task::{self, JoinHandle};
use crate::trace;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

/// A handle on a runtime; cheap to clone. It does not keep the runtime from shutting down: what is
/// spawned afterwards is cancelled.
#[derive(Clone)]
pub struct Handle {
    pub(super) scheduler: Scheduler,
}

impl Handle {
    /// The runtime of the calling thread.
    ///
    /// # Panics
    /// If there is none; see [`try_current`](Self::try_current).
    #[track_caller]
    pub fn current() -> Handle {
        Handle::current_for("Handle::current")
    }

    /// The runtime of the calling thread, for an `api` that needs one.
    #[track_caller]
    pub(crate) fn current_for(api: &str) -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{api}: {error}"),
        }
    }

    /// The runtime of the calling thread, if there is one.
    ///
    /// # Errors
    /// If the thread is in no runtime, or is ending.
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        context::current()
    }

    /// Makes this the runtime of the calling thread, for as long as the guard lives.
    pub fn enter(&self) -> EnterGuard<'_> {
        context::guard(self)
    }

    /// Runs a future on the workers.
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

    /// As [`spawn`](Self::spawn), with a name for reports.
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

    /// What watches the tasks of the runtime one by one, if anything does.
    #[inline(always)]
    pub(super) fn tracker(&self) -> Option<&Arc<Tracker>> {
        if tracker::is_anywhere() { self.scheduler.config().tracker.as_ref() } else { None }
    }

    /// Runs a closure that may block on a thread of its own; see
    /// [`task::spawn_blocking`](crate::task::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, closure: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let (task, join) = task::new(Closure::new(closure), Location::caller());
        self.scheduler.record_closure(&task);
        self.scheduler.blocking.submit(task, self);
        join
    }

    /// As [`spawn_blocking`](Self::spawn_blocking), for what was promised when it was accepted: it is
    /// run, and waited for, though the runtime go down before it has a thread.
    ///
    /// # Errors
    /// If the runtime is down; then the closure has been dropped.
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
        match self.scheduler.blocking.submit_mandatory(task, self) {
            Ok(()) => Ok(join),
            Err(IsClosed) => Err(ShutDown),
        }
    }

    /// As [`spawn_blocking`](Self::spawn_blocking), with a name for reports.
    #[track_caller]
    pub(crate) fn spawn_blocking_named<F, R>(&self, closure: F, name: &str) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let closure = Closure::new(closure);
        let (task, join) = task::new_detailed(closure, Location::caller(), Some(name.into()), None);
        self.scheduler.record_closure(&task);
        self.scheduler.blocking.submit(task, self);
        join
    }

    /// Runs a future on this thread, and waits for it. May be called from a task: its worker lets
    /// another run in its place meanwhile, as in [`block_in_place`](crate::task::block_in_place).
    ///
    /// # Panics
    /// If it is called from a task of a runtime without worker threads, or with
    /// [`thread_per_core`](super::Builder::thread_per_core): nobody would run the other tasks of this
    /// thread. Await the future instead.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.wait_in("Handle::block_on", || block_on(future))
    }

    /// Enters the runtime and waits there.
    #[track_caller]
    pub(super) fn wait_in<R>(&self, api: &str, wait: impl FnOnce() -> R) -> R {
        let _aside = block_in_place::step_aside(api, "await the future instead");
        let _entered = context::enter(self);
        let _polling = context::Polling::begin();
        let _counting = metrics::count_at(&self.scheduler.outside_budget_yields);
        // What a LocalSet runs here is written down here.
        let _here = trace::enter(self.scheduler.recorder(), None);
        wait()
    }

    /// The runtime of a worker.
    pub(crate) fn of_worker(worker: &Local) -> Handle {
        Handle { scheduler: worker.scheduler() }
    }

    #[inline]
    pub(crate) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The reactors, for an `api` that does I/O.
    #[track_caller]
    pub(crate) fn reactors_for_io(&self, api: &str) -> Arc<Reactors> {
        match &self.scheduler.config().reactors {
            Some(reactors) if reactors.has_io() => Arc::clone(reactors),
            _ => panic!(
                "{api}: this runtime does no I/O: call `enable_io` or `enable_all` on its Builder"
            ),
        }
    }

    /// The reactors, for an `api` that waits for time.
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

    /// The reactors, if tasks may wait for I/O or time, or the clock stood still from the beginning.
    pub(crate) fn reactors(&self) -> Option<&Reactors> {
        self.scheduler.config().reactors.as_deref()
    }

    /// The reactors, if the runtime does I/O.
    pub(crate) fn reactors_if_io(&self) -> Option<Arc<Reactors>> {
        self.scheduler.config().reactors.clone().filter(|reactors| reactors.has_io())
    }

    /// What the runtime counts; also after it was shut down.
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::new(self.scheduler.clone())
    }

    /// Which runtime it is.
    pub fn id(&self) -> Id {
        self.scheduler.identity().id
    }

    /// The name that [`Builder::name`](super::Builder::name) gave it.
    pub fn name(&self) -> Option<&str> {
        self.scheduler.identity().name.as_deref()
    }

    /// Whether the runtime has threads of its own.
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
