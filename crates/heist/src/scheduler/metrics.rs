//! The state of workers, and sums of their counters (M1).

use super::pinned::PinnedInbox;
use super::shared::{Scheduler, Shared};
use crate::metrics::WorkerCounters;
use crate::task::Id;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// What a worker is doing at a given moment; see
/// [`RuntimeMetrics::worker_state`](crate::runtime::RuntimeMetrics::worker_state).
///
/// # Examples
///
/// ```
/// use heist::runtime::{Builder, WorkerState};
///
/// let rt = Builder::new_current_thread().build().unwrap();
/// // No thread runs the worker outside of `block_on`.
/// assert_eq!(rt.metrics().worker_state(0), WorkerState::Parked);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WorkerState {
    /// It has its seat and runs a task or a job.
    Busy,
    /// It has its seat and searches for something to run.
    Idle,
    /// It sleeps, either because there is nothing to do or until it gets its seat back. Also the
    /// state of a worker that no thread runs.
    Parked,
    /// It is in the middle of a poll without its seat: it was stuck and has lost the seat, or it
    /// has stepped aside to block, as in [`block_in_place`](crate::task::block_in_place).
    Blocked,
}

impl Shared {
    pub(crate) fn workers(&self) -> usize {
        self.remotes.seats()
    }

    /// What one worker has counted; `None` if there is no such worker.
    pub(crate) fn worker_counters(&self, index: usize) -> Option<&WorkerCounters> {
        self.remotes.base().nth(index).map(|remote| &*remote.counters)
    }

    /// How many tasks wait in a worker's own queues. The worker is one of those there are.
    pub(crate) fn worker_queue_depth(&self, index: usize) -> usize {
        let remote = &self.remotes[index];
        remote.stealer.len() + usize::from(remote.own.lifo.has_task()) + remote.pinned.depth()
    }

    /// How many jobs wait in a worker's deque. The worker is one of those there are.
    pub(crate) fn worker_job_depth(&self, index: usize) -> usize {
        self.remotes[index].jobs.len()
    }

    /// How many workers there are now, spares included that may have something in their queues.
    pub(crate) fn workers_and_spares(&self) -> usize {
        self.remotes.count()
    }

    /// How many workers there have ever been.
    pub(crate) fn workers_ever(&self) -> usize {
        self.remotes.all().count()
    }

    /// What a worker has counted, a spare too. The worker is one of those there are.
    pub(crate) fn counters_of(&self, index: usize) -> &WorkerCounters {
        &self.remotes[index].counters
    }

    /// On which seat a worker sits.
    pub(crate) fn worker_seat(&self, index: usize) -> Option<usize> {
        self.seats.iter().position(|seat| seat.holder() == Some(index))
    }

    /// What a worker does, if it sits on this seat, or on none.
    pub(crate) fn worker_state(&self, index: usize, seat: Option<usize>) -> WorkerState {
        let remote = &self.remotes[index];
        // Even while it runs something; see Own::tick.
        let is_running = remote.own.tick.load(Ordering::Relaxed) % 2 == 0;
        match (seat, is_running) {
            _ if !remote.counters.is_awake() => WorkerState::Parked,
            (Some(_), true) => WorkerState::Busy,
            (Some(_), false) => WorkerState::Idle,
            (None, true) => WorkerState::Blocked,
            (None, false) => WorkerState::Parked,
        }
    }

    /// The task that a worker runs, or ran last, if that was a task.
    pub(crate) fn worker_task(&self, index: usize) -> Option<(Id, &'static Location<'static>)> {
        self.remotes[index].own.running.get()
    }

    /// Where the task was spawned that a worker runs, or ran last; `None` if there is no such
    /// worker.
    pub(crate) fn task_of(&self, worker: usize) -> Option<&'static Location<'static>> {
        self.remotes.base().nth(worker)?.own.running.get().map(|(_, spawned_at)| spawned_at)
    }

    /// How many tasks were spawned, by workers and by others.
    pub(crate) fn spawned(&self) -> u64 {
        self.sum(|counters| counters.spawned.get())
            + self.inject.spawned()
            + self.late_spawns.get()
            + self.sum_lanes(PinnedInbox::spawned)
    }

    /// How many of them have ended: those that workers ran to their end or found in their queues at
    /// the end, and those that were cancelled where they waited.
    pub(crate) fn ended(&self) -> u64 {
        self.sum(|counters| counters.ended()) + self.cancelled.get() + self.waiting.cancelled()
    }

    /// How many tasks were spawned or woken by threads that are no workers.
    pub(crate) fn remote_schedules(&self) -> u64 {
        self.inject.pushed() + self.sum_lanes(PinnedInbox::pushed)
    }

    pub(crate) fn budget_forced_yields(&self) -> u64 {
        self.sum(|counters| counters.budget_yields.get()) + self.outside_budget_yields.get()
    }

    fn sum_lanes(&self, count: impl Fn(&PinnedInbox<Scheduler>) -> u64) -> u64 {
        self.remotes.base().map(|remote| count(&remote.pinned)).sum()
    }

    fn sum(&self, count: impl Fn(&WorkerCounters) -> u64) -> u64 {
        self.remotes.all().map(|remote| count(&remote.counters)).sum()
    }
}
