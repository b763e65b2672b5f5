//! Stealing: whether a worker searches, at which others it looks (W6, F1), and when it leaves them
//! alone.
//! A search takes no lock (I6).

mod thefts;

use super::Worker;
use crate::env::{Backoff, Rng};
use crate::scheduler::jobs::{Job, Origin};
use crate::scheduler::shared::{Runnable, Shared};
use crate::trace::{EventKind, PollSource};
use heist_deque::ring;
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;
use thefts::Thefts;

/// Number of rounds of a search, as the protocol says (W6).
const ROUNDS: usize = 4;

/// What a search has found.
pub(in crate::scheduler) enum Found {
    /// And where it was.
    Task(Runnable, PollSource),
    Job(Job, Origin),
}

/// How a worker looks at the others.
pub(in crate::scheduler) struct Search {
    /// Whether the worker counts as searching (I2), unless it has stepped aside. Its tick is odd
    /// then.
    is_on: Cell<bool>,
    victims: RefCell<Victims>,
    /// How long it waits awake before it parks.
    awake: Backoff,
    thefts: Thefts,
}

impl Search {
    pub(super) fn new(seed: u64) -> Self {
        Search {
            is_on: Cell::new(false),
            victims: RefCell::new(Victims::new(seed)),
            awake: Backoff::default(),
            thefts: Thefts::new(),
        }
    }

    /// Whether the worker counts as searching.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// The worker has been counted as searching, by itself or by the thread that woke it.
    pub(super) fn counted(&self) {
        self.is_on.set(true);
    }

    /// The worker stops searching. Returns whether it did; the caller takes it out of the count.
    #[inline]
    pub(super) fn end(&self) -> bool {
        self.is_on.take()
    }

    /// The workers that it looks at depend on this from now on.
    #[cfg(all(test, not(loom)))]
    pub(super) fn reseed(&self, seed: u64) {
        self.victims.replace(Victims::new(seed));
    }
}

impl Worker {
    /// Something was found. A searcher stops searching, and the last one has another begin (I2).
    #[inline]
    pub(in crate::scheduler) fn found(&self) {
        if self.search.end() {
            self.next_tick();
            self.me.scheduler.stop_search();
        }
    }

    /// Looks at the others, unless enough others do that already.
    pub(in crate::scheduler) fn search_others(&self) -> Option<Found> {
        let shared = &self.me.scheduler;
        if self.is_per_core() {
            return None;
        }
        if !self.search.is_on() {
            if !shared.idle.start_search() {
                return None;
            }
            self.search.counted();
            shared.nudge();
        }
        let takes_jobs = self.takes_jobs();
        let victims = &mut *self.search.victims.borrow_mut();
        let search = |ring: &mut _| victims.search(shared, self.me.index, ring, takes_jobs);
        let found = self.queues.with_ring(search);
        if let Some(Found::Task(_, PollSource::Stolen)) = found {
            self.queues.stole(&self.me);
        }
        found
    }

    /// Takes tasks that wait behind a poll that does not end: a busy worker does this now and then.
    pub(super) fn help_a_neighbour(&self) {
        if self.is_per_core() {
            return;
        }
        let (shared, victims) = (&self.me.scheduler, &mut *self.search.victims.borrow_mut());
        let task = self.queues.with_ring(|ring| victims.help(shared, self.me.index, ring));
        if let Some(task) = task {
            self.push(task);
        }
    }

    /// Some other worker that has jobs, if there is one.
    pub(super) fn any_with_jobs(&self) -> Option<usize> {
        let (me, victims) = (&self.me, &mut *self.search.victims.borrow_mut());
        victims.any_with_jobs(me.index, &me.scheduler)
    }

    /// A searcher that has found nothing waits awake before it sleeps: what comes now costs no
    /// thread a wake-up. Returns whether something has come. On a borrowed seat it would wait on a
    /// core that others use.
    pub(in crate::scheduler) fn finds_while_waiting(&self) -> bool {
        let has_others = self.me.scheduler.remotes.count() > 1;
        if !self.search.is_on() || !has_others || !self.takes_jobs() {
            return false;
        }
        while self.search.awake.pause(|| false) {
            if self.me.scheduler.has_work() || self.me.remote().has_own() {
                self.search.awake.succeed();
                return true;
            }
        }
        false
    }
}

/// The workers that a worker looks at.
struct Victims {
    rng: Rng,
    /// The tick of each worker after the first round.
    ticks: Vec<u32>,
    /// The worker that a busy worker looks after, and that one's tick at the last look.
    neighbour: (usize, u32),
}

impl Victims {
    fn new(seed: u64) -> Self {
        Victims { rng: Rng::new(seed), ticks: Vec::new(), neighbour: (0, 1) }
    }

    /// Looks at every other worker, up to four times, each time from a random start and in a
    /// random direction, and at the queues that all share.
    ///
    /// Takes from LIFO slots in the last round only, and only from a worker that is still in the
    /// poll that it was in after the first round: any other will run what is there next. (The first
    /// round mostly finds something. It does not read what workers write in each step.)
    fn search(
        &mut self,
        shared: &Shared,
        index: usize,
        ring: &mut ring::Owner<Runnable>,
        takes_jobs: bool,
    ) -> Option<Found> {
        let workers = shared.remotes.count();
        // A worker that is alone has seen everything after one round.
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
            let job = if takes_jobs { self.steal_job(shared, index) } else { None };
            if let Some((job, origin)) = job {
                return Some(Found::Job(job, origin));
            }
        }
        shared.remotes[index].counters.failed_searches.add(1);
        shared.remotes[index].scribe.iter().for_each(|scribe| scribe.search_failed());
        None
    }

    /// Takes a job of another worker, or from outside.
    fn steal_job(&mut self, shared: &Shared, index: usize) -> Option<(Job, Origin)> {
        let mut victims = self.order(shared.remotes.count()).filter(|victim| *victim != index);
        let steal = |victim: usize| {
            let job = shared.remotes[victim].jobs.steal().success()?;
            Some((job, Origin::Stolen(victim)))
        };
        victims.find_map(steal).or_else(|| shared.jobs.pop())
    }

    /// Looks at one other worker. If that has been in one poll since the last look, its tasks wait
    /// for a poll that takes long, or for a core: takes half of them, or the one in its slot (F1,
    /// L1). Otherwise chooses another worker for the next look.
    fn help(
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
        // Also if it is stuck and has nothing: it may stay stuck forever, and another has
        // something.
        let next = self.rng.below(workers);
        self.neighbour = (next, shared.remotes[next].own.tick.load(Ordering::Relaxed));
        None
    }

    /// Some other worker that has jobs, if there is one.
    fn any_with_jobs(&mut self, index: usize, shared: &Shared) -> Option<usize> {
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
            let mut victims = Victims::new(7);
            let mut orders = std::collections::HashSet::new();
            for _ in 0..200 {
                let order: Vec<usize> = victims.order(workers).collect();
                let mut seen = order.clone();
                seen.sort_unstable();
                assert_eq!(seen, (0..workers).collect::<Vec<_>>());
                orders.insert(order);
            }
            assert_eq!(orders.len(), 2 * workers);
        }
    }
}
