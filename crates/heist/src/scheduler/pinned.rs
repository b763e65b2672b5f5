//! Pinned tasks: each runs on one worker only (W8). `pinned/README.md` specifies the protocol.

mod inbox;
#[cfg(all(test, loom))]
mod loom_tests;

pub(super) use inbox::PinnedInbox;

use super::inject::Closed;
use super::refused::Late;
use super::shared::{Runnable, Scheduler, Shared};
use super::worker::{self, Worker};
use std::sync::atomic::Ordering;

impl Scheduler {
    /// A pinned task from a spawn: to the worker that spawns; from elsewhere, to one worker after
    /// the other.
    pub(crate) fn submit_pinned(&self, task: Runnable) {
        if let Err(task) = self.try_submit_pinned(task) {
            self.submit_late(task);
        }
    }

    /// The same; if the runtime is closed, the task comes back.
    pub(super) fn try_submit_pinned(&self, task: Runnable) -> Result<(), Runnable> {
        if self.is_down() {
            return Err(task);
        }
        let Err(task) = self.try_pin(task) else { return Ok(()) };
        // Relaxed: that each number is given out once is all that is asked of it.
        let number = self.next_worker.fetch_add(1, Ordering::Relaxed);
        self.spawn_in(number % self.remotes.seats(), task)
    }

    /// A pinned task from a spawn, for this worker.
    pub(crate) fn submit_pinned_to(&self, worker: usize, task: Runnable) {
        let is_here = |here: &Worker| here.index() == worker;
        if self.is_down() {
            self.submit_late(task);
        } else if let Err(task) =
            worker::with_worker(self.address(), task, is_here, Worker::spawn_pinned)
        {
            if let Err(task) = self.spawn_in(worker, task) {
                self.submit_late(task);
            }
        }
    }

    /// On a base worker of this scheduler a new task goes to its own queue; else it comes back. A
    /// spare worker may be gone before the task is.
    pub(super) fn try_pin(&self, task: Runnable) -> Result<(), Runnable> {
        worker::with_worker(self.address(), task, |here| !here.is_spare(), Worker::spawn_pinned)
    }

    /// To the pinned inbox of a worker whose thread this is not.
    pub(super) fn wake_elsewhere(&self, worker: usize, task: Runnable) {
        self.remotes[worker].pinned.wake(task);
        self.notify_worker(worker);
    }

    fn spawn_in(&self, worker: usize, task: Runnable) -> Result<(), Runnable> {
        self.record_spawn(&task);
        match self.remotes[worker].pinned.spawn(task) {
            Ok(()) => self.notify_worker(worker),
            Err(Closed(task)) => return Err(task),
        }
        Ok(())
    }

    /// A new task when the runtime is down. Its worker may be this thread's, which may wait for the
    /// task (T9). But any thread may drop it, as its future is not made yet or is `Send`: this one
    /// does, unless it is in a poll (T6).
    pub(super) fn submit_late(&self, task: Runnable) {
        if worker::with_here(|here| here.is_some_and(|here| here.is_of(self))) {
            self.leave_new(Late::Task(task));
        } else {
            self.refuse(Late::Task(task));
        }
    }
}

impl Shared {
    /// Something came to this worker's pinned inbox.
    pub(super) fn notify_worker(&self, worker: usize) {
        // If it does not sit at home it is stuck, or has stepped aside; it looks when it is back.
        let sits_there = || self.seats[worker].is_home();
        if let Some(seat) = self.idle.submitted_to(worker, sits_there) {
            self.wake_seat(seat);
        }
    }

    /// Seat `mine` is being put to sleep: wakes those that sleep though there is something for them
    /// alone, itself included: a full inbox, or the seat itself, to which they have come back.
    pub(super) fn wake_owners(&self, mine: usize) {
        let has_own = |seat: usize| {
            let has_own = || self.seats[seat].is_home() && self.remotes[seat].has_own();
            self.seats[seat].is_getting_up() || has_own()
        };
        self.idle.wake_owners(mine, has_own, |seat| self.wake_seat(seat));
    }

    /// On this worker's thread a task that was woken, or aborted, goes to its own queue; else it
    /// comes back.
    #[inline(never)]
    pub(super) fn try_keep(&self, worker: usize, task: Runnable) -> Result<(), Runnable> {
        worker::with_worker(self, task, |here| here.index() == worker, Worker::wake_pinned)
    }
}
