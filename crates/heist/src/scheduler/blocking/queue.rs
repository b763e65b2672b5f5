//! The closures that wait for a blocking thread, in the order in which each thread spawned them.
//!
//! A thread that spawns closures appends them to its shard; a thread that runs them takes them one
//! by one from the front. When the front is empty, it is swapped with a whole shard. So spawners
//! and runners meet once for many closures, and any thread can take any closure at any time.

use crate::canary;
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use std::collections::VecDeque;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

pub(super) struct Queue<T> {
    shards: Box<[CachePadded<Shard<T>>]>,
    /// Locked before a shard, if both are.
    front: CachePadded<Mutex<Front<T>>>,
}

struct Shard<T> {
    /// The length of the list, written with the lock held and read without it.
    len: AtomicUsize,
    list: Mutex<List<T>>,
}

struct List<T> {
    items: VecDeque<T>,
    is_closed: bool,
}

struct Front<T> {
    items: VecDeque<T>,
    /// The shard that comes to the front next unless it is empty; they take turns.
    next_shard: usize,
}

impl<T> Queue<T> {
    pub(super) fn new(shards: usize) -> Self {
        let shard = || Shard {
            len: AtomicUsize::new(0),
            list: Mutex::new(List { items: VecDeque::new(), is_closed: false }),
        };
        Queue {
            shards: (0..shards).map(|_| CachePadded::new(shard())).collect(),
            front: CachePadded::new(Mutex::new(Front { items: VecDeque::new(), next_shard: 0 })),
        }
    }

    /// Appends to the shard of a producer, or gives the item back if the queue is closed.
    pub(super) fn push(&self, producer: usize, item: T) -> Result<(), T> {
        let shard = &self.shards[producer % self.shards.len()];
        let mut list = shard.lock();
        if list.is_closed && !canary::BLOCKING_CLOSE_UNSEEN.sings() {
            return Err(item);
        }
        list.items.push_back(item);
        shard.publish(list);
        Ok(())
    }

    /// Takes the first item. Also returns whether others are left.
    pub(super) fn pop(&self) -> Option<(T, bool)> {
        let mut front = self.lock();
        if front.items.is_empty() {
            self.refill(&mut front);
        }
        let item = front.items.pop_front()?;
        Some((item, !(front.items.is_empty() && self.shards_are_empty())))
    }

    /// Brings a shard to the front, which is empty.
    fn refill(&self, front: &mut Front<T>) {
        for offset in 0..self.shards.len() {
            let index = (front.next_shard + offset) % self.shards.len();
            let shard = &self.shards[index];
            if shard.len() > 0 {
                let mut list = shard.lock();
                std::mem::swap(&mut front.items, &mut list.items);
                shard.publish(list);
                front.next_shard = index + 1;
                return;
            }
        }
    }

    /// Exact for a caller behind a fence that the fence behind a push pairs with.
    pub(super) fn is_empty(&self) -> bool {
        let front = self.lock();
        if canary::BLOCKING_LOOK_UNLOCKED.sings() && front.items.is_empty() {
            drop(front);
            return self.shards_are_empty();
        }
        // With the lock: nothing is on its way from a shard to the front.
        front.items.is_empty() && self.shards_are_empty()
    }

    fn shards_are_empty(&self) -> bool {
        self.shards.iter().all(|shard| shard.len() == 0)
    }

    /// The number of items, which may be outdated.
    pub(super) fn len(&self) -> usize {
        let front = self.lock();
        front.items.len() + self.shards.iter().map(|shard| shard.len()).sum::<usize>()
    }

    /// Closes the queue. Keeps the first `keep` items, and those of the others for which `stays`
    /// holds; returns the rest.
    pub(super) fn close(&self, keep: usize, stays: impl Fn(&T) -> bool) -> VecDeque<T> {
        let mut front = self.gather(true);
        let first_to_go = keep.min(front.items.len());
        let others = front.items.split_off(first_to_go);
        let (stay, go): (VecDeque<T>, _) = others.into_iter().partition(stays);
        front.items.extend(stay);
        go
    }

    /// Takes all.
    pub(super) fn take_all(&self) -> VecDeque<T> {
        std::mem::take(&mut self.gather(false).items)
    }

    /// Brings all to the front, shard after shard.
    fn gather(&self, close: bool) -> MutexGuard<'_, Front<T>> {
        let mut front = self.lock();
        for offset in 0..self.shards.len() {
            let shard = &self.shards[(front.next_shard + offset) % self.shards.len()];
            let mut list = shard.lock();
            list.is_closed |= close;
            front.items.append(&mut list.items);
            shard.publish(list);
        }
        front
    }

    fn lock(&self) -> MutexGuard<'_, Front<T>> {
        // Nothing panics with the lock held.
        self.front.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T> Shard<T> {
    fn lock(&self) -> MutexGuard<'_, List<T>> {
        // Nothing panics with the lock held.
        self.list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn len(&self) -> usize {
        // Relaxed: the fences in `roster` make it visible in time; the items themselves are behind
        // the lock.
        self.len.load(Ordering::Relaxed)
    }

    /// Writes the length, and gives the lock back only then: lengths are written in the order in
    /// which the list was changed.
    fn publish(&self, list: MutexGuard<'_, List<T>>) {
        let len = list.items.len();
        let mut list = Some(list);
        if canary::BLOCKING_LENGTH_UNLOCKED.sings() {
            list = None;
        }
        self.len.store(len, Ordering::Relaxed);
        drop(list);
    }
}
