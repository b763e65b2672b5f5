//! The tasks that wait for a wake-up.
//!
//! A runtime that goes down drops every future it still holds. It finds queued tasks in the queues,
//! and cancels running tasks when their poll returns. The others wait, and only wakers refer to
//! them. So this list does too. A task enters it when it waits for the first time, and leaves it
//! when it ends. A task that never waits never enters it.

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

    /// Keeps a task, and returns its place. If the runtime is down, forgets the task's reference
    /// and returns `None`.
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

    /// Releases a task, whose reference then belongs to the caller. Returns `false` if it was no
    /// longer here.
    pub(super) fn release(&self, key: usize) -> bool {
        let task = self.lock(key % SHARDS).tasks.try_remove(key / SHARDS);
        task.map(TaskRef::forget).is_some()
    }

    /// Closes the list. Its tasks are left to [`cancel_next`](Self::cancel_next).
    pub(super) fn close(&self) {
        for number in 0..SHARDS {
            let mut shard = self.lock(number);
            if !shard.is_closed {
                shard.is_closed = true;
                shard.left = Some(std::mem::take(&mut shard.tasks).into_iter());
            }
        }
    }

    /// After the close: cancels one of the tasks that are left. Returns `false` if there is none.
    /// Any number of threads may call this at the same time. The future is dropped outside the
    /// lock, because its drop may do anything.
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
