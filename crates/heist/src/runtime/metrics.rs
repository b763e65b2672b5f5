//! `RuntimeMetrics`: what a runtime counts.

use crate::metrics::WorkerCounters;
use crate::scheduler::{Scheduler, WorkerState};
use std::fmt;
use std::ops::Range;
use std::thread::ThreadId;
use std::time::Duration;

/// Metrics of a runtime. They are always enabled, and can be read at any time and from any thread,
/// even after the runtime has been shut down (M1).
///
/// Each worker counts for itself, and reading never delays a worker. Numbers that are read while
/// tasks run may therefore be slightly outdated, and two numbers need not be of the same moment.
/// When nothing runs they are exact.
///
/// Methods that Tokio also has have Tokio's names. The methods `worker_*` take the index of a
/// worker, from 0 to [`num_workers`](Self::num_workers) − 1, and panic if there is no such worker.
///
/// # Examples
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
#[derive(Clone)]
pub struct RuntimeMetrics {
    scheduler: Scheduler,
}

/// # The whole runtime
impl RuntimeMetrics {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        RuntimeMetrics { scheduler }
    }

    /// Returns the number of workers, which is 1 on a runtime without worker threads.
    pub fn num_workers(&self) -> usize {
        self.scheduler.workers()
    }

    /// Returns the number of tasks that have been spawned and have not ended.
    ///
    /// Closures of `spawn_blocking` and tasks of a [`LocalSet`](crate::task::LocalSet) are not
    /// counted. A task is counted until its worker has finished with it, which is slightly after
    /// its [`JoinHandle`](crate::task::JoinHandle) completes.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_current_thread().build().unwrap();
    /// let task = rt.spawn(std::future::pending::<()>());
    /// assert_eq!(rt.metrics().num_alive_tasks(), 1);
    /// task.abort();
    /// rt.block_on(task).unwrap_err();
    /// assert_eq!(rt.metrics().num_alive_tasks(), 0);
    /// ```
    pub fn num_alive_tasks(&self) -> usize {
        // In this order: a task that ends in between is counted as spawned.
        let ended = self.scheduler.ended();
        usize::try_from(self.scheduler.spawned().saturating_sub(ended)).unwrap_or(usize::MAX)
    }

    /// Returns the number of tasks spawned so far, without those that were spawned after the
    /// shutdown. The runtime itself spawns a task for each call of a waker that is not its own,
    /// such as one of `FuturesUnordered`, when I/O or a timer ends the wait.
    pub fn spawned_tasks_count(&self) -> u64 {
        self.scheduler.spawned()
    }

    /// Returns the number of tasks in the inject queue: those that were spawned or woken outside of
    /// the workers, or that overflowed a worker's own queue.
    pub fn global_queue_depth(&self) -> usize {
        self.scheduler.inject_depth()
    }

    /// Returns how often a thread that is not a worker of this runtime spawned or woke a task.
    pub fn remote_schedule_count(&self) -> u64 {
        self.scheduler.remote_schedules()
    }

    /// Returns how often a task was made to yield because its budget was used up; see
    /// [`task::coop`](crate::task::coop). Futures in `block_on` are included.
    pub fn budget_forced_yield_count(&self) -> u64 {
        self.scheduler.budget_forced_yields()
    }

    /// Returns the number of stalls: how often a task kept its worker for longer than
    /// [`stall_threshold`](super::Builder::stall_threshold) while others waited to run.
    ///
    /// Each of them is reported to [`on_stall`](super::Builder::on_stall).
    pub fn stall_count(&self) -> u64 {
        self.scheduler.stalls.count()
    }

    /// Returns the duration of the longest stall so far, including one that is still going on.
    pub fn longest_stall(&self) -> Duration {
        self.scheduler.stalls.longest()
    }

    /// Returns the number of spare workers that run, each in the place of a worker that is stuck or
    /// has stepped aside to block.
    pub fn num_spare_workers(&self) -> usize {
        self.scheduler.num_spares()
    }

    /// Returns how often a stuck worker kept its seat because no spare worker could be started.
    ///
    /// Either there were as many threads as
    /// [`max_blocking_threads`](super::Builder::max_blocking_threads) allows, or the system refused
    /// to start another one.
    pub fn spare_shortage_count(&self) -> u64 {
        self.scheduler.stalls.shortages()
    }

    /// Returns the number of blocking threads, including those that are being started or are
    /// ending.
    pub fn num_blocking_threads(&self) -> usize {
        self.scheduler.blocking.num_blocking_threads()
    }

    /// Returns the number of blocking threads that have nothing to do.
    pub fn num_idle_blocking_threads(&self) -> usize {
        self.scheduler.blocking.num_idle_blocking_threads()
    }

    /// Returns the number of closures of `spawn_blocking` that no thread has started.
    pub fn blocking_queue_depth(&self) -> usize {
        self.scheduler.blocking.blocking_queue_depth()
    }
}

/// # Single workers
impl RuntimeMetrics {
    /// Returns the id of the thread that runs the worker, or `None` if it has not started yet.
    ///
    /// On a runtime without worker threads this is the thread in `block_on`, or the last one that
    /// was.
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<ThreadId> {
        self.worker("worker_thread_id", worker).thread()
    }

    /// Returns how often the worker has polled a task.
    #[track_caller]
    pub fn worker_poll_count(&self, worker: usize) -> u64 {
        self.worker("worker_poll_count", worker).polls()
    }

    /// Returns the mean duration of the worker's polls, weighted towards recent ones.
    ///
    /// It is measured over at least 64 polls. Before that, it is the worker's busy time divided by
    /// its number of polls.
    #[track_caller]
    pub fn worker_mean_poll_time(&self, worker: usize) -> Duration {
        self.worker("worker_mean_poll_time", worker).mean_poll()
    }

    /// Returns how long the worker has been awake so far.
    ///
    /// This includes the current poll, the search for work, and the time that a worker spins before
    /// it sleeps.
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.worker("worker_total_busy_duration", worker).busy_time()
    }

    /// Returns the number of tasks in the worker's own queues, including its LIFO slot.
    #[track_caller]
    pub fn worker_local_queue_depth(&self, worker: usize) -> usize {
        let _ = self.worker("worker_local_queue_depth", worker);
        self.scheduler.worker_queue_depth(worker)
    }

    /// Returns how often a task was put into the worker's own queues by the worker itself: on a
    /// spawn, on a wake-up, or because a task woke itself while it ran.
    #[track_caller]
    pub fn worker_local_schedule_count(&self, worker: usize) -> u64 {
        self.worker("worker_local_schedule_count", worker).local_schedules()
    }

    /// Returns the number of tasks that the worker ran from its LIFO slot, which holds the task
    /// that it spawned or woke last.
    ///
    /// If most polls are of this kind, tasks hand work to each other on one worker.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_current_thread().build().unwrap();
    /// rt.block_on(rt.spawn(async { heist::spawn(async {}).await.unwrap() })).unwrap();
    /// // The inner task ran from the slot, and so did the outer one after the inner had woken it.
    /// assert_eq!(rt.metrics().worker_lifo_hit_count(0), 2);
    /// ```
    #[track_caller]
    pub fn worker_lifo_hit_count(&self, worker: usize) -> u64 {
        self.worker("worker_lifo_hit_count", worker).lifo_hits.get()
    }

    /// Returns the number of tasks that the worker took from the inject queue.
    #[track_caller]
    pub fn worker_injected_count(&self, worker: usize) -> u64 {
        self.worker("worker_injected_count", worker).injected.get()
    }

    /// Returns how often the worker's queue was full, so that half of it moved to the inject queue.
    #[track_caller]
    pub fn worker_overflow_count(&self, worker: usize) -> u64 {
        self.worker("worker_overflow_count", worker).overflows.get()
    }

    /// Returns the number of tasks that the worker stole from other workers.
    #[track_caller]
    pub fn worker_steal_count(&self, worker: usize) -> u64 {
        self.worker("worker_steal_count", worker).stolen.get()
    }

    /// Returns how often the worker stole tasks. One operation takes up to half of a queue.
    #[track_caller]
    pub fn worker_steal_operations(&self, worker: usize) -> u64 {
        self.worker("worker_steal_operations", worker).steals.get()
    }

    /// Returns how often the worker checked all other workers and found nothing to steal.
    #[track_caller]
    pub fn worker_failed_search_count(&self, worker: usize) -> u64 {
        self.worker("worker_failed_search_count", worker).failed_searches.get()
    }

    /// Returns the number of fork-join jobs that the worker took from its own or another worker's
    /// queue.
    ///
    /// The second closure of a [`join`](fn@crate::join) that is not stolen is not taken from a
    /// queue, and is not counted.
    ///
    /// # Examples
    ///
    /// ```
    /// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// rt.handle().join(|| (), || ());
    /// // One job brought the join from this thread to the worker.
    /// assert_eq!(rt.metrics().worker_job_count(0), 1);
    /// ```
    #[track_caller]
    pub fn worker_job_count(&self, worker: usize) -> u64 {
        self.worker("worker_job_count", worker).jobs.get()
    }

    /// Returns the number of fork-join jobs that the worker took from another worker's queue.
    #[track_caller]
    pub fn worker_job_steal_count(&self, worker: usize) -> u64 {
        self.worker("worker_job_steal_count", worker).stolen_jobs.get()
    }

    /// Returns the number of fork-join jobs in the worker's own queue.
    #[track_caller]
    pub fn worker_job_queue_depth(&self, worker: usize) -> usize {
        let _ = self.worker("worker_job_queue_depth", worker);
        self.scheduler.worker_job_depth(worker)
    }

    /// Returns what the worker is doing at this moment.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{Builder, WorkerState};
    ///
    /// let rt = Builder::new_current_thread().build().unwrap();
    /// let metrics = rt.metrics();
    /// let state = rt.block_on(rt.spawn(async move { metrics.worker_state(0) }));
    /// assert_eq!(state.unwrap(), WorkerState::Busy);
    /// ```
    #[track_caller]
    pub fn worker_state(&self, worker: usize) -> WorkerState {
        let _ = self.worker("worker_state", worker);
        self.scheduler.worker_state(worker, self.scheduler.worker_seat(worker))
    }

    /// Returns the index of the worker's seat, or `None` while a spare worker has the seat.
    ///
    /// A worker loses its seat when it is stuck or blocks in
    /// [`block_in_place`](crate::task::block_in_place). Otherwise this is the worker's own index:
    /// only spare workers use other workers' seats.
    #[track_caller]
    pub fn worker_seat(&self, worker: usize) -> Option<usize> {
        let _ = self.worker("worker_seat", worker);
        self.scheduler.worker_seat(worker)
    }

    /// Returns how often the worker went to sleep.
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.worker("worker_park_count", worker).parks_so_far()
    }

    /// Returns how often the worker went to sleep plus how often it woke up: odd while it sleeps.
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        self.worker("worker_park_unpark_count", worker).parks_and_unparks.get()
    }

    /// Returns how often the worker was woken: by another thread, by an event or a timer of its
    /// reactor, or to return to its seat.
    ///
    /// A worker that finds new work while it prepares to sleep continues by itself; that is not
    /// counted.
    #[track_caller]
    pub fn worker_wakeup_count(&self, worker: usize) -> u64 {
        self.worker("worker_wakeup_count", worker).wakeups.get()
    }

    /// Returns how often the worker woke up, ran nothing, and went to sleep again.
    #[track_caller]
    pub fn worker_noop_count(&self, worker: usize) -> u64 {
        self.worker("worker_noop_count", worker).noops.get()
    }

    /// Returns how often a task on this worker was made to yield because its budget was used up;
    /// see [`budget_forced_yield_count`](Self::budget_forced_yield_count).
    #[track_caller]
    pub fn worker_budget_forced_yield_count(&self, worker: usize) -> u64 {
        self.worker("worker_budget_forced_yield_count", worker).budget_yields.get()
    }

    /// Returns how often the worker was stuck in a poll and lost its seat to a spare worker.
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

/// # Histogram of poll times
///
/// Recorded only if
/// [`enable_metrics_poll_time_histogram`](super::Builder::enable_metrics_poll_time_histogram) was
/// called.
///
/// ```
/// use heist::runtime::{Builder, HistogramConfiguration};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let rt = Builder::new_multi_thread()
///     .worker_threads(1)
///     .enable_metrics_poll_time_histogram()
///     .metrics_poll_time_histogram_configuration(HistogramConfiguration::linear(ms(1), 3))
///     .build()
///     .unwrap();
/// let metrics = rt.metrics();
/// assert!(metrics.poll_time_histogram_enabled());
/// assert_eq!(metrics.poll_time_histogram_num_buckets(), 3);
/// assert_eq!(metrics.poll_time_histogram_bucket_range(1), ms(1)..ms(2));
/// ```
impl RuntimeMetrics {
    /// Returns whether poll times are recorded.
    pub fn poll_time_histogram_enabled(&self) -> bool {
        self.worker("poll_time_histogram_enabled", 0).poll_times.is_some()
    }

    /// Returns the number of buckets, or 0 if poll times are not recorded.
    pub fn poll_time_histogram_num_buckets(&self) -> usize {
        let poll_times = &self.worker("poll_time_histogram_num_buckets", 0).poll_times;
        poll_times.as_ref().map_or(0, |histogram| histogram.buckets())
    }

    /// Returns the range of durations that a bucket counts, or an empty range if none are recorded.
    ///
    /// # Panics
    ///
    /// Panics if poll times are recorded and there is no such bucket.
    #[track_caller]
    pub fn poll_time_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        let poll_times = &self.worker("poll_time_histogram_bucket_range", 0).poll_times;
        let Some(histogram) = poll_times else { return Duration::ZERO..Duration::ZERO };
        self.check_bucket("poll_time_histogram_bucket_range", bucket);
        histogram.range(bucket)
    }

    /// Returns the number of the worker's polls whose duration is in this bucket, or 0 if poll
    /// times are not recorded.
    ///
    /// # Panics
    ///
    /// Panics if there is no such worker, or if poll times are recorded and there is no such
    /// bucket.
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
