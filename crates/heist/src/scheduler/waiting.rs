//! The tasks that wait for a wake-up.
//!
//! A runtime that goes down drops every future it still holds. It finds queued tasks in the queues,
//! and cancels running tasks when their poll returns. The others wait, and only wakers refer to
//! them: so they are kept here too. A task comes here when it waits for the first time, and leaves
//! when it ends. A task that never waits never comes.

use crate::env::this_thread;
use crate::metrics::SharedCounter;
use crate::task::TaskRef;
use crate::tuning::SHARDS;
use crossbeam_utils::CachePadded;
use slab::Slab;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct Waiting {
    shards: [CachePadded<Mutex<Shard>>; SHARDS],
    cancelled: SharedCounter,
}

#[derive(Default)]
struct Shard {
    tasks: Slab<TaskRef>,
    /// After the close, the tasks that are still to be cancelled.
    left: Option<slab::IntoIter<TaskRef>>,
    is_closed: bool,
}

impl Waiting {
    pub(super) fn new() -> Self {
        let shard = || Mutex::new(Shard::default());
        Waiting {
            shards: std::array::from_fn(|_| CachePadded::new(shard())),
            cancelled: SharedCounter::default(),
        }
    }

    /// Keeps a task; `None`, and the task's reference forgotten, when the runtime is down.
    pub(super) fn adopt(&self, task: TaskRef) -> Option<usize> {
        // Each thread has a shard of its own, as far as there are enough.
        let number = this_thread() as usize % SHARDS;
        let mut shard = self.lock(number);
        if shard.is_closed {
            task.forget();
            return None;
        }
        Some(shard.tasks.insert(task) * SHARDS + number)
    }

    /// Lets a task go. `false` if it was not here any more; else its reference is the caller's.
    pub(super) fn release(&self, key: usize) -> bool {
        let task = self.lock(key % SHARDS).tasks.try_remove(key / SHARDS);
        task.map(TaskRef::forget).is_some()
    }

    /// Takes no more tasks. Those that are here are left to [`cancel_next`](Self::cancel_next).
    pub(super) fn close(&self) {
        for number in 0..SHARDS {
            let mut shard = self.lock(number);
            if !shard.is_closed {
                shard.is_closed = true;
                shard.left = Some(std::mem::take(&mut shard.tasks).into_iter());
            }
        }
    }

    /// After the close: cancels one of the tasks that are left; `false` if none is. Any number of
    /// threads may do so at the same time. The future is dropped outside of the lock: it may do
    /// anything.
    pub(super) fn cancel_next(&self) -> bool {
        let Some(task) = (0..SHARDS).find_map(|number| self.lock(number).next_left()) else {
            return false;
        };
        let is_cancelled = task.shut_down();
        self.cancelled.add(u64::from(is_cancelled));
        true
    }

    /// How many tasks are left to be cancelled.
    pub(super) fn left(&self) -> usize {
        let left = |number| self.lock(number).left.as_ref().map_or(0, ExactSizeIterator::len);
        (0..SHARDS).map(left).sum()
    }

    /// How many tasks were cancelled here (M1).
    pub(super) fn cancelled(&self) -> u64 {
        self.cancelled.get()
    }

    fn lock(&self, number: usize) -> MutexGuard<'_, Shard> {
        // Nothing in here panics with the lock held; a poisoned one is as good as any.
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn next_left(&mut self) -> Option<TaskRef> {
        let next = self.left.as_mut()?.next();
        if next.is_none() {
            self.left = None;
        }
        next.map(|(_, task)| task)
    }
}
