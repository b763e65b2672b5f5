//! Building, entering and shutting down runtimes.
//!
//! A [`Runtime`] owns a set of worker threads. [`Builder`] configures one; a [`Handle`] refers to
//! one and can be cloned and sent to other threads.
//!
//! # Examples
//!
//! ```
//! use heist::runtime::Runtime;
//!
//! let rt = Runtime::new().unwrap();
//! let answer = rt.block_on(async { heist::spawn(async { 6 * 7 }).await.unwrap() });
//! assert_eq!(answer, 42);
//! ```
//!
//! [`#[heist::main]`](crate::main) does the same for `main`.
//!
//! # Flavors
//!
//! | flavor | tasks run on |
//! |---|---|
//! | [`Builder::new_multi_thread`] | worker threads, one per core by default |
//! | [`Builder::new_current_thread`] | the thread that is in [`Runtime::block_on`] |
//!
//! A program that never builds a runtime can still call [`spawn`](crate::spawn) and
//! [`join`](fn@crate::join): they use a global runtime, which starts when it is first needed.
//!
//! # Shutdown
//!
//! Dropping a [`Runtime`] shuts it down. Tasks are dropped where they wait; those that are being
//! polled are dropped when the poll returns. Closures of [`spawn_blocking`] that would have to wait
//! because [`Builder::max_blocking_threads`] is reached are cancelled; the others run, and the
//! shutdown waits for them. [`Runtime::shutdown_timeout`] limits how long it waits, and
//! [`Runtime::shutdown_background`] does not wait at all.
//!
//! A destructor that runs during the shutdown may wait for the runtime. What it spawns is
//! cancelled, its timers and sockets fail, and other tasks, closures and jobs are dropped
//! meanwhile. It must not wait for
//!
//! - a pinned task or a task of a [`LocalSet`](crate::task::LocalSet) that its own thread has yet to
//!   drop, because no other thread may drop it;
//! - what it spawns on a runtime that has ended, if it runs inside 16 or more destructors that do
//!   the same. Destructors that do not wait may spawn to any depth.

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
use crate::scheduler::{
    Scheduler, Sysmon, one_after_the_other, run_direct_job_aside, waiter_aside,
};
use crate::task::JoinHandle;
use crate::tuning::RECHECK;
use current_thread::Driver;
use std::future::Future;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// A set of workers and the tasks, closures and jobs that run on them.
///
/// Dropping a `Runtime` shuts it down: all futures that are left are dropped, and all threads are
/// joined. Closures of [`spawn_blocking`](Self::spawn_blocking) that would have to wait because
/// [`max_blocking_threads`](Builder::max_blocking_threads) is reached are cancelled; the others
/// run, and the drop waits for them. See the [module documentation](self) for alternatives.
///
/// # Examples
///
/// ```
/// use heist::runtime::Runtime;
///
/// let rt = Runtime::new().unwrap();
/// let task = rt.spawn(async { "hello" });
/// assert_eq!(rt.block_on(task).unwrap(), "hello");
/// ```
///
/// # Panics
///
/// Dropping a `Runtime` in a task panics, because that would block the task's worker. Call
/// [`shutdown_background`](Self::shutdown_background) there.
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
    /// The threads of the workers.
    threads: Vec<thread::JoinHandle<()>>,
    /// The monitor thread. It ends after all workers and drops what they leave behind.
    sysmon: Option<thread::JoinHandle<()>>,
    /// Only on a runtime without worker threads: what runs the tasks in `block_on`.
    driver: Option<Driver>,
    /// Whether dropping the runtime waits for threads and closures.
    waits: bool,
    /// Whether it has been shut down in the background, before it is dropped.
    is_closed: bool,
    /// Dropped last but one, so that everything that still runs is recorded.
    keeper: trace::Keeper,
    /// Dropped last, because everything that still runs may need it.
    companion: companion::OwnedCompanion,
    /// Answers clients until the end, even while `drop` waits for threads.
    console: Console,
}

impl Runtime {
    /// Creates a runtime with one worker per core, and with I/O and timers enabled.
    ///
    /// Use [`Builder`] for other settings.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new()?;
    /// assert_eq!(rt.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a thread cannot be started or a poller cannot be opened.
    pub fn new() -> io::Result<Runtime> {
        Builder::new_multi_thread().enable_all().build()
    }

    /// Returns a handle to this runtime, which can be cloned and sent to other threads.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let handle = rt.handle().clone();
    /// let thread = std::thread::spawn(move || handle.block_on(async { 6 * 7 }));
    /// assert_eq!(thread.join().unwrap(), 42);
    /// ```
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns the metrics of this runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// assert_eq!(rt.metrics().num_workers(), 2);
    /// ```
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    /// Spawns a task on this runtime; see [`spawn`](crate::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let task = rt.spawn(async { 6 * 7 });
    /// assert_eq!(rt.block_on(task).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a closure that may block on a thread of its own; see
    /// [`task::spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let lines = rt.spawn_blocking(|| std::io::read_to_string("a\nb\n".as_bytes()).unwrap());
    /// assert_eq!(rt.block_on(lines).unwrap().lines().count(), 2);
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, closure: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(closure)
    }

    /// Runs a future on the calling thread, and blocks the thread until the future completes.
    ///
    /// Tasks that the future spawns run on the workers or, on a runtime without worker threads, on
    /// the calling thread until the future completes.
    ///
    /// This may be called in a task of a runtime with worker threads: a spare takes the worker's
    /// place, as in [`block_in_place`].
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let text = rt.block_on(async {
    ///     let task = heist::spawn(async { "spawned" });
    ///     task.await.unwrap()
    /// });
    /// assert_eq!(text, "spawned");
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the future panics. Also panics if it is called in a task of a runtime without
    /// worker threads, or with [`thread_per_core`](Builder::thread_per_core), because no other
    /// thread could run the tasks of this thread meanwhile. Await the future instead.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.block_on_for("Runtime::block_on", future)
    }

    /// [`block_on`](Self::block_on) on behalf of `api`, which a panic message names.
    #[track_caller]
    pub(crate) fn block_on_for<F: Future>(&self, api: &str, future: F) -> F::Output {
        self.handle.wait_in(api, || match &self.driver {
            Some(driver) => driver.block_on(future),
            None => block_on::block_on(future),
        })
    }

    /// Enters this runtime: until the guard is dropped, it is the current runtime of the calling
    /// thread.
    ///
    /// This is for code that calls [`spawn`](crate::spawn), or makes sockets or timers, outside of
    /// `block_on`. Guards must be dropped in the reverse of the order in which they were made.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let _guard = rt.enter();
    /// let task = heist::task::spawn_blocking(|| 6 * 7); // panics outside of a runtime
    /// assert_eq!(rt.block_on(task).unwrap(), 42);
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Shuts the runtime down, and waits at most `timeout` for running polls, blocking closures and
    /// destructors.
    ///
    /// Threads that have not ended by then are left running. A warning names them, on stderr or,
    /// with the feature `tracing`, as an event. Without worker threads tasks are dropped here, as
    /// long as that may take.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// let (sender, receiver) = mpsc::channel::<()>();
    /// // Blocks until the sender is dropped, which is after the shutdown.
    /// rt.spawn_blocking(move || receiver.recv());
    /// rt.shutdown_timeout(Duration::from_millis(10));
    /// drop(sender);
    /// ```
    pub fn shutdown_timeout(mut self, timeout: Duration) {
        self.waits = false;
        self.close_in_background();
        let own_thread = self.handle.scheduler.blocking.own_thread();
        let since = Instant::now();
        // A thread cannot be joined with a time limit, but it can be asked whether it has ended.
        let mut left = self.unfinished(own_thread);
        while !left.is_empty() && since.elapsed() < timeout {
            rest(RECHECK.min(timeout.saturating_sub(since.elapsed())));
            left = self.unfinished(own_thread);
        }
        log::left_behind(&left, timeout);
    }

    /// Describes the threads that have not ended: their names and, where known, their tasks.
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

    /// If the caller is a worker of another runtime that has stepped aside, waits for the threads
    /// as [`rest`] does.
    fn take_part_until_ended(&self) {
        let own_thread = self.handle.scheduler.blocking.own_thread();
        while waiter_aside().is_some() && !self.unfinished(own_thread).is_empty() {
            rest(RECHECK);
        }
    }

    /// Shuts the runtime down without waiting for anything. It may be called anywhere, even in a
    /// task.
    ///
    /// Running polls and blocking closures continue until they return; their threads end then.
    /// Tasks are dropped by other threads, perhaps later; without worker threads they are dropped
    /// here.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new().unwrap();
    /// rt.block_on(async {
    ///     let inner = heist::runtime::Runtime::new().unwrap();
    ///     inner.spawn(std::future::pending::<()>());
    ///     inner.shutdown_background(); // dropping it here would panic
    /// });
    /// ```
    pub fn shutdown_background(mut self) {
        self.waits = false;
        self.console.stop();
        self.keeper.waits = false;
        self.close_in_background();
    }

    /// Cancels everything that is not running. Futures are dropped inside the runtime (T6), so that
    /// their destructors find it as the current one; what they spawn is cancelled at once (T9).
    fn close(&mut self) {
        self.close_and(|scheduler, is_first| scheduler.cancel_all(is_first));
    }

    /// The same, but has another thread drop what is left: a drop may wait, also for the caller.
    /// Without worker threads the caller is the thread that drops its tasks.
    fn close_in_background(&mut self) {
        self.is_closed = true;
        match self.driver {
            Some(_) => self.close(),
            None => self.close_and(Scheduler::cancel_all_elsewhere),
        }
    }

    fn close_and(&mut self, cancel_all: impl FnOnce(&Scheduler, bool)) {
        let handle = self.handle.clone();
        let _entered = context::enter(&handle);
        one_after_the_other(|| {
            let scheduler = &handle.scheduler;
            let is_first = scheduler.close();
            if let Some(driver) = &self.driver {
                driver.leave_jobs();
            }
            cancel_all(scheduler, is_first);
            if let Some(driver) = &self.driver {
                driver.shut_down();
            }
        });
    }
}

/// Sleeps for a while. A worker of another runtime that has stepped aside has its part in
/// broadcasts meanwhile: a poll that is waited for may have called for it (J5).
fn rest(limit: Duration) {
    match waiter_aside() {
        _ if run_direct_job_aside() => {}
        Some(parker) => _ = parker.park_lightly(Some(limit)),
        None => thread::sleep(limit),
    }
}

/// Starts the monitor thread. It enters the runtime because it calls the user's `on_stall`.
fn start_sysmon(handle: &Handle) -> io::Result<thread::JoinHandle<()>> {
    let (sysmon, handle) = (Sysmon::new(handle.scheduler.clone()), handle.clone());
    thread::Builder::new().name("heist-sysmon".into()).spawn(move || {
        let _entered = context::enter(&handle);
        sysmon.run();
    })
}

// A panic in a task leaves only that task's own state inconsistent (T7).
impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.is_closed {
            self.close();
        }
        if !self.waits {
            return;
        }
        if context::is_in_task() {
            if thread::panicking() {
                return;
            }
            panic!(
                "Runtime: Cannot drop a runtime inside a task: the drop would block this thread, \
                 which has tasks to run. Call shutdown_background, or drop it on another thread"
            );
        }
        self.take_part_until_ended();
        // A task may drop the runtime inside block_in_place; its thread must not join itself.
        let this = thread::current().id();
        let is_worker = self.threads.iter().any(|thread| thread.thread().id() == this);
        let others = self.threads.drain(..).filter(|thread| thread.thread().id() != this);
        // The threads of workers do not panic: panics of tasks are caught.
        others.for_each(|thread| _ = thread.join());
        let blocking = &self.handle.scheduler.blocking;
        // A blocking closure may drop the runtime; its thread must not join itself.
        let own_thread = blocking.own_thread();
        // Sysmon waits for all workers, and this thread may be a worker or a spare. Sysmon is
        // joined before the blocking threads, because it may still start some.
        let waits = !is_worker && own_thread.is_none();
        let sysmon = self.sysmon.take().filter(|sysmon| waits && sysmon.thread().id() != this);
        sysmon.into_iter().for_each(|sysmon| _ = sysmon.join());
        blocking.join(own_thread);
    }
}

/// Returns the index of the worker that the calling thread runs as, or `None` if it is not a
/// worker.
///
/// The index is below [`RuntimeMetrics::num_workers`]. It belongs to the worker's *seat*, its right
/// to run tasks: when a worker loses its seat, because it is in [`block_in_place`] or stuck, the
/// spare that takes the seat has this index and the worker has none. Therefore a task may see
/// another index after each `await`, and two threads may use the same index for a short time. Use
/// it to choose a starting point, not as a lock.
/// [`current_thread_index`](crate::current_thread_index) is unique instead.
///
/// A thread in [`Runtime::block_on`] is a worker only if the runtime has no worker threads and the
/// thread is the one that runs the tasks. Threads of [`spawn_blocking`] are not workers.
///
/// # Examples
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
