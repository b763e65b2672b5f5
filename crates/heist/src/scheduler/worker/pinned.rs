//! A worker's pinned tasks, and when they have their turn.

use super::{LIFO_STREAK, Local};
use crate::scheduler::shared::{Runnable, Scheduler};
use crate::task::TaskList;
use crate::trace::PollSource;

/// After so many pinned tasks the worker takes over its inbox, though its own queue is not empty
/// (L4). Guessed.
const INBOX_INTERVAL: u32 = 61;

/// What a worker keeps of its pinned tasks.
pub(super) struct Pinned {
    queue: TaskList<Scheduler>,
    /// Whether the last turn was theirs. The next is the others', if they have anything.
    had_turn: bool,
    /// How many have been run since the last look at the inbox.
    since_look: u32,
}

impl Pinned {
    pub(super) fn new() -> Self {
        Pinned { queue: TaskList::new(), had_turn: false, since_look: 0 }
    }

    pub(super) fn take_queue(&mut self) -> TaskList<Scheduler> {
        std::mem::replace(&mut self.queue, TaskList::new())
    }
}

impl Local {
    /// Whether there may be pinned tasks to run.
    #[inline]
    pub(super) fn has_pinned(&self) -> bool {
        self.remote().lane.has_tasks()
    }

    /// A pinned task that this worker spawned.
    pub(in crate::scheduler) fn spawn_pinned(&self, task: Runnable) {
        self.counters.spawned.add(1);
        self.record_spawn(&task);
        self.pin(task);
    }

    /// A pinned task of this worker's that it woke.
    pub(in crate::scheduler) fn wake_pinned(&self, task: Runnable) {
        self.counters.woken.add(1);
        self.record_wake(&task);
        self.pin(task);
    }

    fn pin(&self, task: Runnable) {
        let queue = &mut self.core.borrow_mut().pinned.queue;
        queue.push(task);
        self.remote().lane.show_queue(queue.len());
    }

    /// Runs a pinned task, if there is one and it is their turn.
    pub(super) fn step_pinned(&self) -> bool {
        let Some(task) = self.next_pinned() else { return false };
        self.run(task, PollSource::Pinned, &self.pinned, Self::pin);
        true
    }

    /// Pinned tasks and others take turns (W1, F2); the LIFO slot goes before both, as far as its
    /// streak allows.
    fn next_pinned(&self) -> Option<Runnable> {
        let core = &mut *self.core.borrow_mut();
        let has_lifo = self.remote().own.lifo.has_task();
        if has_lifo && core.lifo_streak < LIFO_STREAK {
            return None;
        }
        let others_wait = || has_lifo || !core.ring.is_empty() || !self.scheduler.inject.is_empty();
        if core.pinned.had_turn && others_wait() {
            core.pinned.had_turn = false;
            return None;
        }
        let pinned = &mut core.pinned;
        if pinned.queue.len() == 0 || pinned.since_look >= INBOX_INTERVAL {
            self.remote().lane.refill(&mut pinned.queue);
            pinned.since_look = 0;
        }
        let task = pinned.queue.pop()?;
        self.remote().lane.show_queue(pinned.queue.len());
        pinned.since_look += 1;
        pinned.had_turn = true;
        core.lifo_streak = 0;
        core.pace.pass();
        self.found();
        Some(task)
    }

    /// Cancels all pinned tasks of this worker, on this thread.
    pub(super) fn end_pinned(&self) {
        let queue = self.core.borrow_mut().pinned.take_queue();
        let cancelled = self.remote().lane.end(queue);
        self.counters.drained.add(cancelled as u64);
    }
}
