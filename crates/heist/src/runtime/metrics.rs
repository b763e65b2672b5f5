//! What a runtime counts, for those who ask.

use crate::metrics::WorkerCounters;
use crate::scheduler::{Scheduler, WorkerState};
use std::fmt;
use std::ops::Range;
use std::thread::ThreadId;
use std::time::Duration;

/// What a runtime has counted: always on, and it may be asked at any time, from any thread, also
/// when the runtime has been shut down (M1).
///
/// Each worker counts for itself, and nobody waits for anybody. So numbers that are read while
/// tasks run may be a moment old, and two of them need not be of the same moment. When nothing
/// moves they are exact.
///
/// ```
/// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// let metrics = rt.metrics();
/// rt.block_on(rt.spawn(async { heist::task::yield_now().await })).unwrap();
/// drop(rt);
/// let polls: u64 = (0..metrics.num_workers()).map(|n| metrics.worker_poll_count(n)).sum();
/// assert_eq!(polls, 2);
/// assert_eq!(metrics.num_alive_tasks(), 0);
/// ```
///
/// The methods that Tokio has, too, have its names. Workers have numbers from 0 on; methods that
/// take one panic if there is no such worker.
#[derive(Clone)]
pub struct RuntimeMetrics {
    scheduler: Scheduler,
}

/// Of the whole runtime.
impl RuntimeMetrics {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        RuntimeMetrics { scheduler }
    }

    /// How many workers there are; 1 on a runtime without worker threads.
    pub fn num_workers(&self) -> usize {
        self.scheduler.workers()
    }

    /// Tasks that were spawned and have not ended. Closures of `spawn_blocking` and tasks of a
    /// [`LocalSet`](crate::task::LocalSet) are no tasks of the runtime.
    ///
    /// A task counts until its worker is through with it: a moment longer than its
    /// [`JoinHandle`](crate::task::JoinHandle) waits.
    pub fn num_alive_tasks(&self) -> usize {
        // In this order: what ends in between was spawned before.
        let ended = self.scheduler.ended();
        usize::try_from(self.scheduler.spawned().saturating_sub(ended)).unwrap_or(usize::MAX)
    }

    /// Tasks that were ever spawned. Those that came after the runtime was shut down do not count.
    pub fn spawned_tasks_count(&self) -> u64 {
        self.scheduler.spawned()
    }

    /// Tasks in the inject queue: those that came from outside of the workers, or did not fit into
    /// a worker's ring.
    pub fn global_queue_depth(&self) -> usize {
        self.scheduler.inject_depth()
    }

    /// How often a thread that is no worker of the runtime spawned or woke a task.
    pub fn remote_schedule_count(&self) -> u64 {
        self.scheduler.remote_schedules()
    }

    /// How often a poll was cut short because its budget was used up; see
    /// [`task::coop`](crate::task::coop). Polls of futures in `block_on` count, too.
    pub fn budget_forced_yield_count(&self) -> u64 {
        self.scheduler.budget_forced_yields()
    }

    /// How often a task kept its worker for longer than
    /// [`stall_threshold`](super::Builder::stall_threshold) while others waited to be run; each is
    /// reported to [`on_stall`](super::Builder::on_stall).
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// rt.block_on(rt.spawn(async { "soon done" })).unwrap();
    /// assert_eq!(rt.metrics().stall_count(), 0);
    /// ```
    pub fn stall_count(&self) -> u64 {
        self.scheduler.stalls.count()
    }

    /// How long the longest of these stalls was, or has been so far; zero if there was none.
    ///
    /// ```
    /// # let rt = heist::runtime::Builder::new_current_thread().build().unwrap();
    /// assert!(rt.metrics().longest_stall().is_zero());
    /// ```
    pub fn longest_stall(&self) -> Duration {
        self.scheduler.stalls.longest()
    }

    /// How many spare workers run: each sits on the seat of a worker that is stuck, or has stepped
    /// aside; or is about to leave it.
    pub fn num_spare_workers(&self) -> usize {
        self.scheduler.num_spares()
    }

    /// How often a stuck worker kept its seat because no spare worker could be had: there were as
    /// many threads as [`max_blocking_threads`](super::Builder::max_blocking_threads) allows, or
    /// the system would not start another.
    ///
    /// ```
    /// # let rt = heist::runtime::Builder::new_current_thread().build().unwrap();
    /// assert_eq!(rt.metrics().spare_shortage_count(), 0);
    /// ```
    pub fn spare_shortage_count(&self) -> u64 {
        self.scheduler.stalls.shortages()
    }

    /// Threads for closures of `spawn_blocking`, those being started and ended included.
    pub fn num_blocking_threads(&self) -> usize {
        self.scheduler.blocking.num_blocking_threads()
    }

    /// Threads for closures of `spawn_blocking` that have nothing to do.
    pub fn num_idle_blocking_threads(&self) -> usize {
        self.scheduler.blocking.num_idle_blocking_threads()
    }

    /// Closures of `spawn_blocking` that no thread has begun.
    pub fn blocking_queue_depth(&self) -> usize {
        self.scheduler.blocking.blocking_queue_depth()
    }
}

/// Of one worker.
impl RuntimeMetrics {
    /// The thread that runs the worker. `None` until it has begun. On a runtime without worker
    /// threads it is the one in `block_on`; if there is none, the one that was there last.
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<ThreadId> {
        self.worker("worker_thread_id", worker).thread()
    }

    /// How often the worker has polled a task.
    #[track_caller]
    pub fn worker_poll_count(&self, worker: usize) -> u64 {
        self.worker("worker_poll_count", worker).polls()
    }

    /// How long a poll takes on average, with recent polls counting most. It is measured over 64
    /// polls and more; before that it is the worker's busy time by its number of polls.
    #[track_caller]
    pub fn worker_mean_poll_time(&self, worker: usize) -> Duration {
        self.worker("worker_mean_poll_time", worker).mean_poll()
    }

    /// How long the worker was not asleep, up to now. A poll that is going on counts already, and so
    /// do searching and the moment that a worker waits before it goes to sleep.
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.worker("worker_total_busy_duration", worker).busy_time()
    }

    /// How many tasks wait in the worker's own queues, the LIFO slot included.
    #[track_caller]
    pub fn worker_local_queue_depth(&self, worker: usize) -> usize {
        let _ = self.worker("worker_local_queue_depth", worker);
        self.scheduler.worker_queue_depth(worker)
    }

    /// How often the worker made a task runnable in its own queues: by a spawn, by a wake-up, or
    /// because the task woke itself while it ran.
    #[track_caller]
    pub fn worker_local_schedule_count(&self, worker: usize) -> u64 {
        self.worker("worker_local_schedule_count", worker).local_schedules()
    }

    /// How many tasks the worker ran from its LIFO slot: the ones it had woken or spawned last.
    /// Where this is most of the polls, tasks hand work to each other on one worker.
    #[track_caller]
    pub fn worker_lifo_hit_count(&self, worker: usize) -> u64 {
        self.worker("worker_lifo_hit_count", worker).lifo_hits.get()
    }

    /// How many tasks the worker took from the inject queue.
    #[track_caller]
    pub fn worker_injected_count(&self, worker: usize) -> u64 {
        self.worker("worker_injected_count", worker).injected.get()
    }

    /// How often the worker's ring was full, so that half of it went to the inject queue.
    #[track_caller]
    pub fn worker_overflow_count(&self, worker: usize) -> u64 {
        self.worker("worker_overflow_count", worker).overflows.get()
    }

    /// How many tasks the worker stole from others.
    #[track_caller]
    pub fn worker_steal_count(&self, worker: usize) -> u64 {
        self.worker("worker_steal_count", worker).stolen.get()
    }

    /// How often the worker stole from others; each time up to half of what the other had.
    #[track_caller]
    pub fn worker_steal_operations(&self, worker: usize) -> u64 {
        self.worker("worker_steal_operations", worker).steals.get()
    }

    /// How often the worker looked at all others and found nothing to steal.
    #[track_caller]
    pub fn worker_failed_search_count(&self, worker: usize) -> u64 {
        self.worker("worker_failed_search_count", worker).failed_searches.get()
    }

    /// How many fork-join jobs the worker took from a queue and ran: its own or another's. The second
    /// closure of a [`join`](fn@crate::join) that is not stolen comes from no queue, and does not count.
    ///
    /// ```
    /// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// rt.handle().join(|| (), || ());
    /// assert_eq!(rt.metrics().worker_job_count(0), 1); // what brought the join from here to the worker
    /// ```
    #[track_caller]
    pub fn worker_job_count(&self, worker: usize) -> u64 {
        self.worker("worker_job_count", worker).jobs.get()
    }

    /// How many of these jobs were in another worker's queue.
    #[track_caller]
    pub fn worker_job_steal_count(&self, worker: usize) -> u64 {
        self.worker("worker_job_steal_count", worker).stolen_jobs.get()
    }

    /// How many fork-join jobs wait in the worker's own queue.
    #[track_caller]
    pub fn worker_job_queue_depth(&self, worker: usize) -> usize {
        let _ = self.worker("worker_job_queue_depth", worker);
        self.scheduler.worker_job_depth(worker)
    }

    /// What the worker does at this moment.
    ///
    /// ```
    /// use heist::runtime::{Builder, WorkerState};
    ///
    /// let rt = Builder::new_current_thread().build().unwrap();
    /// let state = rt.block_on(rt.spawn({
    ///     let metrics = rt.metrics();
    ///     async move { metrics.worker_state(0) }
    /// }));
    /// assert_eq!(state.unwrap(), WorkerState::Busy);
    /// ```
    #[track_caller]
    pub fn worker_state(&self, worker: usize) -> WorkerState {
        let _ = self.worker("worker_state", worker);
        self.scheduler.worker_state(worker, self.scheduler.worker_seat(worker))
    }

    /// The seat that the worker sits on, from 0 on; its own, as no worker but a spare one ever sits on
    /// another's. `None` while it is stuck or has stepped aside and its seat was lent.
    ///
    /// ```
    /// # let rt = heist::runtime::Builder::new_current_thread().build().unwrap();
    /// assert_eq!(rt.metrics().worker_seat(0), Some(0));
    /// ```
    #[track_caller]
    pub fn worker_seat(&self, worker: usize) -> Option<usize> {
        let _ = self.worker("worker_seat", worker);
        self.scheduler.worker_seat(worker)
    }

    /// How often the worker went to sleep.
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.worker("worker_park_count", worker).parks_so_far()
    }

    /// How often the worker went to sleep and woke up, both counted: odd while it sleeps.
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        self.worker("worker_park_unpark_count", worker).parks_and_unparks.get()
    }

    /// How often somebody else woke the worker. When it lies down and finds that work came at the
    /// last moment it gets up by itself; that does not count.
    #[track_caller]
    pub fn worker_wakeup_count(&self, worker: usize) -> u64 {
        self.worker("worker_wakeup_count", worker).wakeups.get()
    }

    /// How often the worker woke up, ran nothing, and went to sleep again.
    #[track_caller]
    pub fn worker_noop_count(&self, worker: usize) -> u64 {
        self.worker("worker_noop_count", worker).noops.get()
    }

    /// How often a poll on this worker was cut short because its budget was used up; see
    /// [`budget_forced_yield_count`](Self::budget_forced_yield_count).
    #[track_caller]
    pub fn worker_budget_forced_yield_count(&self, worker: usize) -> u64 {
        self.worker("worker_budget_forced_yield_count", worker).budget_yields.get()
    }

    /// How often the worker was stuck in a poll and its seat was lent to a spare worker.
    ///
    /// ```
    /// # let rt = heist::runtime::Builder::new_current_thread().build().unwrap();
    /// assert_eq!(rt.metrics().worker_seat_loss_count(0), 0);
    /// ```
    #[track_caller]
    pub fn worker_seat_loss_count(&self, worker: usize) -> u64 {
        self.worker("worker_seat_loss_count", worker).seat_losses.get()
    }

    #[track_caller]
    fn worker(&self, api: &str, worker: usize) -> &WorkerCounters {
        self.scheduler.worker_counters(worker).unwrap_or_else(|| {
            panic!(
                "RuntimeMetrics::{api}: there is no worker {worker}; RuntimeMetrics::num_workers \
                 says that there are {}, and the first has number 0",
                self.num_workers()
            )
        })
    }
}

/// How long polls took, if
/// [`enable_metrics_poll_time_histogram`](super::Builder::enable_metrics_poll_time_histogram) was
/// called.
impl RuntimeMetrics {
    /// Whether poll times are counted.
    pub fn poll_time_histogram_enabled(&self) -> bool {
        self.worker("poll_time_histogram_enabled", 0).poll_times.is_some()
    }

    /// How many buckets there are; 0 if poll times are not counted.
    pub fn poll_time_histogram_num_buckets(&self) -> usize {
        let poll_times = &self.worker("poll_time_histogram_num_buckets", 0).poll_times;
        poll_times.as_ref().map_or(0, |histogram| histogram.buckets())
    }

    /// Which times a bucket counts; empty if none are counted.
    ///
    /// # Panics
    /// If poll times are counted and there is no such bucket.
    #[track_caller]
    pub fn poll_time_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        let poll_times = &self.worker("poll_time_histogram_bucket_range", 0).poll_times;
        let Some(histogram) = poll_times else { return Duration::ZERO..Duration::ZERO };
        self.check_bucket("poll_time_histogram_bucket_range", bucket);
        histogram.range(bucket)
    }

    /// How many polls of a worker took a time that lies in this bucket; 0 if none are counted.
    ///
    /// # Panics
    /// If there is no such worker; if poll times are counted and there is no such bucket.
    #[track_caller]
    pub fn poll_time_histogram_bucket_count(&self, worker: usize, bucket: usize) -> u64 {
        let poll_times = &self.worker("poll_time_histogram_bucket_count", worker).poll_times;
        let Some(histogram) = poll_times else { return 0 };
        self.check_bucket("poll_time_histogram_bucket_count", bucket);
        histogram.count(bucket)
    }

    #[track_caller]
    fn check_bucket(&self, api: &str, bucket: usize) {
        let buckets = self.poll_time_histogram_num_buckets();
        assert!(
            bucket < buckets,
            "RuntimeMetrics::{api}: there is no bucket {bucket}; \
             RuntimeMetrics::poll_time_histogram_num_buckets says that there are {buckets}, and \
             the first has number 0"
        );
    }
}

impl fmt::Debug for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeMetrics")
            .field("num_workers", &self.num_workers())
            .field("num_alive_tasks", &self.num_alive_tasks())
            .field("global_queue_depth", &self.global_queue_depth())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::runtime::Builder;

    /// M1: what is counted of stalls can be asked for, also when the runtime is gone.
    #[test]
    fn m1_stalls_can_be_asked_for() {
        let rt = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let metrics = rt.metrics();
        let stalls = &metrics.scheduler.stalls;
        for _ in 0..3 {
            stalls.began();
        }
        stalls.lasted(Duration::from_millis(12));
        stalls.lacked_spare();
        stalls.lacked_spare();
        metrics.scheduler.worker_counters(1).unwrap().seat_losses.add(4);
        drop(rt);
        assert_eq!((metrics.stall_count(), metrics.spare_shortage_count()), (3, 2));
        assert_eq!(metrics.longest_stall(), Duration::from_millis(12));
        assert_eq!([0, 1].map(|worker| metrics.worker_seat_loss_count(worker)), [0, 4]);
    }
}
