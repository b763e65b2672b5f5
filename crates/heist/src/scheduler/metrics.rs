//! The sums of what is counted here and there (M1).

use super::pinned::Lane;
use super::shared::{Scheduler, Shared};
use crate::metrics::WorkerCounters;
use std::panic::Location;

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
        remote.stealer.len() + usize::from(remote.own.lifo.has_task()) + remote.lane.depth()
    }

    /// Where the task was spawned that a worker runs, or ran last; `None` if there is no such worker.
    pub(crate) fn task_of(&self, worker: usize) -> Option<&'static Location<'static>> {
        self.remotes.base().nth(worker)?.own.running.get().map(|(_, spawned_at)| spawned_at)
    }

    /// How many tasks were spawned, by workers and by others.
    pub(crate) fn spawned(&self) -> u64 {
        self.sum(|counters| counters.spawned.get())
            + self.inject.spawned()
            + self.sum_lanes(Lane::spawned)
    }

    /// How many of them have ended: those that workers ran to their end or found in their queues at
    /// the end, and those that were cancelled where they waited.
    pub(crate) fn ended(&self) -> u64 {
        self.sum(|counters| counters.ended())
            + self.cancelled.get()
            + self.inject.cancelled()
            + self.waiting.cancelled()
    }

    /// How many tasks were spawned or woken by threads that are no workers.
    pub(crate) fn remote_schedules(&self) -> u64 {
        self.inject.pushed() + self.sum_lanes(Lane::pushed)
    }

    pub(crate) fn budget_forced_yields(&self) -> u64 {
        self.sum(|counters| counters.budget_yields.get()) + self.outside.budget_yields.get()
    }

    fn sum_lanes(&self, count: impl Fn(&Lane<Scheduler>) -> u64) -> u64 {
        self.remotes.base().map(|remote| count(&remote.lane)).sum()
    }

    fn sum(&self, count: impl Fn(&WorkerCounters) -> u64) -> u64 {
        self.remotes.all().map(|remote| count(&remote.counters)).sum()
    }
}
