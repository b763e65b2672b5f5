//! The inject queue: for tasks from outside the workers, and for what overflows (Q8).
//!
//! Each group of producer threads has a list behind a lock of its own, which is held for a few
//! instructions. A thread always uses the same list, so that its tasks stay in order, and threads
//! that spawn at the same time rarely meet. Workers take batches: up to half a ring of tasks under
//! one lock. `inject/README.md` specifies the protocol.

use crate::canary;
use crate::metrics::Counter;
use crate::task::{Notified, Schedule, TaskList};
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

pub(super) struct Inject<S: Schedule> {
    shards: Box<[CachePadded<Shard<S>>]>,
}

/// The queue is closed. The task must be dropped without a lock held; that cancels it.
pub(super) struct Closed<S: Schedule>(pub(super) Notified<S>);

struct Shard<S: Schedule> {
    /// The length of the list, written with the lock held and read without it.
    len: AtomicUsize,
    /// Tasks that came one by one, and those of them that were new (M1). Written with the lock.
    pushed: Counter,
    spawned: Counter,
    list: Mutex<List<S>>,
}

struct List<S: Schedule> {
    tasks: TaskList<S>,
    is_closed: bool,
}

impl<S: Schedule> Inject<S> {
    pub(super) fn new(shards: usize) -> Self {
        let shard = || Shard {
            len: AtomicUsize::new(0),
            pushed: Counter::default(),
            spawned: Counter::default(),
            list: Mutex::new(List { tasks: TaskList::new(), is_closed: false }),
        };
        let shards = (0..shards.max(1)).map(|_| CachePadded::new(shard())).collect();
        Inject { shards }
    }

    /// Appends a task to the list of the calling thread. Returns it if the queue is closed.
    pub(super) fn push(&self, producer: usize, task: Notified<S>) -> Result<(), Closed<S>> {
        self.append(producer, task, false)
    }

    /// Like [`push`](Self::push), for a task that is new. One that comes too late never counts.
    pub(super) fn spawn(&self, producer: usize, task: Notified<S>) -> Result<(), Closed<S>> {
        self.append(producer, task, true)
    }

    #[inline]
    fn append(&self, producer: usize, task: Notified<S>, is_new: bool) -> Result<(), Closed<S>> {
        let shard = &self.shards[producer % self.shards.len()];
        let mut list = shard.lock();
        if list.is_closed && !canary::INJECT_CLOSE_UNSEEN.sings() {
            return Err(Closed(task));
        }
        list.tasks.push(task);
        shard.pushed.add(1);
        shard.spawned.add(u64::from(is_new));
        shard.publish(list);
        Ok(())
    }

    /// Appends all of `tasks` in one go. After the queue was closed they stay where they are.
    pub(super) fn push_batch(&self, producer: usize, tasks: &mut TaskList<S>) {
        let shard = &self.shards[producer % self.shards.len()];
        let mut list = shard.lock();
        if !list.is_closed {
            list.tasks.append(tasks);
            shard.publish(list);
        }
    }

    /// Takes up to `most(len)` tasks from one list, the first one that has any, beginning with
    /// number `first`: one task to run, the others through `put`. What that does not take stays
    /// where it is.
    pub(super) fn pop_batch(
        &self,
        first: usize,
        most: impl Fn(usize) -> usize,
        put: impl FnOnce(&mut Batch<'_, S>),
    ) -> Option<Notified<S>> {
        for offset in 0..self.shards.len() {
            let shard = &self.shards[(first + offset) % self.shards.len()];
            if shard.len() == 0 {
                continue;
            }
            let mut list = shard.lock();
            let Some(task) = list.tasks.pop() else { continue };
            let more = most(list.tasks.len() + 1).saturating_sub(1);
            let mut batch = Batch { shard, list: Some(list), more };
            put(&mut batch);
            batch.list.into_iter().for_each(|list| shard.publish(list));
            return Some(task);
        }
        None
    }

    /// How many tasks wait here; a snapshot.
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.len()).sum()
    }

    /// How many tasks were pushed one by one, and how many of them were new (M1).
    pub(super) fn pushed(&self) -> u64 {
        self.shards.iter().map(|shard| shard.pushed.get()).sum()
    }

    pub(super) fn spawned(&self) -> u64 {
        self.shards.iter().map(|shard| shard.spawned.get()).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| shard.len() == 0)
    }

    /// Closes the queue, and returns its tasks.
    #[must_use = "the tasks have to be cancelled"]
    pub(super) fn close(&self) -> TaskList<S> {
        let mut tasks = TaskList::new();
        for shard in &self.shards {
            let mut list = shard.lock();
            list.is_closed = true;
            tasks.append(&mut list.tasks);
            shard.publish(list);
        }
        tasks
    }
}

/// What a worker may take besides, with the lock of the list held.
pub(super) struct Batch<'a, S: Schedule> {
    shard: &'a Shard<S>,
    /// Always there; given back in between by the canary.
    list: Option<MutexGuard<'a, List<S>>>,
    /// How many more.
    more: usize,
}

impl<S: Schedule> Iterator for Batch<'_, S> {
    type Item = Notified<S>;

    #[inline]
    fn next(&mut self) -> Option<Notified<S>> {
        self.more = self.more.checked_sub(1)?;
        if canary::INJECT_LOCK_PER_TASK.sings() {
            self.list = None;
            self.list = Some(self.shard.lock());
        }
        self.list.as_mut()?.tasks.pop()
    }
}

impl<S: Schedule> Shard<S> {
    fn lock(&self) -> MutexGuard<'_, List<S>> {
        // Nothing panics with the lock held.
        self.list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn len(&self) -> usize {
        // Relaxed: the barriers in `idle` make it visible in time; the tasks themselves are behind
        // the lock.
        self.len.load(Ordering::Relaxed)
    }

    /// Writes the length, and gives the lock back only then: lengths are written in the order in
    /// which the list was changed.
    fn publish(&self, list: MutexGuard<'_, List<S>>) {
        let len = list.tasks.len();
        let mut list = Some(list);
        if canary::INJECT_LENGTH_UNLOCKED.sings() {
            list = None;
        }
        self.len.store(len, Ordering::Relaxed);
        drop(list);
    }
}
