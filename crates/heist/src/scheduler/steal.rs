//! Looking at the others (W6, F1), without a lock (I6).

use super::jobs::{Job, Origin};
use super::shared::{Runnable, Shared};
use crate::env::Rng;
use crate::trace::{EventKind, PollSource};
use heist_deque::ring;
use std::sync::atomic::Ordering;

/// A search goes round so many times (W6).
const ROUNDS: usize = 4;

/// What a search has found.
pub(super) enum Found {
    /// And where it was.
    Task(Runnable, PollSource),
    Job(Job, Origin),
}

/// A worker's looks at the others.
pub(super) struct Search {
    rng: Rng,
    /// Where each worker's tick stood after the first round.
    ticks: Vec<u32>,
    /// Whom a busy worker looks after, and where that one's tick stood the last time.
    neighbour: (usize, u32),
}

impl Search {
    pub(super) fn new(seed: u64) -> Self {
        Search { rng: Rng::new(seed), ticks: Vec::new(), neighbour: (0, 1) }
    }

    /// Looks at every other worker, up to four times, each time from a random start and in a
    /// random direction, and at the queues that all share.
    ///
    /// LIFO slots are looked at in the last round only, and only of a worker that is still in the
    /// poll that it was in after the first: any other will run what is there next. (The first round,
    /// which mostly finds something, leaves what workers write in each step alone.)
    pub(super) fn search(
        &mut self,
        shared: &Shared,
        index: usize,
        ring: &mut ring::Owner<Runnable>,
        takes_jobs: bool,
    ) -> Option<Found> {
        let workers = shared.remotes.count();
        // Who is alone has seen all there is after one.
        let rounds = if workers == 1 { 1 } else { ROUNDS };
        for round in 0..rounds {
            if round == 1 {
                self.note_ticks(shared, workers);
            }
            for victim in self.order(workers).filter(|victim| *victim != index) {
                let remote = &shared.remotes[victim];
                if let Some((task, count)) = remote.stealer.steal_into_counted(ring).success() {
                    shared.stole(index, victim, count);
                    return Some(Found::Task(task, PollSource::Stolen));
                }
                let is_stuck = || remote.own.is_stuck_since(self.ticks[victim]);
                if round == ROUNDS - 1 && is_stuck() {
                    if let Some(task) = remote.own.steal_lifo() {
                        shared.stole(index, victim, 1);
                        return Some(Found::Task(task, PollSource::Stolen));
                    }
                }
            }
            if let Some(task) = shared.inject.pop_batch(index, |_| 1, |_| {}) {
                shared.remotes[index].counters.injected.add(1);
                shared.record(|| EventKind::InjectBatch { tasks: 1 });
                return Some(Found::Task(task, PollSource::Inject));
            }
            if let Some((job, origin)) = takes_jobs.then(|| self.find_job(shared, index)).flatten()
            {
                return Some(Found::Job(job, origin));
            }
        }
        shared.remotes[index].counters.failed_searches.add(1);
        shared.remotes[index].scribe.iter().for_each(|scribe| scribe.search_failed());
        None
    }

    /// Of another worker, or from outside.
    fn find_job(&mut self, shared: &Shared, index: usize) -> Option<(Job, Origin)> {
        let mut victims = self.order(shared.remotes.count()).filter(|victim| *victim != index);
        let steal = |victim: usize| {
            let job = shared.remotes[victim].jobs.steal().success()?;
            Some((job, Origin::Stolen(victim)))
        };
        victims.find_map(steal).or_else(|| shared.jobs.pop())
    }

    /// A busy worker looks, now and then, at one other. If that has been in one poll since the last time, its
    /// tasks wait for a poll that takes long, or for a core: half of them are taken, or the one in its slot
    /// (F1, L1). Else it is somebody else's turn to be looked at.
    pub(super) fn help(
        &mut self,
        shared: &Shared,
        index: usize,
        ring: &mut ring::Owner<Runnable>,
    ) -> Option<Runnable> {
        let (victim, tick) = self.neighbour;
        let workers = shared.remotes.count();
        if victim < workers && victim != index {
            let remote = &shared.remotes[victim];
            if remote.own.is_stuck_since(tick) {
                let stolen = remote.stealer.steal_into_counted(ring).success();
                let in_slot = || remote.own.steal_lifo().map(|task| (task, 1));
                if let Some((task, count)) = stolen.or_else(in_slot) {
                    shared.stole(index, victim, count);
                    return Some(task);
                }
            }
        }
        // Also if it is stuck and has nothing: it may be so for ever, and another one has something.
        let next = self.rng.below(workers);
        self.neighbour = (next, shared.remotes[next].own.tick.load(Ordering::Relaxed));
        None
    }

    /// Some other worker that has jobs, if there is one.
    pub(super) fn anybody_with_jobs(&mut self, index: usize, shared: &Shared) -> Option<usize> {
        let mut others = self.order(shared.remotes.count()).filter(|victim| *victim != index);
        others.find(|victim| !shared.remotes[*victim].jobs.is_empty())
    }

    fn note_ticks(&mut self, shared: &Shared, workers: usize) {
        self.ticks.clear();
        let tick = |worker: usize| shared.remotes[worker].own.tick.load(Ordering::Relaxed);
        self.ticks.extend((0..workers).map(tick));
    }

    /// All workers, from a random one on, upwards or downwards: each is reached (F1).
    fn order(&mut self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let start = self.rng.below(count);
        let step = if self.rng.next() & 1 == 0 { 1 } else { count - 1 };
        (0..count).map(move |offset| (start + offset * step) % count)
    }
}

impl Shared {
    /// One worker has taken tasks from another.
    fn stole(&self, thief: usize, victim: usize, tasks: usize) {
        let remote = &self.remotes[thief];
        remote.counters.stole(tasks);
        if let Some(scribe) = &remote.scribe {
            scribe.record(EventKind::Steal { victim: victim as u16, tasks: tasks as u32 });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// F1: every round reaches every worker once; it may begin with any, and go either way.
    #[test]
    fn f1_every_worker_is_reached() {
        for workers in [3, 4, 5, 6] {
            let mut search = Search::new(7);
            let mut orders = std::collections::HashSet::new();
            for _ in 0..200 {
                let order: Vec<usize> = search.order(workers).collect();
                let mut seen = order.clone();
                seen.sort_unstable();
                assert_eq!(seen, (0..workers).collect::<Vec<_>>());
                orders.insert(order);
            }
            assert_eq!(orders.len(), 2 * workers);
        }
    }
}
