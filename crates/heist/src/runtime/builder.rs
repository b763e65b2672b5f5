//! How a runtime is made.

use super::context::{self, Polling};
use super::current_thread::Driver;
use super::{Handle, Runtime, RuntimeFlavor};
use crate::env::{Cores, ThreadSpec};
use crate::metrics::HistogramConfiguration;
use crate::scheduler::{Config, MAX_WORKERS, Scheduler, Worker, blocking};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Makes a [`Runtime`].
#[derive(Clone)]
pub struct Builder {
    flavor: RuntimeFlavor,
    workers: Option<usize>,
    tick_interval: Option<u32>,
    threads: ThreadSpec,
    blocking: blocking::Limits,
    counts_poll_times: bool,
    poll_times: HistogramConfiguration,
    thread_per_core: bool,
    pin_workers: bool,
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
            workers: None,
            tick_interval: None,
            threads: ThreadSpec::new(),
            blocking: blocking::Limits { threads: 512, keep_alive: Duration::from_secs(10) },
            counts_poll_times: false,
            poll_times: HistogramConfiguration::default(),
            thread_per_core: false,
            pin_workers: false,
        }
    }

    /// How many workers there are.
    ///
    /// # Panics
    /// If `count` is 0 or above 65535.
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

    /// The name of the runtime's threads, workers and blocking threads.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        self.thread_name_fn(move || name.clone())
    }

    /// Makes the name of each thread of the runtime.
    pub fn thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.threads.name = Arc::new(name);
        self
    }

    /// How much stack each thread of the runtime has, in bytes.
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

    /// After how many tasks a worker looks at the inject queue first. If it is not set, workers
    /// find it from the time that polls take.
    ///
    /// # Panics
    /// If `ticks` is 0.
    #[track_caller]
    pub fn global_queue_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(
            ticks > 0,
            "Builder::global_queue_interval: must be 1 or more; leave it out to have it found"
        );
        self.tick_interval = Some(ticks);
        self
    }

    /// How many threads there may be for [`spawn_blocking`](crate::task::spawn_blocking), beside
    /// the workers; 512 unless said otherwise. They are started when they are needed. Closures
    /// beyond that wait for a thread, first in first out.
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
    /// Threads for blocking closures are not bound. Threads that a task starts by itself inherit
    /// the core of its worker. On systems other than Linux, and on a runtime without worker
    /// threads, this has no effect.
    pub fn pin_workers(&mut self, is_so: bool) -> &mut Self {
        self.pin_workers = is_so;
        self
    }

    /// Accepted for programs that were written for Tokio; everything there is is enabled.
    pub fn enable_all(&mut self) -> &mut Self {
        self
    }

    /// Builds the runtime and starts its threads.
    ///
    /// # Errors
    /// If a thread cannot be started. Those that were started before are stopped again.
    pub fn build(&mut self) -> io::Result<Runtime> {
        let workers = match (self.flavor, self.workers) {
            (RuntimeFlavor::CurrentThread, _) => 1,
            (RuntimeFlavor::MultiThread, Some(workers)) => workers,
            (RuntimeFlavor::MultiThread, None) => {
                thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS)
            }
        };
        let mut threads = self.threads.clone();
        if self.pin_workers && self.flavor == RuntimeFlavor::MultiThread {
            threads.cores = Cores::of_this_thread();
        }
        let blocking = blocking::Config { limits: self.blocking.clone(), threads: threads.clone() };
        let (flavor, tick_interval) = (self.flavor, self.tick_interval);
        let poll_times = self.counts_poll_times.then(|| self.poll_times.clone());
        let thread_per_core = self.thread_per_core;
        let (scheduler, workers) = Scheduler::new(Config {
            flavor,
            workers,
            tick_interval,
            blocking,
            poll_times,
            thread_per_core,
        });
        // Filled one by one: dropped half-way, it shuts down and joins what has been started.
        let mut runtime = Runtime {
            handle: Handle { scheduler },
            threads: Vec::new(),
            driver: None,
            waits: true,
        };
        for (number, worker) in workers.into_iter().enumerate() {
            match flavor {
                RuntimeFlavor::CurrentThread => runtime.driver = Some(Driver::new(worker)),
                RuntimeFlavor::MultiThread => {
                    let thread = start(threads.clone(), number, worker, runtime.handle.clone())?;
                    runtime.threads.push(thread);
                }
            }
        }
        Ok(runtime)
    }
}

fn start(
    threads: ThreadSpec,
    number: usize,
    worker: Worker,
    handle: Handle,
) -> io::Result<thread::JoinHandle<()>> {
    threads.thread().spawn(move || {
        threads.bind_worker(number);
        let _entered = context::enter(&handle);
        threads.started();
        let polling = Polling::begin();
        worker.run();
        drop(polling);
        threads.stopping();
    })
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("tick_interval", &self.tick_interval)
            .field("threads", &self.threads)
            .field("blocking", &self.blocking)
            .field("thread_per_core", &self.thread_per_core)
            .field("pin_workers", &self.pin_workers)
            .finish_non_exhaustive()
    }
}
