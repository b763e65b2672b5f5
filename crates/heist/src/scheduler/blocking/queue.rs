//! What waits for a blocking thread: closures, in the order in which each thread spawned them.
//!
//! A thread that spawns puts them into its inbox; a thread that runs them takes them one by one
//! from the front. When the front is empty it changes places with an inbox, as a whole: so the two
//! sides meet once for many closures, and yet every closure can be taken by every thread at any
//! time.

use crate::canary;
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use std::collections::VecDeque;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

pub(super) struct Queue<T> {
    inboxes: Box<[CachePadded<Inbox<T>>]>,
    /// Locked before an inbox, if both are.
    front: CachePadded<Mutex<Front<T>>>,
}

struct Inbox<T> {
    /// How many the list holds, to be read without the lock. Written with it.
    len: AtomicUsize,
    list: Mutex<List<T>>,
}

struct List<T> {
    items: VecDeque<T>,
    is_closed: bool,
}

struct Front<T> {
    items: VecDeque<T>,
    /// The inbox that is next to come to the front, if there is something in it: all get there.
    next_inbox: usize,
}

impl<T> Queue<T> {
    pub(super) fn new(inboxes: usize) -> Self {
        let inbox = || Inbox {
            len: AtomicUsize::new(0),
            list: Mutex::new(List { items: VecDeque::new(), is_closed: false }),
        };
        Queue {
            inboxes: (0..inboxes).map(|_| CachePadded::new(inbox())).collect(),
            front: CachePadded::new(Mutex::new(Front { items: VecDeque::new(), next_inbox: 0 })),
        }
    }

    /// Appends to the inbox of a producer, or gives the item back if the queue is closed.
    pub(super) fn push(&self, producer: usize, item: T) -> Result<(), T> {
        let inbox = &self.inboxes[producer % self.inboxes.len()];
        let mut list = inbox.lock();
        if list.is_closed && !canary::BLOCKING_CLOSE_UNSEEN.sings() {
            return Err(item);
        }
        list.items.push_back(item);
        inbox.publish(list);
        Ok(())
    }

    /// Takes the first, and tells whether others are left.
    pub(super) fn pop(&self) -> Option<(T, bool)> {
        let mut front = self.lock();
        if front.items.is_empty() {
            self.refill(&mut front);
        }
        let item = front.items.pop_front()?;
        Some((item, !(front.items.is_empty() && self.inboxes_are_empty())))
    }

    /// Brings an inbox to the front, which is empty.
    fn refill(&self, front: &mut Front<T>) {
        for offset in 0..self.inboxes.len() {
            let index = (front.next_inbox + offset) % self.inboxes.len();
            let inbox = &self.inboxes[index];
            if inbox.len() > 0 {
                let mut list = inbox.lock();
                std::mem::swap(&mut front.items, &mut list.items);
                inbox.publish(list);
                front.next_inbox = index + 1;
                return;
            }
        }
    }

    /// Exact for a caller behind a fence that the fence behind a push pairs with.
    pub(super) fn is_empty(&self) -> bool {
        let front = self.lock();
        if canary::BLOCKING_LOOK_UNLOCKED.sings() && front.items.is_empty() {
            drop(front);
            return self.inboxes_are_empty();
        }
        // With the lock: nothing is on its way from an inbox to the front.
        front.items.is_empty() && self.inboxes_are_empty()
    }

    fn inboxes_are_empty(&self) -> bool {
        self.inboxes.iter().all(|inbox| inbox.len() == 0)
    }

    /// How many wait; a snapshot.
    pub(super) fn len(&self) -> usize {
        let front = self.lock();
        front.items.len() + self.inboxes.iter().map(|inbox| inbox.len()).sum::<usize>()
    }

    /// Takes no more, keeps so many from the front and of the others those that `stays` says, and
    /// gives back the rest.
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

    /// Brings all to the front, inbox after inbox.
    fn gather(&self, close: bool) -> MutexGuard<'_, Front<T>> {
        let mut front = self.lock();
        for offset in 0..self.inboxes.len() {
            let inbox = &self.inboxes[(front.next_inbox + offset) % self.inboxes.len()];
            let mut list = inbox.lock();
            list.is_closed |= close;
            front.items.append(&mut list.items);
            inbox.publish(list);
        }
        front
    }

    fn lock(&self) -> MutexGuard<'_, Front<T>> {
        // Nothing panics with the lock held.
        self.front.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T> Inbox<T> {
    fn lock(&self) -> MutexGuard<'_, List<T>> {
        // Nothing panics with the lock held.
        self.list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn len(&self) -> usize {
        // Relaxed: whether it is seen in time is the business of the fences in `roster`; the items
        // themselves are behind the lock.
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
