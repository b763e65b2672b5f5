//! A worker's tasks: its ring, its pinned queue, and whose turn it is.

use super::Me;
use crate::env::Clock;
use crate::scheduler::help::Help;
use crate::scheduler::pace::{LIFO_STREAK, Pace};
use crate::scheduler::shared::{Runnable, Scheduler};
use crate::task::{Notified, TaskList};
use crate::trace::{EventKind, PollSource};
use crate::tuning::{PREFETCH_AHEAD, TICK_INTERVAL};
use heist_deque::ring::{self, Full};
use std::cell::RefCell;

/// A tick takes at most this many tasks from the inject queue, as the protocol says (W4).
const TICK_BATCH: usize = 32;

/// The queues that a worker takes tasks from. The LIFO slot and the inbox of pinned tasks are in
/// its remote, because others reach them, too.
pub(in crate::scheduler) struct Queues {
    inner: RefCell<Inner>,
    help: Help,
}

struct Inner {
    ring: ring::Owner<Runnable>,
    pace: Pace,
    /// Number of polls in a row from the LIFO slot.
    lifo_streak: u32,
    pinned: Pinned,
}

/// A worker's pinned tasks, and when they have their turn.
struct Pinned {
    queue: TaskList<Scheduler>,
    /// Whether the last turn was theirs. The next is the others', if they have anything.
    had_turn: bool,
    /// Number of tasks that were run since the last look at the inbox, which comes now and then
    /// even if the queue is not empty (L4).
    since_look: u32,
}

/// For a worker that looks for its next task.
impl Queues {
    pub(super) fn new(ring: ring::Owner<Runnable>, pace: Pace, help: Help) -> Self {
        let pinned = Pinned { queue: TaskList::new(), had_turn: false, since_look: 0 };
        Queues { inner: RefCell::new(Inner { ring, pace, lifo_streak: 0, pinned }), help }
    }

    /// A step begins. If tasks in the ring have waited for too long, calls another worker (I1).
    #[inline]
    pub(in crate::scheduler) fn begin_step(&self, me: &Me) {
        if self.help.looks() {
            self.look(me);
        }
    }

    #[inline(never)]
    fn look(&self, me: &Me) {
        let own = &me.remote().own;
        // One of them is taken next.
        let tasks = self.inner.borrow().ring.len() + usize::from(own.lifo.has_task());
        let is_free = me.scheduler.idle.is_anybody_free();
        if self.help.look(tasks.saturating_sub(1), is_free, &own.expected) {
            me.notify();
        }
    }

    /// What `f` puts into the ring comes between two tasks.
    pub(super) fn between_tasks<R>(&self, f: impl FnOnce() -> R) -> R {
        self.help.between(f)
    }

    /// The worker has found nothing in its own queues.
    pub(super) fn has_no_task(&self) {
        self.help.has_no_task();
    }

    /// Tasks have come to the ring that this worker has stolen.
    pub(super) fn stole(&self, me: &Me) {
        let tasks = self.inner.borrow().ring.len();
        if tasks > 0 {
            self.help.between(|| me.notify_of_tasks(tasks, &self.help));
        }
    }

    /// The worker begins something else than a task: others must take what is in its ring.
    pub(super) fn leave_ring(&self, me: &Me) {
        if !self.inner.borrow().ring.is_empty() {
            me.notify();
        }
    }

    /// The next task that is not pinned. When its turn has come, the inject queue goes first:
    /// nothing of the worker's own can keep it waiting (L4), except for a streak from the slot.
    pub(in crate::scheduler) fn next(&self, me: &Me) -> Option<(Runnable, PollSource)> {
        let (inner, help) = (&mut *self.inner.borrow_mut(), &self.help);
        let lifo = &me.remote().own.lifo;
        let goes_on = || inner.lifo_streak < LIFO_STREAK && lifo.has_task();
        if inner.pace.tick(goes_on) {
            inner.take_injected(me, help, TICK_BATCH).or_else(|| inner.take_own(me, help))
        } else {
            inner.take_own(me, help).or_else(|| inner.take_injected(me, help, usize::MAX))
        }
    }

    /// The same without the inject queue.
    pub(super) fn next_own(&self, me: &Me) -> Option<(Runnable, PollSource)> {
        self.inner.borrow_mut().take_own(me, &self.help)
    }

    /// The next pinned task, if there is one and it is their turn.
    #[inline(always)]
    pub(in crate::scheduler) fn next_pinned(&self, me: &Me) -> Option<Runnable> {
        if me.remote().pinned.has_tasks() { self.inner.borrow_mut().take_pinned(me) } else { None }
    }

    /// Lets a thief put what it steals into the ring.
    pub(super) fn with_ring<R>(&self, f: impl FnOnce(&mut ring::Owner<Runnable>) -> R) -> R {
        f(&mut self.inner.borrow_mut().ring)
    }

    /// Number of ticks between two looks at the reactor.
    pub(super) fn interval(&self) -> u32 {
        self.inner.borrow().pace.interval()
    }

    /// The worker has slept until now: that time was no poll.
    pub(super) fn rested(&self, now: Clock) {
        self.inner.borrow_mut().pace.rested(now);
        self.help.rested(now);
    }
}

/// For a worker to which a task comes.
impl Queues {
    /// Puts a task into the LIFO slot, and the one that was there into the ring (W3).
    #[inline]
    pub(super) fn put_in_slot(&self, me: &Me, task: Runnable) {
        if let Some(previous) = me.remote().own.lifo.put(task.into_raw()) {
            // SAFETY: (T1) put there by this function, and taken out here alone.
            self.push(me, unsafe { Notified::from_ptr(previous) });
        }
    }

    /// Puts a task at the end of the ring. If the ring is full, the task goes to the inject queue
    /// with half of the ring (Q5).
    pub(super) fn push(&self, me: &Me, task: Runnable) {
        self.inner.borrow_mut().push(me, &self.help, task);
    }

    /// Puts a pinned task into the worker's own queue.
    pub(super) fn pin(&self, me: &Me, task: Runnable) {
        let queue = &mut self.inner.borrow_mut().pinned.queue;
        queue.push(task);
        me.remote().pinned.show_queue(queue.len());
    }

    /// Moves the task in the slot to where others look for it. Returns whether there was one.
    pub(super) fn empty_slot(&self, me: &Me) -> bool {
        let task = me.take_lifo();
        task.map(|task| self.push(me, task)).is_some()
    }
}

/// For a worker that ends.
impl Queues {
    /// Takes everything but pinned tasks.
    pub(super) fn take_all(&self, me: &Me) -> TaskList<Scheduler> {
        let inner = &mut *self.inner.borrow_mut();
        let mut tasks = TaskList::new();
        tasks.extend(me.take_lifo());
        tasks.extend(std::iter::from_fn(|| inner.ring.pop()));
        tasks
    }

    /// Cancels all pinned tasks of this worker, on this thread.
    pub(super) fn end_pinned(&self, me: &Me) {
        let queue = std::mem::replace(&mut self.inner.borrow_mut().pinned.queue, TaskList::new());
        let cancelled = me.remote().pinned.end(queue);
        me.counters.drained.add(cancelled as u64);
    }
}

impl Inner {
    /// From the LIFO slot, then from the ring. After a streak from the slot, what is there goes to
    /// the end of the ring: tasks that keep waking each other let all others run once in a while
    /// (W3, F2).
    fn take_own(&mut self, me: &Me, help: &Help) -> Option<(Runnable, PollSource)> {
        if let Some(task) = me.take_lifo() {
            self.lifo_streak += 1;
            if self.lifo_streak <= LIFO_STREAK {
                me.counters.lifo_hits.add(1);
                return Some((task, PollSource::LifoSlot));
            }
            self.lifo_streak = 0;
            return match self.pop() {
                None => {
                    me.counters.lifo_hits.add(1);
                    Some((task, PollSource::LifoSlot))
                }
                Some(first) => {
                    self.push(me, help, task);
                    Some((first, PollSource::Ring))
                }
            };
        }
        self.lifo_streak = 0;
        self.pop().map(|task| (task, PollSource::Ring))
    }

    /// Takes the oldest task of the ring, and prefetches the memory of one further back: another
    /// worker may have written to that last, or it may have waited for long.
    #[inline(always)]
    fn pop(&mut self) -> Option<Runnable> {
        let task = self.ring.pop();
        if let Some(bits) = self.ring.glimpse(PREFETCH_AHEAD as u32) {
            Notified::prefetch(bits);
        }
        task
    }

    /// Looks at the inject queue, and decides when the next look is due.
    fn take_injected(
        &mut self,
        me: &Me,
        help: &Help,
        most: usize,
    ) -> Option<(Runnable, PollSource)> {
        let task = self.pop_injected(me, help, most);
        self.pace.looked(self.ring.len());
        if !me.scheduler.inject.is_empty() {
            self.pace.backlog();
        }
        task.map(|task| (task, PollSource::Inject))
    }

    /// Takes up to `most` tasks from the inject queue: the first to run, the rest to the ring (W4).
    fn pop_injected(&mut self, me: &Me, help: &Help, most: usize) -> Option<Runnable> {
        let inject = &me.scheduler.inject;
        if inject.is_empty() {
            return None;
        }
        let workers = me.scheduler.remotes.seats();
        let room = (self.ring.capacity() / 2).min(self.ring.capacity() - self.ring.len());
        let share = |len: usize| (len / workers + 1).min(most).min(room);
        let mut moved = 0;
        let task = inject.pop_batch(me.index, share, |rest| moved = self.ring.push_batch(rest));
        if task.is_some() {
            me.counters.injected.add(1 + moved as u64);
            me.record(|| EventKind::InjectBatch { tasks: 1 + moved as u32 });
        }
        if moved > 0 {
            me.notify_of_injected(help);
        }
        task
    }

    fn push(&mut self, me: &Me, help: &Help, task: Runnable) {
        if let Err(Full(task)) = self.ring.push(task) {
            let mut overflow = TaskList::new();
            overflow.extend(self.ring.drain_half());
            overflow.push(task);
            me.counters.overflows.add(1);
            me.record(|| EventKind::Overflow { tasks: overflow.len() as u32 });
            me.give_away(overflow);
            me.notify();
        } else {
            me.notify_of_tasks(self.ring.len(), help);
        }
    }

    /// Pinned tasks and others take turns (W1, F2). The LIFO slot goes before both, as far as its
    /// streak allows.
    #[inline(never)]
    fn take_pinned(&mut self, me: &Me) -> Option<Runnable> {
        let inbox = &me.remote().pinned;
        let has_lifo = me.remote().own.lifo.has_task();
        if has_lifo && self.lifo_streak < LIFO_STREAK {
            return None;
        }
        let others_wait = || has_lifo || !self.ring.is_empty() || !me.scheduler.inject.is_empty();
        if self.pinned.had_turn && others_wait() {
            self.pinned.had_turn = false;
            return None;
        }
        let pinned = &mut self.pinned;
        if pinned.queue.len() == 0 || pinned.since_look >= TICK_INTERVAL {
            inbox.refill(&mut pinned.queue);
            pinned.since_look = 0;
        }
        let task = pinned.queue.pop()?;
        inbox.show_queue(pinned.queue.len());
        pinned.since_look += 1;
        pinned.had_turn = true;
        self.lifo_streak = 0;
        self.pace.pass();
        Some(task)
    }
}

impl Me {
    fn take_lifo(&self) -> Option<Runnable> {
        let task = self.remote().own.lifo.take()?;
        // SAFETY: (T1) put there by put_in_slot(), and taken out here alone.
        Some(unsafe { Notified::from_ptr(task) })
    }
}
