//! Runtimes: how one is built, entered, used and shut down.

mod block_in_place;
mod block_on;
mod blocking;
mod builder;
pub(crate) mod context;
mod current_thread;
mod global;
mod handle;
pub(crate) mod join_set;
pub(crate) mod local_set;
mod metrics;
mod pinned;
mod shutdown_error;
mod spawn;
pub(crate) mod task_builder;
#[cfg(all(test, not(loom)))]
mod tests;
#[cfg(feature = "tokio-context")]
mod tokio_context;
mod trace;

pub(crate) use crate::reactor::ShutDown;
pub use block_in_place::block_in_place;
pub use builder::{Builder, WorkerThread};
pub use context::{EnterGuard, TryCurrentError};
pub(crate) use global::{current_or_global, global_handle};
pub use handle::Handle;
pub use metrics::RuntimeMetrics;
pub use pinned::spawn_pinned;
pub use shutdown_error::is_rt_shutdown_err;
pub use spawn::{spawn, spawn_blocking};

pub use crate::env::SystemCall;
pub use crate::metrics::{
    HistogramConfiguration, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
};
pub use crate::scheduler::{Id, RuntimeFlavor, WorkerState};
pub use crate::stall::{StallCause, StallReport, Waiting};

use crate::console::Console;
use crate::env::{companion, log};
use crate::scheduler::{Sysmon, one_after_the_other};
use crate::task::JoinHandle;
use current_thread::Driver;
use std::future::Future;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How soon a shutdown with a time limit looks whether all threads have ended, and how often later on.
/// Guessed: most end at once.
const FIRST_LOOK: Duration = Duration::from_micros(50);
const LAST_LOOKS: Duration = Duration::from_millis(2);

/// A set of workers and everything that runs on them. Dropping it shuts it down: every future
/// that is left is dropped, in the runtime, closures of [`spawn_blocking`](Self::spawn_blocking)
/// that wait for others to end are cancelled, all others are waited for, and all threads are
/// joined.
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
    /// Those of the workers.
    threads: Vec<thread::JoinHandle<()>>,
    /// It ends after all workers: it drops what they leave behind.
    sysmon: Option<thread::JoinHandle<()>>,
    /// For the flavour without threads.
    driver: Option<Driver>,
    /// Whether dropping it waits for what is running.
    waits: bool,
    /// Dropped last but one: what is running may be recorded.
    keeper: trace::Keeper,
    /// Dropped last: what is running may need it.
    companion: companion::Owner,
    /// Answers until the end, also while what is running is waited for.
    console: Console,
}

impl Runtime {
    /// A runtime with a worker for each core.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new() -> io::Result<Runtime> {
        Builder::new_multi_thread().enable_all().build()
    }

    /// A handle, to be cloned and sent where it is needed.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What the runtime counts.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    /// Runs a future on the workers.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a closure that may block on a thread of its own; see
    /// [`task::spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, closure: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(closure)
    }

    /// Runs a future on this thread, and waits for it. What it spawns runs on the workers; on a
    /// runtime without worker threads, on this thread too.
    ///
    /// May be called from a task of a runtime with worker threads; see [`Handle::block_on`].
    ///
    /// # Panics
    /// If it is called from a task of a runtime without worker threads, or with
    /// [`thread_per_core`](Builder::thread_per_core). Await the future instead.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.block_on_for("Runtime::block_on", future)
    }

    /// As [`block_on`](Self::block_on), for another `api`.
    #[track_caller]
    pub(crate) fn block_on_for<F: Future>(&self, api: &str, future: F) -> F::Output {
        self.handle.wait_in(api, || match &self.driver {
            Some(driver) => driver.block_on(future),
            None => block_on::block_on(future),
        })
    }

    /// Makes this the runtime of the calling thread, for as long as the guard lives.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Shuts down and waits at most this long for polls and blocking closures that are going on. It
    /// does not wait any longer for threads that have not ended by then; a warning names them, on
    /// stderr or as an event with the feature `tracing`.
    pub fn shutdown_timeout(mut self, timeout: Duration) {
        self.waits = false;
        self.close();
        let own_thread = self.handle.scheduler.blocking.own_thread();
        let since = Instant::now();
        let mut pause = FIRST_LOOK;
        // A thread cannot be joined with a time limit, but it can be asked whether it has ended.
        let mut left = self.unfinished(own_thread);
        while !left.is_empty() && since.elapsed() < timeout {
            thread::sleep(pause.min(timeout.saturating_sub(since.elapsed())));
            pause = (pause * 2).min(LAST_LOOKS);
            left = self.unfinished(own_thread);
        }
        log::left_behind(&left, timeout);
    }

    /// The threads that have not ended, and what they do if that is known.
    fn unfinished(&self, except: Option<ThreadId>) -> Vec<String> {
        let scheduler = &self.handle.scheduler;
        let name = |thread: &thread::Thread| thread.name().unwrap_or("<unnamed>").to_owned();
        let is_left = |thread: &thread::JoinHandle<()>| {
            !thread.is_finished() && thread.thread().id() != thread::current().id()
        };
        let workers = self.threads.iter().enumerate().filter(|(_, thread)| is_left(thread));
        let workers = workers.map(|(index, thread)| match scheduler.task_of(index) {
            Some(spawned_at) => {
                format!("{}, in the task spawned at {spawned_at}", name(thread.thread()))
            }
            None => name(thread.thread()),
        });
        workers.chain(scheduler.blocking.unfinished(except).iter().map(name)).collect()
    }

    /// Shuts down without waiting for anything. May be called from anywhere.
    pub fn shutdown_background(mut self) {
        self.waits = false;
        self.console.stop();
        self.keeper.waits = false;
        self.close();
    }

    /// Cancels everything that is not running. What is dropped here is dropped in the runtime (T6):
    /// it may ask for the current one, and spawn in vain.
    fn close(&mut self) {
        let handle = self.handle.clone();
        let _entered = context::enter(&handle);
        one_after_the_other(|| {
            let scheduler = &handle.scheduler;
            let is_first = scheduler.close();
            if self.driver.is_some() && self.sysmon.is_none() && scheduler.has_several_to_drop() {
                // (T9) What one of them does when it is dropped may wait for another, which somebody
                // else has to begin. Where no thread can be started, the program deadlocks.
                self.sysmon = start_sysmon(&handle).ok();
            }
            scheduler.cancel_all(is_first);
            if let Some(driver) = &self.driver {
                driver.shut_down();
            }
        });
    }
}

/// It is in the runtime, as what it calls may be code of others.
fn start_sysmon(handle: &Handle) -> io::Result<thread::JoinHandle<()>> {
    let (sysmon, handle) = (Sysmon::new(handle.scheduler.clone()), handle.clone());
    thread::Builder::new().name("heist-sysmon".into()).spawn(move || {
        let _entered = context::enter(&handle);
        sysmon.run();
    })
}

// Whatever a task's panic leaves behind is in the task: the runtime goes on as before (T7).
impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.close();
        if !self.waits {
            return;
        }
        if context::is_in_task() {
            if thread::panicking() {
                return;
            }
            panic!(
                "Runtime: Cannot drop a runtime inside a task: that waits for threads, and this one \
                 has tasks to run. Call shutdown_background, or drop it on another thread"
            );
        }
        // A task may be the one that drops the runtime, in block_in_place. It cannot wait for itself.
        let this = thread::current().id();
        let is_worker = self.threads.iter().any(|thread| thread.thread().id() == this);
        let others = self.threads.drain(..).filter(|thread| thread.thread().id() != this);
        // A worker's thread does not panic: what tasks do is caught.
        others.for_each(|thread| _ = thread.join());
        let blocking = &self.handle.scheduler.blocking;
        // A closure may be the one that drops the runtime. It cannot wait for itself.
        let own_thread = blocking.own_thread();
        // Sysmon waits for all workers, and this may be one of them, or a spare one. It is joined
        // before the blocking threads: it may have some started.
        let waits = !is_worker && own_thread.is_none();
        let sysmon = self.sysmon.take().filter(|sysmon| waits && sysmon.thread().id() != this);
        sysmon.into_iter().for_each(|sysmon| _ = sysmon.join());
        blocking.join(own_thread);
    }
}

/// The number of the worker that runs the caller, from 0 on; `None` on a thread that is no worker.
///
/// A thread in [`Runtime::block_on`] is a worker only if the runtime has no worker threads, and if
/// it is the one that runs the tasks. Blocking threads are none, and neither is a worker whose seat
/// was given to another, in `block_in_place` or because it was stuck; who sits on its seat has its
/// number meanwhile. So a task may find another number after each `await`, and two tasks may think
/// that they have the same: it says where to begin, it is no lock.
///
/// ```
/// use heist::runtime::{self, Builder};
///
/// let rt = Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// let index = rt.block_on(rt.spawn(async { runtime::worker_index() })).unwrap();
/// assert!(index == Some(0) || index == Some(1));
/// assert_eq!(rt.block_on(async { runtime::worker_index() }), None);
/// ```
pub fn worker_index() -> Option<usize> {
    crate::scheduler::worker_index()
}
