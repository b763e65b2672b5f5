//! One worker's pinned inbox, and the list of its pinned tasks that wait. `README.md` specifies the
//! protocol.

use crate::canary;
use crate::metrics::Counter;
use crate::scheduler::inject::Closed;
use crate::task::{Notified, Schedule, TaskList, TaskRef};
use heist_sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering};
use slab::Slab;

pub(in crate::scheduler) struct PinnedInbox<S: Schedule> {
    /// Whether there may be something in the worker's own queue or in the inbox; if not, both are
    /// empty. Set by a thread that puts a task there, cleared by the worker with the inbox locked.
    has_tasks: AtomicBool,
    inbox: Mutex<Inbox<S>>,
    /// Something has come to the inbox of a worker that is ending.
    has_come: Condvar,
    /// Tasks that came to the inbox, and those of them that were new (M1). Written with it locked.
    pushed: Counter,
    spawned: Counter,
    /// How many tasks the worker's own queue and the inbox hold. Written with the inbox locked, or
    /// by the worker alone.
    inbox_len: Counter,
    queue_len: Counter,
    /// Locked by the worker's thread alone.
    waiting: Mutex<Waiting>,
}

struct Inbox<S: Schedule> {
    tasks: TaskList<S>,
    is_closing: bool,
}

/// The tasks that wait for a wake-up, to be found when the worker ends.
struct Waiting {
    tasks: Slab<TaskRef>,
    is_closed: bool,
    /// How many were here when the list was closed, and have not ended yet.
    ending: usize,
}

impl<S: Schedule> PinnedInbox<S> {
    pub(in crate::scheduler) fn new() -> Self {
        PinnedInbox {
            has_tasks: AtomicBool::new(false),
            inbox: Mutex::new(Inbox { tasks: TaskList::new(), is_closing: false }),
            has_come: Condvar::new(),
            pushed: Counter::default(),
            spawned: Counter::default(),
            inbox_len: Counter::default(),
            queue_len: Counter::default(),
            waiting: Mutex::new(Waiting { tasks: Slab::new(), is_closed: false, ending: 0 }),
        }
    }

    /// Whether the worker may have pinned tasks to run.
    #[inline]
    pub(in crate::scheduler) fn has_tasks(&self) -> bool {
        // Relaxed: the barriers in `idle` make it visible in time; the tasks themselves are the
        // worker's own or behind the lock.
        self.has_tasks.load(Ordering::Relaxed)
    }

    /// Notes that the worker's own queue or the inbox is not empty.
    #[inline]
    pub(super) fn mark(&self) {
        self.has_tasks.store(true, Ordering::Relaxed);
    }

    /// The worker's own queue now holds `len` tasks.
    #[inline]
    pub(in crate::scheduler) fn show_queue(&self, len: usize) {
        self.queue_len.set(len as u64);
        if len > 0 {
            self.mark();
        }
    }

    /// Puts a new task into the inbox. If the worker is ending the task comes back, to be cancelled
    /// on any thread: its future is not made yet, or is `Send`.
    pub(in crate::scheduler) fn spawn(&self, task: Notified<S>) -> Result<(), Closed<S>> {
        let mut inbox = self.lock_inbox();
        if inbox.is_closing {
            return Err(Closed(task));
        }
        self.spawned.add(1);
        self.push(&mut inbox, task);
        Ok(())
    }

    /// Puts a woken task into the inbox. Only the worker may drop it, so it is never refused (T6).
    pub(in crate::scheduler) fn wake(&self, task: Notified<S>) {
        let mut inbox = self.lock_inbox();
        self.push(&mut inbox, task);
        if inbox.is_closing {
            self.has_come.notify_one();
        }
    }

    fn push(&self, inbox: &mut Inbox<S>, task: Notified<S>) {
        inbox.tasks.push(task);
        self.pushed.add(1);
        self.inbox_len.add(1);
        self.mark();
    }

    /// The worker takes over the whole inbox, to the end of its own queue.
    pub(in crate::scheduler) fn refill(&self, queue: &mut TaskList<S>) {
        let mut inbox = self.lock_inbox();
        queue.append(&mut inbox.tasks);
        self.inbox_len.set(0);
        if queue.len() > 0 {
            return;
        }
        if canary::LANE_CLEARED_UNLOCKED.sings() {
            drop(inbox);
        }
        // With the lock held: a task that comes right after it sets the flag again.
        self.has_tasks.store(false, Ordering::Relaxed);
    }

    /// Keeps a task, and returns its place. If the worker is ending, forgets the task's reference
    /// and returns `None`.
    pub(in crate::scheduler) fn adopt(&self, task: TaskRef) -> Option<usize> {
        let mut waiting = self.lock_waiting();
        if waiting.is_closed {
            task.forget();
            return None;
        }
        Some(waiting.tasks.insert(task))
    }

    /// Releases a task, whose reference then belongs to the caller. Returns `false` if it was no
    /// longer here.
    pub(in crate::scheduler) fn release(&self, key: usize) -> bool {
        let mut waiting = self.lock_waiting();
        let task = waiting.tasks.try_remove(key);
        if task.is_none() {
            waiting.ending -= 1;
        }
        task.map(TaskRef::forget).is_some()
    }

    /// Drops every future of the worker, on this thread, which must be the worker's (T6). `queue`
    /// is the worker's own queue. The README has the steps. Returns how many tasks were cancelled.
    pub(in crate::scheduler) fn end(&self, mut queue: TaskList<S>) -> usize {
        {
            let mut inbox = self.lock_inbox();
            inbox.is_closing = true;
            queue.append(&mut inbox.tasks);
            self.inbox_len.set(0);
        }
        self.queue_len.set(0);
        let mut cancelled = queue.len();
        // What runs when a future is dropped may wake and spawn: all of this is done without locks.
        drop(queue);
        let tasks = {
            let mut waiting = self.lock_waiting();
            waiting.is_closed = true;
            waiting.ending = waiting.tasks.len();
            std::mem::take(&mut waiting.tasks)
        };
        cancelled +=
            tasks.into_iter().filter_map(|(_, task)| task.shut_down().then_some(())).count();
        while let Some(queue) = self.next_to_end() {
            cancelled += queue.len();
            drop(queue);
        }
        cancelled
    }

    /// How many tasks came from other threads, how many of them were new, and how many wait to be
    /// run (M1).
    pub(in crate::scheduler) fn pushed(&self) -> u64 {
        self.pushed.get()
    }

    pub(in crate::scheduler) fn spawned(&self) -> u64 {
        self.spawned.get()
    }

    pub(in crate::scheduler) fn depth(&self) -> usize {
        (self.queue_len.get() + self.inbox_len.get()) as usize
    }

    /// Takes what has come to the inbox of a worker that is ending, and waits while something is
    /// still to come. Returns `None` if all tasks have ended.
    fn next_to_end(&self) -> Option<TaskList<S>> {
        let mut inbox = self.lock_inbox();
        while inbox.tasks.len() == 0 {
            if self.lock_waiting().ending == 0 || canary::LANE_END_DOES_NOT_WAIT.sings() {
                return None;
            }
            inbox = self.has_come.wait(inbox);
        }
        let mut queue = TaskList::new();
        queue.append(&mut inbox.tasks);
        self.inbox_len.set(0);
        Some(queue)
    }

    fn lock_inbox(&self) -> MutexGuard<'_, Inbox<S>> {
        // Nothing panics with the lock held.
        self.inbox.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn lock_waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
