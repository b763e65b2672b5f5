//! The counters of each worker.

use super::busy::Busy;
use super::forced_yields::{Counting, count_at};
use super::histogram::{Histogram, HistogramConfiguration};
use super::{Counter, SharedCounter};
use crate::env::Clock;
use crossbeam_utils::CachePadded;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The counters of a worker, written only by the thread that runs it, with one exception (M1). They
/// have cache lines of their own: readers disturb only this worker, and thieves that look at its
/// queues do not disturb it.
#[derive(Debug)]
pub(crate) struct WorkerCounters(CachePadded<Counters>);

/// Events that happen for every task increment one counter; readers compute the sums.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Tasks spawned here.
    pub(crate) spawned: Counter,
    /// Tasks woken here.
    pub(crate) woken: Counter,
    /// Polls after which the task had ended, waited, or was to run again.
    pub(crate) done: Counter,
    pub(crate) waits: Counter,
    pub(crate) again: Counter,
    /// Tasks cancelled in the queues of this worker at shutdown.
    pub(crate) drained: Counter,
    pub(crate) lifo_hits: Counter,
    pub(crate) injected: Counter,
    pub(crate) stolen: Counter,
    pub(crate) steals: Counter,
    pub(crate) failed_searches: Counter,
    /// Fork-join jobs run here that were taken from a queue, and those of them from another
    /// worker's.
    pub(crate) jobs: Counter,
    pub(crate) stolen_jobs: Counter,
    pub(crate) overflows: Counter,
    pub(crate) budget_yields: SharedCounter,
    /// Odd while it is parked.
    pub(crate) parks_and_unparks: Counter,
    pub(crate) wakeups: Counter,
    pub(crate) noops: Counter,
    /// In nanoseconds, or 0 until the pace has measured it.
    pub(crate) mean_poll_time: Counter,
    polls_at_park: Counter,
    busy: Busy,
    /// How often the worker was stuck and lost its seat. This is the only counter that another
    /// thread writes; it has a cache line of its own.
    pub(crate) seat_losses: CachePadded<SharedCounter>,
    /// Durations of polls, if the histogram is enabled.
    pub(crate) poll_times: Option<Histogram>,
    /// The thread that runs the worker, or ran it last.
    thread: Mutex<Option<ThreadId>>,
}

impl Deref for WorkerCounters {
    type Target = Counters;

    #[inline(always)]
    fn deref(&self) -> &Counters {
        &self.0
    }
}

impl WorkerCounters {
    /// Creates counters, with a histogram of poll times if it is enabled.
    pub(crate) fn new(poll_times: Option<&HistogramConfiguration>) -> Self {
        let poll_times = poll_times.map(Histogram::new);
        WorkerCounters(CachePadded::new(Counters { poll_times, ..Counters::default() }))
    }

    /// Notes that the calling thread runs the worker, until another thread calls this.
    pub(crate) fn run_by_this_thread(&self) {
        *self.lock_thread() = Some(thread::current().id());
    }

    /// Notes that the calling thread runs the worker while the returned guard exists.
    pub(crate) fn run_here(&self, now: Clock) -> OnThread<'_> {
        self.busy.begin(now);
        OnThread { counters: self, _counting: count_at(&self.budget_yields) }
    }
}

/// A guard: a thread runs the worker.
pub(crate) struct OnThread<'a> {
    counters: &'a WorkerCounters,
    _counting: Counting<'a>,
}

impl Drop for OnThread<'_> {
    fn drop(&mut self) {
        self.counters.busy.end(Clock::now());
    }
}

/// For the worker.
impl Counters {
    /// Counts a theft of this many tasks.
    pub(crate) fn stole(&self, tasks: usize) {
        self.steals.add(1);
        self.stolen.add(tasks as u64);
    }

    /// Called when the worker goes to sleep.
    pub(crate) fn parks(&self, now: Clock) {
        self.busy.end(now);
        let polls = self.polls();
        if self.parks_and_unparks.get() > 0 && polls == self.polls_at_park.get() {
            self.noops.add(1);
        }
        self.polls_at_park.set(polls);
        self.parks_and_unparks.add(1);
    }

    /// Called when the worker wakes up, woken by another thread or by itself.
    pub(crate) fn unparked(&self, now: Clock, by_itself: bool) {
        self.busy.begin(now);
        self.parks_and_unparks.add(1);
        self.wakeups.add(u64::from(!by_itself));
    }
}

/// For readers.
impl Counters {
    pub(crate) fn polls(&self) -> u64 {
        self.done.get() + self.waits.get() + self.again.get()
    }

    /// Tasks that this worker made runnable in its own queues.
    pub(crate) fn local_schedules(&self) -> u64 {
        self.spawned.get() + self.woken.get() + self.again.get()
    }

    pub(crate) fn ended(&self) -> u64 {
        self.done.get() + self.drained.get()
    }

    pub(crate) fn parks_so_far(&self) -> u64 {
        self.parks_and_unparks.get().div_ceil(2)
    }

    /// Whether a thread runs it and it is awake.
    pub(crate) fn is_awake(&self) -> bool {
        self.busy.is_going_on()
    }

    pub(crate) fn busy_time(&self) -> Duration {
        self.busy.total()
    }

    /// The mean as measured by the pace. A worker without a measurement has had few polls.
    pub(crate) fn mean_poll(&self) -> Duration {
        match (self.mean_poll_time.get(), self.polls()) {
            (0, 0) => Duration::ZERO,
            (0, polls) => {
                let nanos = self.busy_time().as_nanos() / u128::from(polls);
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
            (nanos, _) => Duration::from_nanos(nanos),
        }
    }

    pub(crate) fn thread(&self) -> Option<ThreadId> {
        *self.lock_thread()
    }

    fn lock_thread(&self) -> MutexGuard<'_, Option<ThreadId>> {
        // Nothing panics with the lock held.
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
