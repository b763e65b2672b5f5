//! How a runtime is made.

mod console;
mod errors;
#[cfg(feature = "test-util")]
mod start_paused;
mod threads;

pub use threads::WorkerThread;

use super::context;
use super::current_thread::Driver;
use super::{Handle, Id, Runtime, RuntimeFlavor, StallReport};
use crate::console::Wish as ConsoleWish;
use crate::env::{Cores, ThreadSpec, companion, turns};
use crate::metrics::HistogramConfiguration;
use crate::reactor::timers::Clock;
use crate::reactor::{self, Reactors};
use crate::scheduler::{Config, Identity, MAX_WORKERS, Scheduler, blocking};
use crate::stall::StallConfig;
use crate::trace;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// After so many tasks, unless said otherwise, a runtime without worker threads looks at the future
/// of its `block_on`. Guessed; Tokio's number.
const TICKS_PER_LOOK: u32 = 61;

/// Makes a [`Runtime`].
///
/// Callbacks (`on_thread_…`) are called in the runtime: they may spawn. Should one panic, the panic
/// is reported by the panic hook and that is all; the thread goes on as if it had returned.
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
    pub(super) companion: companion::Wish,
    has_io: bool,
    has_time: bool,
    starts_paused: bool,
    console: ConsoleWish,
    trace: Option<trace::Config>,
}

impl Builder {
    /// A runtime with several workers, one for each core unless said otherwise.
    pub fn new_multi_thread() -> Self {
        Self::new(RuntimeFlavor::MultiThread)
    }

    /// A runtime without worker threads: tasks run on the thread that waits in
    /// [`Runtime::block_on`], and only while it does.
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

    /// How many workers there are.
    ///
    /// # Panics
    /// If `count` is 0 or above 32767.
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

    /// The name of the runtime, for reports; see [`Handle::name`]. It need not be unlike others.
    ///
    /// # Panics
    /// If the name is empty or blank.
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(
            !name.trim().is_empty(),
            "Builder::name: {name:?} says nothing; leave it out for a runtime without a name"
        );
        self.name = Some(name);
        self
    }

    /// The name of the runtime's threads, workers and blocking threads. One with a NUL in it is
    /// an error when a thread is to be started: of [`build`](Self::build) for workers.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        self.thread_name_fn(move || name.clone())
    }

    /// Makes the name of each thread of the runtime. A panic in there is one of
    /// [`build`](Self::build) if it is the name of a worker; threads that were started before are
    /// stopped again.
    pub fn thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.threads.name = Arc::new(name);
        self
    }

    /// How much stack each thread of the runtime has, in bytes. More than can be had is an error
    /// when a thread is to be started: of [`build`](Self::build) for workers. Less than the system
    /// can start a thread with is rounded up; whether it is enough for your tasks is yours to know,
    /// an overflow ends the process.
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.threads.stack_size = Some(bytes);
        self
    }

    /// Called by each thread of the runtime before it runs anything.
    pub fn on_thread_start<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.threads.on_start = Some(Arc::new(callback));
        self
    }

    /// Called by each thread of the runtime when it ends.
    pub fn on_thread_stop<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.threads.on_stop = Some(Arc::new(callback));
        self
    }

    /// Called by each worker just before it goes to sleep because there is nothing to do. It may
    /// spawn or wake tasks, and then the worker does not sleep. The worker runs nothing else
    /// meanwhile, so it should be short, and must not wait for a task.
    ///
    /// On a runtime without worker threads it is called by the thread in [`Runtime::block_on`].
    /// Blocking threads do not call it.
    pub fn on_thread_park<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.threads.on_park = Some(Arc::new(callback));
        self
    }

    /// Called by each worker just after it has slept, or could have: once for each call of what
    /// [`on_thread_park`](Self::on_thread_park) is given.
    pub fn on_thread_unpark<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.threads.on_unpark = Some(Arc::new(callback));
        self
    }

    /// After how many tasks a worker looks outside, at the inject queue, before it goes on with
    /// its own tasks. If it is not set, workers find it from the time that polls take. See also
    /// [`event_interval`](Self::event_interval).
    ///
    /// # Panics
    /// If `ticks` is 0.
    #[track_caller]
    pub fn global_queue_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(
            ticks > 0,
            "Builder::global_queue_interval: must be 1 or more; leave it out to have it found"
        );
        self.queue_interval = Some(ticks);
        self
    }

    /// After how many tasks a worker looks for events from outside: I/O and timers.
    ///
    /// A worker looks at the inject queue and for events in the same tick, so this and
    /// [`global_queue_interval`](Self::global_queue_interval) set the same interval; if both are
    /// set the shorter one counts. On a runtime without worker threads it is also the number of
    /// tasks between two looks at the future of [`Runtime::block_on`], which is 61 unless said
    /// otherwise.
    ///
    /// # Panics
    /// If `ticks` is 0.
    #[track_caller]
    pub fn event_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(
            ticks > 0,
            "Builder::event_interval: must be 1 or more; leave it out to have it found"
        );
        self.event_interval = Some(ticks);
        self
    }

    /// How many threads there may be for [`spawn_blocking`](crate::task::spawn_blocking), beside
    /// the workers; 512 unless said otherwise. They are started when they are needed. Closures
    /// beyond that wait for a thread, in the order in which their thread spawned them. Spare workers,
    /// which run in the place of those that are stuck or in
    /// [`block_in_place`](crate::task::block_in_place), are on these threads too; when all are busy,
    /// no spare can be had. So a program that waits in tasks needs more of them than tasks that wait.
    ///
    /// # Panics
    /// If `count` is 0.
    #[track_caller]
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        assert!(
            count > 0,
            "Builder::max_blocking_threads: must be 1 or more, or spawn_blocking could never run \
             anything; 512 is the default, and none is started before it is needed"
        );
        self.blocking.threads = count;
        self
    }

    /// How long a blocking thread with nothing to do is kept; 10 seconds unless said otherwise.
    pub fn thread_keep_alive(&mut self, duration: Duration) -> &mut Self {
        self.blocking.keep_alive = duration;
        self
    }

    /// Counts how long each poll takes; see
    /// [`RuntimeMetrics::poll_time_histogram_bucket_count`]. It costs two readings of the clock a
    /// poll, so it is off unless this is called.
    ///
    /// [`RuntimeMetrics::poll_time_histogram_bucket_count`]:
    /// super::RuntimeMetrics::poll_time_histogram_bucket_count
    pub fn enable_metrics_poll_time_histogram(&mut self) -> &mut Self {
        self.counts_poll_times = true;
        self
    }

    /// Into which buckets poll times are counted, if they are; ten of 100 µs unless said otherwise.
    ///
    /// ```
    /// use heist::runtime::{Builder, HistogramConfiguration, LogHistogram};
    /// use std::time::Duration;
    ///
    /// let mut builder = Builder::new_multi_thread();
    /// builder.worker_threads(1).enable_metrics_poll_time_histogram();
    /// let log = LogHistogram::builder().max_value(Duration::from_secs(1)).max_error(0.1);
    /// builder.metrics_poll_time_histogram_configuration(HistogramConfiguration::log(log));
    /// let runtime = builder.build().unwrap();
    /// assert!(runtime.metrics().poll_time_histogram_enabled());
    /// ```
    pub fn metrics_poll_time_histogram_configuration(
        &mut self,
        configuration: HistogramConfiguration,
    ) -> &mut Self {
        self.poll_times = configuration;
        self
    }

    /// Whether every task stays on the worker where it was spawned; not so unless said otherwise.
    ///
    /// No worker takes tasks of another then. A task that is spawned on a worker runs there, as with
    /// [`spawn_pinned`](crate::task::spawn_pinned); those that are spawned on other threads go to the
    /// workers in turn. That is for programs that spread their work themselves, and gain more by
    /// having its data in one core's cache than by having every core busy: one overloaded worker
    /// stays so while others are idle.
    pub fn thread_per_core(&mut self, is_so: bool) -> &mut Self {
        self.thread_per_core = is_so;
        self
    }

    /// Whether each worker is bound to a core: worker i to core i of those that the thread which
    /// builds the runtime may use. If there are more workers than cores they begin anew with the
    /// first. Not so unless said otherwise.
    ///
    /// On a virtual machine this can be worth much: to its kernel a core that the host has let fall
    /// asleep is not free, and a worker that is woken for a short computation is put on the core of
    /// who woke it, to wait there. Parallel regions of half a millisecond took half the time with it
    /// (`tick` and `tick_bound` of `heist-bench`). Where other programs share the cores a bound worker
    /// waits for its own while another is free.
    ///
    /// Threads for blocking closures are not bound. Threads that a task starts by itself inherit
    /// the core of its worker. On systems other than Linux, and on a runtime without worker
    /// threads, this has no effect.
    pub fn pin_workers(&mut self, is_so: bool) -> &mut Self {
        self.pin_workers = is_so;
        self
    }

    /// How long a task may keep its worker while others wait to be run; 10 milliseconds unless said
    /// otherwise. A worker that is kept longer, by a call that blocks or by a long computation, is
    /// stuck: it is reported ([`on_stall`](Self::on_stall)), and its seat is lent to a spare worker,
    /// which runs what waits.
    ///
    /// That is found by a thread of the runtime that looks every few milliseconds while there is
    /// something to run, and sleeps otherwise; a threshold that is shorter than that is no shorter
    /// in effect. A worker that is blocked loses its seat at once when work waits, however short it
    /// has been so. With `None` nobody looks: then a stuck worker keeps its seat. Tasks that are pinned
    /// to a stuck worker, or belong to a [`LocalSet`](crate::task::LocalSet) that runs there, wait for
    /// it in any case; so do all tasks of a runtime with [`thread_per_core`](Self::thread_per_core),
    /// and of one without worker threads.
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let patient = Builder::new_multi_thread().stall_threshold(Duration::from_millis(50)).build();
    /// let unwatched = Builder::new_multi_thread().stall_threshold(None).build();
    /// # patient.unwrap();
    /// # unwatched.unwrap();
    /// ```
    ///
    /// # Panics
    /// If the threshold is zero.
    #[track_caller]
    pub fn stall_threshold(&mut self, threshold: impl Into<Option<Duration>>) -> &mut Self {
        let threshold = threshold.into();
        assert!(
            threshold != Some(Duration::ZERO),
            "Builder::stall_threshold: with zero every poll would be a stall; ask for 1 millisecond \
             or more, leave it out for 10, or turn it off with None"
        );
        self.stall.threshold = threshold;
        self
    }

    /// Called for each stall; see [`stall_threshold`](Self::stall_threshold). What is set last
    /// counts.
    ///
    /// It is called by the thread that watches the workers, which watches nothing meanwhile: it
    /// should be short, and must not wait for a task. Should it panic, the panic is reported by the
    /// panic hook, and that is all.
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// let mut builder = Builder::new_multi_thread();
    /// let runtime = builder.on_stall(|stall| eprintln!("{stall}")).build().unwrap();
    /// # drop(runtime);
    /// ```
    pub fn on_stall<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn(&StallReport) + Send + Sync + 'static,
    {
        self.stall.on_stall = Some(Arc::new(callback));
        self
    }

    /// Tasks may wait for I/O and for time: [`enable_io`](Self::enable_io) and
    /// [`enable_time`](Self::enable_time). With the feature `tokio-context` they may also call crates
    /// that know Tokio only (`enable_tokio_context`).
    pub fn enable_all(&mut self) -> &mut Self {
        self.companion.enable();
        self.enable_io().enable_time()
    }

    /// Tasks may wait for I/O: sockets, pipes, other processes, signals. Each worker has a poller of its
    /// own: two open files.
    pub fn enable_io(&mut self) -> &mut Self {
        self.has_io = true;
        self
    }

    /// Tasks may wait for time.
    pub fn enable_time(&mut self) -> &mut Self {
        self.has_time = true;
        self
    }

    /// Records what workers do, the last of it in memory of a fixed size: see [`trace`]. Nothing is recorded
    /// unless this is called, or the environment variable `HEIST_TRACE` names a file: then each runtime of the
    /// process for which this was not called writes what it did last to that file (`file`, `file.2`, …) when it is shut down
    /// or the process exits, when a task has kept its worker for too long, when one panics, and when the process gets SIGUSR2.
    ///
    /// Recording takes 5 to 10 % of the time of workers that have nothing but the shortest of polls.
    pub fn trace(&mut self, config: trace::Config) -> &mut Self {
        self.trace = Some(config);
        self
    }

    /// Builds the runtime and starts its threads.
    ///
    /// # Errors
    /// If a thread cannot be started, or the files that [`enable_io`](Self::enable_io) needs cannot be
    /// opened. Threads that were started before are stopped again, and have ended when this returns.
    pub fn build(&mut self) -> io::Result<Runtime> {
        self.build_by(false, |thread| thread.start().map(Some))
    }

    /// Builds a runtime whose workers' threads are started by `start`, which may leave that to others.
    fn build_by(
        &mut self,
        is_fixed: bool,
        mut start: impl FnMut(WorkerThread) -> io::Result<Option<thread::JoinHandle<()>>>,
    ) -> io::Result<Runtime> {
        // All its threads would inherit those of who builds it.
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
        config.is_fixed = is_fixed;
        config.reactors = self.reactors(&config)?;
        let console = self.console.prepare(&mut config)?;
        config.recorder = super::trace::recorder(self.trace.as_ref(), console.records())?;
        let (scheduler, workers) = Scheduler::new(config);
        let count = workers.len();
        // Filled one by one: dropped half-way, it shuts down and joins what has been started.
        let mut runtime = Runtime {
            handle: Handle { scheduler },
            threads: Vec::new(),
            sysmon: None,
            driver: None,
            waits: true,
            keeper: Default::default(),
            companion: Default::default(),
            console: Default::default(),
        };
        // What is dropped half-way with a worker is dropped in the runtime.
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
        }
        runtime.console = console.start(&handle.scheduler)?;
        runtime.keeper = super::trace::Keeper::new(&handle, self.trace.is_some())
            .map_err(|error| errors::no_keeper(&error))?;
        Ok(runtime)
    }

    /// One a seat, if tasks may wait for anything outside.
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

    fn config(&self, workers: usize, threads: ThreadSpec) -> Config {
        let name = self.name.as_deref().map(Box::from);
        Config {
            identity: Identity { id: Id::next(), name },
            flavor: self.flavor,
            workers,
            tick_interval: self.queue_interval.into_iter().chain(self.event_interval).min(),
            ticks_per_look: self.event_interval.unwrap_or(TICKS_PER_LOOK),
            blocking: blocking::Config { limits: self.blocking.clone(), threads },
            poll_times: self.counts_poll_times.then(|| self.poll_times.clone()),
            thread_per_core: self.thread_per_core,
            is_fixed: false,
            stall: self.stall.clone(),
            console: None,
            tracker: None,
            recorder: None,
            reactors: None,
            refuse: |scheduler, task| {
                let handle = Handle { scheduler: scheduler.clone() };
                let _entered = context::enter(&handle);
                drop(task);
            },
            outside_of_tasks: |drop| {
                let _pause = context::Polling::pause();
                drop();
            },
            call_spare: super::blocking::call_spare,
            call_closer: super::blocking::call_closer,
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn stall(builder: &Builder) -> StallConfig {
        builder.config(1, ThreadSpec::new()).stall
    }

    /// L2: stalls are looked for after 10 ms unless the user says otherwise.
    #[test]
    fn l2_the_threshold_is_what_the_user_says() {
        let mut builder = Builder::new_multi_thread();
        assert_eq!(stall(&builder).threshold, Some(Duration::from_millis(10)));
        builder.stall_threshold(Duration::from_millis(50));
        assert_eq!(stall(&builder).threshold, Some(Duration::from_millis(50)));
        builder.stall_threshold(None);
        assert_eq!(stall(&builder).threshold, None);
        builder.stall_threshold(Some(Duration::MAX));
        assert_eq!(stall(&builder).threshold, Some(Duration::MAX));
    }

    #[test]
    fn the_last_hook_counts() {
        let mut builder = Builder::new_multi_thread();
        assert!(stall(&builder).on_stall.is_none());
        let (first, last) = (Arc::new(()), Arc::new(()));
        let [held_first, held_last] = [&first, &last].map(Arc::clone);
        builder.on_stall(move |_| _ = &held_first).on_stall(move |_| _ = &held_last);
        assert!(stall(&builder).on_stall.is_some());
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&last)), (1, 2));
    }
}
