//! `Builder`: how a runtime is configured and started.

mod console;
mod errors;
mod poll_times;
mod stalls;
#[cfg(feature = "test-util")]
mod start_paused;
mod thread_options;
mod threads;

pub use threads::WorkerThread;

use super::context;
use super::current_thread::Driver;
use super::{Handle, Id, Runtime, RuntimeFlavor};
use crate::console::Settings as ConsoleSettings;
use crate::env::{Cores, ThreadSpec, companion, turns};
use crate::metrics::HistogramConfiguration;
use crate::reactor::timers::Clock;
use crate::reactor::{self, Reactors};
use crate::scheduler::{Config, Identity, MAX_WORKERS, Scheduler, Staffing, blocking};
use crate::stall::StallConfig;
use crate::trace;
use crate::tuning::TICK_INTERVAL;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Configures and builds a [`Runtime`].
///
/// | options | methods |
/// |---|---|
/// | kind | [`new_multi_thread`](Self::new_multi_thread), [`new_current_thread`](Self::new_current_thread) |
/// | drivers | [`enable_all`](Self::enable_all), [`enable_io`](Self::enable_io), [`enable_time`](Self::enable_time) |
/// | worker threads | [`worker_threads`](Self::worker_threads), [`pin_workers`](Self::pin_workers), [`thread_per_core`](Self::thread_per_core), [`build_on`](Self::build_on) |
/// | blocking threads | [`max_blocking_threads`](Self::max_blocking_threads), [`thread_keep_alive`](Self::thread_keep_alive) |
/// | names and stacks | [`name`](Self::name), [`thread_name`](Self::thread_name), [`thread_name_fn`](Self::thread_name_fn), [`thread_stack_size`](Self::thread_stack_size) |
/// | hooks | [`on_thread_start`](Self::on_thread_start), [`on_thread_stop`](Self::on_thread_stop), [`on_thread_park`](Self::on_thread_park), [`on_thread_unpark`](Self::on_thread_unpark) |
/// | scheduling | [`global_queue_interval`](Self::global_queue_interval), [`event_interval`](Self::event_interval) |
/// | stalls | [`stall_threshold`](Self::stall_threshold), [`on_stall`](Self::on_stall) |
/// | insight | [`console`](Self::console), [`trace`](Self::trace), [`enable_metrics_poll_time_histogram`](Self::enable_metrics_poll_time_histogram) |
///
/// Hooks run inside the runtime, so they may spawn. If a hook panics, the panic hook reports it and
/// the thread continues as if the hook had returned.
///
/// # Examples
///
/// ```
/// use heist::runtime::Builder;
///
/// let rt = Builder::new_multi_thread()
///     .worker_threads(4)
///     .name("orders")
///     .thread_name("orders-worker")
///     .enable_all()
///     .build()
///     .unwrap();
/// assert_eq!(rt.metrics().num_workers(), 4);
/// assert_eq!(rt.handle().name(), Some("orders"));
/// ```
#[derive(Clone)]
pub struct Builder {
    flavor: RuntimeFlavor,
    name: Option<String>,
    workers: Option<usize>,
    queue_interval: Option<u32>,
    event_interval: Option<u32>,
    threads: ThreadSpec,
    blocking: blocking::Limits,
    counts_poll_times: bool,
    poll_times: HistogramConfiguration,
    thread_per_core: bool,
    pin_workers: bool,
    stall: StallConfig,
    pub(super) companion: companion::Settings,
    has_io: bool,
    has_time: bool,
    starts_paused: bool,
    console: ConsoleSettings,
    trace: Option<trace::Config>,
}

impl Builder {
    /// Creates a builder for a runtime with worker threads, one per core by default.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{Builder, RuntimeFlavor};
    ///
    /// let rt = Builder::new_multi_thread().build().unwrap();
    /// assert_eq!(rt.handle().runtime_flavor(), RuntimeFlavor::MultiThread);
    /// ```
    pub fn new_multi_thread() -> Self {
        Self::new(RuntimeFlavor::MultiThread)
    }

    /// Creates a builder for a runtime without worker threads.
    ///
    /// Its tasks run on the thread that is in [`Runtime::block_on`], and only while it is.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_current_thread().build().unwrap();
    /// let this = std::thread::current().id();
    /// let task = rt.spawn(async { std::thread::current().id() });
    /// assert_eq!(rt.block_on(task).unwrap(), this);
    /// ```
    pub fn new_current_thread() -> Self {
        Self::new(RuntimeFlavor::CurrentThread)
    }

    fn new(flavor: RuntimeFlavor) -> Self {
        Builder {
            flavor,
            name: None,
            workers: None,
            queue_interval: None,
            event_interval: None,
            threads: ThreadSpec::new(),
            blocking: blocking::Limits { threads: 512, keep_alive: Duration::from_secs(10) },
            counts_poll_times: false,
            poll_times: HistogramConfiguration::default(),
            thread_per_core: false,
            pin_workers: false,
            stall: StallConfig::default(),
            companion: Default::default(),
            has_io: false,
            has_time: false,
            starts_paused: false,
            console: Default::default(),
            trace: None,
        }
    }

    /// Sets the number of workers. The default is one per core.
    ///
    /// On a runtime without worker threads this has no effect.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// assert_eq!(rt.metrics().num_workers(), 2);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0 or greater than 32767.
    #[track_caller]
    pub fn worker_threads(&mut self, count: usize) -> &mut Self {
        assert!(
            (1..=MAX_WORKERS).contains(&count),
            "Builder::worker_threads: {count} is not a number from 1 to {MAX_WORKERS}; \
             leave it out for one worker a core"
        );
        self.workers = Some(count);
        self
    }

    /// Sets the name of the runtime, which appears in reports; see [`Handle::name`].
    ///
    /// Names need not be unique.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_multi_thread().name("orders").build().unwrap();
    /// assert_eq!(rt.handle().name(), Some("orders"));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the name is empty or consists of whitespace.
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(
            !name.trim().is_empty(),
            "Builder::name: {name:?} is blank; leave it out for a runtime without a name"
        );
        self.name = Some(name);
        self
    }

    /// Sets the number of tasks after which a worker checks the inject queue before its own tasks.
    ///
    /// The inject queue holds tasks that were spawned or woken outside of the workers. By default
    /// the workers derive the interval from the time that polls take. See also
    /// [`event_interval`](Self::event_interval).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_multi_thread().global_queue_interval(31).event_interval(61).build();
    /// assert_eq!(rt.unwrap().block_on(async { 6 * 7 }), 42);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `ticks` is 0.
    #[track_caller]
    pub fn global_queue_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(
            ticks > 0,
            "Builder::global_queue_interval: must be 1 or more; leave it out for an automatic value"
        );
        self.queue_interval = Some(ticks);
        self
    }

    /// Sets the number of tasks after which a worker checks for I/O events and expired timers.
    ///
    /// A worker checks the inject queue and events at the same time, so if both this and
    /// [`global_queue_interval`](Self::global_queue_interval) are set, the shorter interval applies
    /// to both. On a runtime without worker threads this is also the number of tasks between two
    /// polls of the future of [`Runtime::block_on`]; there the default is 61.
    ///
    /// # Panics
    ///
    /// Panics if `ticks` is 0.
    #[track_caller]
    pub fn event_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(
            ticks > 0,
            "Builder::event_interval: must be 1 or more; leave it out for an automatic value"
        );
        self.event_interval = Some(ticks);
        self
    }

    /// Sets whether every task stays on the worker where it was spawned. The default is `false`.
    ///
    /// If enabled, workers do not steal from each other. A task that is spawned on a worker stays
    /// there, as with [`spawn_pinned`](crate::task::spawn_pinned); tasks that are spawned on other
    /// threads are distributed to the workers in turn. This is for programs that distribute their
    /// work themselves and profit more from warm caches than from busy cores: an overloaded worker
    /// stays overloaded while others are idle.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{self, Builder};
    ///
    /// let rt = Builder::new_multi_thread().thread_per_core(true).build().unwrap();
    /// let same = rt.spawn(async {
    ///     let here = runtime::worker_index();
    ///     let child = heist::spawn(async { runtime::worker_index() });
    ///     here == child.await.unwrap()
    /// });
    /// assert!(rt.block_on(same).unwrap());
    /// ```
    pub fn thread_per_core(&mut self, is_so: bool) -> &mut Self {
        self.thread_per_core = is_so;
        self
    }

    /// Sets whether each worker is bound to a core. The default is `false`.
    ///
    /// Worker *i* is bound to core *i* of those that the thread that builds the runtime may use. If
    /// there are more workers than cores, the cores are used again from the first one.
    ///
    /// This can help on a virtual machine, where the guest's kernel otherwise tends to put a worker
    /// that is woken for a short computation on the core of the thread that woke it, to wait there.
    /// Parallel regions of half a millisecond took half the time with it (`tick` and `tick_bound`
    /// of `heist-bench`). It does harm where other programs share the cores, because a bound worker
    /// waits for its own core even if another one is free.
    ///
    /// Blocking threads are not bound. Threads that a task starts inherit the core of its worker.
    /// On systems other than Linux, and on a runtime without worker threads, this has no effect.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_multi_thread().worker_threads(2).pin_workers(true).build().unwrap();
    /// assert_eq!(rt.handle().join(|| 1, || 2), (1, 2));
    /// ```
    pub fn pin_workers(&mut self, is_so: bool) -> &mut Self {
        self.pin_workers = is_so;
        self
    }

    /// Enables I/O and timers: [`enable_io`](Self::enable_io) and
    /// [`enable_time`](Self::enable_time).
    ///
    /// With the feature `tokio-context` it also enables the companion runtime that crates built for
    /// Tokio need (`enable_tokio_context`).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use heist::time::{Duration, sleep};
    ///
    /// let rt = Builder::new_multi_thread().enable_all().build().unwrap();
    /// // Without enable_all or enable_time this panics.
    /// rt.block_on(async { sleep(Duration::from_millis(1)).await });
    /// ```
    pub fn enable_all(&mut self) -> &mut Self {
        self.companion.enable();
        self.enable_io().enable_time()
    }

    /// Enables I/O: sockets, pipes, child processes and signals.
    ///
    /// Each worker gets a poller of its own, which takes two file descriptors.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_current_thread().enable_io().build().unwrap();
    /// let listener = rt.block_on(heist::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    /// assert_ne!(listener.local_addr().unwrap().port(), 0);
    /// ```
    pub fn enable_io(&mut self) -> &mut Self {
        self.has_io = true;
        self
    }

    /// Enables timers: [`time::sleep`](crate::time::sleep) and everything else in
    /// [`time`](crate::time).
    pub fn enable_time(&mut self) -> &mut Self {
        self.has_time = true;
        self
    }

    /// Records what the workers do, in a buffer of fixed size per worker; see [`trace`].
    ///
    /// Without this call nothing is recorded, unless the environment variable `HEIST_TRACE` names a
    /// file. Then each runtime of the process for which `trace` was not called writes its latest
    /// events to that file (the second runtime to `file.2`, and so on): when it is shut down or the
    /// process exits, when a stall is detected, when a task panics, and when the process receives
    /// `SIGUSR2`.
    ///
    /// Recording costs 5 to 10 % on workers that run nothing but the shortest of polls.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use heist::trace;
    ///
    /// let rt = Builder::new_multi_thread().trace(trace::Config::new()).build()?;
    /// rt.block_on(rt.spawn(async {}))?;
    /// let mut dump = Vec::new();
    /// rt.handle().dump_trace_to(&mut dump)?;
    /// assert!(!dump.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trace(&mut self, config: trace::Config) -> &mut Self {
        self.trace = Some(config);
        self
    }

    /// Builds the runtime and starts its threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let rt = Builder::new_multi_thread().worker_threads(2).build()?;
    /// assert_eq!(rt.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a thread cannot be started, or if the pollers for I/O cannot be opened.
    /// Threads that were started before are stopped and have ended when this returns. With
    /// [`console`](Self::console) or [`trace`](Self::trace) it also returns an error if the console
    /// cannot listen at its address, or if a trace file could not be written.
    pub fn build(&mut self) -> io::Result<Runtime> {
        self.build_by(self.staffing(), |thread| thread.start().map(Some))
    }

    /// Builds a runtime whose worker threads are started by `start`. It returns `None` for a thread
    /// that is not the runtime's to join.
    fn build_by(
        &mut self,
        staffing: Staffing,
        mut start: impl FnMut(WorkerThread) -> io::Result<Option<thread::JoinHandle<()>>>,
    ) -> io::Result<Runtime> {
        // All threads of the runtime inherit the length of the time slice from this one.
        turns::lengthen();
        let workers = match (self.flavor, self.workers) {
            (RuntimeFlavor::CurrentThread, _) => 1,
            (RuntimeFlavor::MultiThread, Some(workers)) => workers,
            (RuntimeFlavor::MultiThread, None) => {
                thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS)
            }
        };
        let flavor = self.flavor;
        let mut threads = self.threads.clone();
        if self.pin_workers && flavor == RuntimeFlavor::MultiThread {
            threads.cores = Cores::of_this_thread();
        }
        let mut config = self.config(workers, threads.clone());
        config.staffing = staffing;
        config.reactors = self.reactors(&config)?;
        let console = self.console.prepare(&mut config)?;
        config.recorder = super::trace::recorder(self.trace.as_ref(), console.records())?;
        let (scheduler, workers) = Scheduler::new(config);
        let count = workers.len();
        // Filled step by step: if a step fails, its drop shuts down and joins what was started.
        let mut runtime = Runtime {
            handle: Handle { scheduler },
            threads: Vec::new(),
            sysmon: None,
            driver: None,
            waits: true,
            is_closed: false,
            keeper: Default::default(),
            companion: Default::default(),
            console: Default::default(),
        };
        // If a later step fails, tasks that are dropped with a worker are dropped in the runtime.
        let handle = runtime.handle.clone();
        runtime.companion =
            self.companion.grant(&handle.scheduler.companion, context::staying(&handle))?;
        let _entered = context::enter(&handle);
        for (index, worker) in workers.into_iter().enumerate() {
            match flavor {
                RuntimeFlavor::CurrentThread => runtime.driver = Some(Driver::new(worker)),
                RuntimeFlavor::MultiThread => {
                    let thread = WorkerThread::new(threads.clone(), index, worker, handle.clone());
                    let thread =
                        start(thread).map_err(|error| errors::not_started(index, count, &error))?;
                    runtime.threads.extend(thread);
                }
            }
        }
        if handle.scheduler.config().needs_sysmon() {
            let thread = super::start_sysmon(&handle).map_err(|error| errors::no_sysmon(&error))?;
            runtime.sysmon = Some(thread);
            handle.scheduler.watched();
        }
        runtime.console = console.start(&handle.scheduler)?;
        runtime.keeper = super::trace::Keeper::new(&handle, self.trace.is_some())
            .map_err(|error| errors::no_keeper(&error))?;
        Ok(runtime)
    }

    /// Creates one reactor per seat, unless tasks can wait neither for I/O nor for time.
    fn reactors(&self, config: &Config) -> io::Result<Option<Arc<Reactors>>> {
        if !(self.has_io || self.has_time || self.starts_paused) {
            return Ok(None);
        }
        let reactors = Reactors::new(reactor::Config {
            seats: config.workers,
            is_guarded: config.needs_sysmon(),
            has_io: self.has_io,
            has_time: self.has_time,
            clock: Clock::new(self.starts_paused),
        });
        let reactors = reactors.map_err(|error| errors::no_reactors(config.workers, &error))?;
        Ok(Some(Arc::new(reactors)))
    }

    /// What replaces a worker that waits, unless the threads are fixed.
    fn staffing(&self) -> Staffing {
        match (self.flavor, self.thread_per_core) {
            (_, true) => Staffing::PerCore,
            (RuntimeFlavor::MultiThread, false) => Staffing::Lending,
            (RuntimeFlavor::CurrentThread, false) => Staffing::CallerOnly,
        }
    }

    fn config(&self, workers: usize, threads: ThreadSpec) -> Config {
        let name = self.name.as_deref().map(Box::from);
        Config {
            identity: Identity { id: Id::next(), name },
            flavor: self.flavor,
            workers,
            tick_interval: self.queue_interval.into_iter().chain(self.event_interval).min(),
            ticks_per_look: self.event_interval.unwrap_or(TICK_INTERVAL),
            blocking: blocking::Config { limits: self.blocking.clone(), threads },
            poll_times: self.counts_poll_times.then(|| self.poll_times.clone()),
            staffing: self.staffing(),
            stall: self.stall.clone(),
            console: None,
            tracker: None,
            recorder: None,
            reactors: None,
            within: |scheduler, act| {
                let handle = Handle { scheduler: scheduler.clone() };
                let _entered = context::enter(&handle);
                act();
            },
            outside_of_tasks: |drop| {
                let _pause = context::Polling::pause();
                drop();
            },
            call_spare: super::blocking::call_spare,
            start_thread: super::blocking::start_thread,
        }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("name", &self.name)
            .field("workers", &self.workers)
            .field("queue_interval", &self.queue_interval)
            .field("event_interval", &self.event_interval)
            .field("threads", &self.threads)
            .field("blocking", &self.blocking)
            .field("thread_per_core", &self.thread_per_core)
            .field("pin_workers", &self.pin_workers)
            .field("stall", &self.stall)
            .field("has_io", &self.has_io)
            .field("has_time", &self.has_time)
            .field("starts_paused", &self.starts_paused)
            .field("companion", &self.companion)
            .field("console", &self.console)
            .finish_non_exhaustive()
    }
}
