//! Statistics of single tasks, for the console.
//!
//! A runtime with a console has a tracker. Each of its tasks, up to a limit, shares a [`Stats`]
//! with the tracker's table, where clients find the statistics without touching the task. Tasks of
//! other runtimes pay one branch when they are spawned.

mod histogram;
mod stats;

pub(crate) use histogram::{Histogram, limit_of};
pub(crate) use stats::{Stats, TaskState, View};

use super::Id;
use super::cell::Ran;
use crate::env::Clock;
use crate::tuning::{COUNTER_BLOCK, SHARDS, SHORT_WORK};
use slab::Slab;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whether any runtime of this process has ever had a tracker.
static IS_ANYWHERE: AtomicBool = AtomicBool::new(false);

/// Whether a runtime may have a tracker. Ordinary programs check nothing else.
#[inline(always)]
pub(crate) fn is_anywhere() -> bool {
    // Relaxed: a thread that has a runtime with a tracker has seen it built.
    IS_ANYWHERE.load(Ordering::Relaxed)
}

/// The tasks of a runtime and their statistics.
pub(crate) struct Tracker {
    shards: [Mutex<Slab<Arc<Stats>>>; SHARDS],
    count: AtomicUsize,
    limit: usize,
    /// Whether there have ever been more tasks than `limit`.
    was_full: AtomicBool,
    epoch: Clock,
    pub(crate) poll_times: Histogram,
    pub(crate) delays: Histogram,
}

impl Tracker {
    /// Creates a tracker of at most `limit` tasks at the same time.
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        IS_ANYWHERE.store(true, Ordering::Relaxed);
        Arc::new(Tracker {
            shards: std::array::from_fn(|_| Mutex::new(Slab::new())),
            count: AtomicUsize::new(0),
            limit,
            was_full: AtomicBool::new(false),
            epoch: Clock::now(),
            poll_times: Histogram::new(),
            delays: Histogram::new(),
        })
    }

    /// Adds a new task. Returns `None` if the limit is reached.
    pub(super) fn track(
        self: &Arc<Self>,
        id: Id,
        spawned_at: &'static Location<'static>,
        name: Option<Arc<str>>,
    ) -> Option<Tracked> {
        // Relaxed here and below: this only limits memory.
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.limit {
            self.count.fetch_sub(1, Ordering::Relaxed);
            self.was_full.store(true, Ordering::Relaxed);
            return None;
        }
        let mut shard = self.shard(shard_of(id));
        let entry = shard.vacant_entry();
        let place = entry.key();
        let stats = Arc::new(Stats::new(Arc::clone(self), place, id, spawned_at, name));
        entry.insert(Arc::clone(&stats));
        Some(Tracked(stats))
    }

    /// The number of tasks that are tracked.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed).min(self.limit)
    }

    /// Whether there have ever been more tasks than the limit.
    pub(crate) fn was_full(&self) -> bool {
        self.was_full.load(Ordering::Relaxed)
    }

    /// Calls `each` for all tracked tasks. It locks a shard for a few entries at a time, so that it
    /// delays no task for long, and calls `each` without a lock.
    pub(crate) fn for_each(&self, mut each: impl FnMut(Arc<Stats>)) {
        let mut some = Vec::with_capacity(SHORT_WORK);
        for shard in 0..SHARDS {
            let mut place = 0;
            while place < self.shard(shard).capacity() {
                let places = place..place + SHORT_WORK;
                let table = self.shard(shard);
                some.extend(places.filter_map(|place| table.get(place).cloned()));
                drop(table);
                some.drain(..).for_each(&mut each);
                place += SHORT_WORK;
            }
        }
    }

    pub(crate) fn now(&self) -> u64 {
        u64::try_from(Clock::now().since(self.epoch).as_nanos()).unwrap_or(u64::MAX)
    }

    fn remove(&self, id: Id, place: usize) {
        let removed = self.shard(shard_of(id)).try_remove(place);
        self.count.fetch_sub(1, Ordering::Relaxed);
        debug_assert!(removed.is_some_and(|stats| stats.id == id), "each has a place to itself");
    }

    fn shard(&self, index: usize) -> MutexGuard<'_, Slab<Arc<Stats>>> {
        // Nothing panics with the lock held.
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread takes ids in blocks, and all ids of a block are in one shard, so threads that spawn at
/// the same time rarely share a lock, and a reader of one shard delays few of them.
fn shard_of(task: Id) -> usize {
    (task.number().get() / COUNTER_BLOCK) as usize % SHARDS
}

impl std::fmt::Debug for Tracker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tracker").field("count", &self.count()).finish_non_exhaustive()
    }
}

/// A task's share of its statistics. Their entry leaves the table when the task ends or, at the
/// latest, when this is dropped.
pub(super) struct Tracked(Arc<Stats>);

impl Tracked {
    pub(super) fn share(&self) -> Arc<Stats> {
        Arc::clone(&self.0)
    }

    pub(super) fn woken(&self) {
        self.0.woken();
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.0.end();
    }
}
