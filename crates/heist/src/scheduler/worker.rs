//! A worker: one thread's queues, and its right to run what is in them.
//!
//! What a worker does next is decided in [`run_loop`](super::run_loop). A worker consists of four
//! parts. Each is a small state machine with private fields:
//!
//! | part | what it keeps | file |
//! |---|---|---|
//! | queues | the ring, the pinned queue, whose turn it is | `queues.rs` |
//! | search | whether the worker searches, from which worker it steals, how long it waits awake | `search.rs` |
//! | seat | the tick that others watch, whether it has stepped aside | `seat.rs` |
//! | jobs | the deque and the memory of jobs, when it is a job's turn | `jobs.rs` |
//!
//! What other threads see of a worker (slot, tick, pinned inbox, the thieves' ends of its queues)
//! is its [`Remote`]. `park.rs` puts a worker to sleep, `poll.rs` polls a task and records that,
//! `drive.rs` runs a worker that has no thread of its own.

mod count_cache;
mod drive;
mod jobs;
mod park;
mod poll;
mod queues;
mod search;
mod seat;

use super::help::Help;
use super::pace::Pace;
use super::refused::one_after_the_other;
use super::remotes::{Ends, Remote};
use super::seats;
use super::shared::{Runnable, Scheduler, Shared};
use crate::canary;
use crate::env::{Clock, this_thread};
use crate::metrics::{OnThread, WorkerCounters};
use crate::reactor::Sits;
use crate::task::TaskList;
use crate::trace::{self, EventKind, Scribe};
pub(crate) use count_cache::Settle;
pub(crate) use drive::Driven;
use heist_deque::deque;
use jobs::Jobs;
use poll::{Watcher, watcher};
use queues::Queues;
pub(super) use search::Found;
use search::Search;
use seat::Seating;
pub(crate) use seat::{
    Aside, WokenAside, outside, run_direct_job_aside, step_aside, waiter_aside, with_here_or_aside,
};
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;

#[cfg(all(test, not(loom)))]
mod tests;

/// A worker. Only the thread that runs it touches this (W10); tasks on that thread reach it through
/// a thread-local, to spawn and to wake. Nothing that borrows a part calls foreign code.
pub(crate) struct Worker {
    pub(super) me: Me,
    pub(super) queues: Queues,
    pub(super) search: Search,
    pub(super) seat: Seating,
    pub(super) jobs: Jobs,
}

/// A worker's identity and its seat. Its parts get this with each call.
pub(super) struct Me {
    pub(super) scheduler: Scheduler,
    /// The scheduler of the tasks that are pinned to this worker.
    pub(super) pinned: Scheduler,
    /// Its number among all workers, spares included.
    pub(super) index: usize,
    /// What others see of it.
    remote: Arc<Remote>,
    /// The seat that it holds, or held last.
    seat: Cell<usize>,
    /// The number of the thread that runs it, or ran it last; 0 if none did.
    thread: Cell<u64>,
    pub(super) counters: Arc<WorkerCounters>,
    /// The record of what it does, if there is one.
    pub(super) scribe: Option<Arc<Scribe>>,
    /// What looks at each of its polls, if anything does.
    watcher: Watcher,
}

impl Worker {
    pub(super) fn new(scheduler: Scheduler, index: usize, ends: Ends) -> Self {
        let remote = Arc::clone(&scheduler.remotes[index]);
        let (counters, scribe) = (Arc::clone(&remote.counters), remote.scribe.clone());
        let pace = Pace::new(scheduler.config.tick_interval, Arc::clone(&counters));
        let may_hold = scheduler.may_hold_back(index);
        Worker {
            queues: Queues::new(ends.ring, pace, Help::new(may_hold)),
            search: Search::new(index as u64 + 1),
            seat: Seating::new(),
            jobs: Jobs::new(ends.jobs),
            me: Me {
                pinned: scheduler.pinned_to(index),
                scheduler,
                index,
                remote,
                seat: Cell::new(index),
                thread: Cell::new(0),
                watcher: watcher(scribe.as_ref(), &counters),
                counters,
                scribe,
            },
        }
    }

    /// Makes the worker that of this thread, until the thread ends. What comes to it is run while
    /// the thread waits for a job, or yields to one.
    pub(crate) fn stay_here(self) {
        // The thread may use the worker as long as the thread lives, so it can never be freed.
        let worker: &'static Worker = Box::leak(Box::new(self));
        std::mem::forget(Entered::new(worker));
        worker.next_tick();
    }

    /// The worker's index among all, spares included.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.me.index
    }

    #[inline]
    pub(crate) fn scheduler(&self) -> &Scheduler {
        &self.me.scheduler
    }

    /// Whether it is one of this scheduler's.
    #[inline]
    pub(crate) fn is_of(&self, scheduler: &Scheduler) -> bool {
        ptr::eq(self.me.scheduler.address(), scheduler.address())
    }

    /// Whether another worker takes the seat of one that waits.
    #[inline]
    pub(crate) fn lends_seats(&self) -> bool {
        self.me.scheduler.config.staffing.lends_seats()
    }

    /// Whether no other thread takes jobs from this worker: the runtime shuts down, and the workers
    /// that may do so have ended. Where seats are lent, closers come.
    #[inline]
    pub(crate) fn is_left_alone(&self) -> bool {
        !self.lends_seats() && self.me.scheduler.is_down()
    }

    /// Whether a worker that waits for a job does other work meanwhile.
    #[inline]
    pub(crate) fn is_fixed(&self) -> bool {
        self.me.scheduler.config.staffing.is_fixed()
    }

    /// Whether all that is spawned here is pinned here.
    #[inline]
    fn is_per_core(&self) -> bool {
        self.me.scheduler.config.staffing.is_per_core()
    }

    pub(in crate::scheduler) fn is_spare(&self) -> bool {
        self.me.is_spare()
    }

    /// Returns whether there is something that only this worker can run, or a task in its slot.
    #[inline]
    fn has_own(&self) -> bool {
        let remote = self.me.remote();
        remote.has_own() || remote.own.lifo.has_task()
    }
}

impl Me {
    #[inline]
    pub(super) fn remote(&self) -> &Remote {
        &self.remote
    }

    /// The number of the seat that it holds, or held last.
    #[inline]
    pub(super) fn seat_index(&self) -> usize {
        self.seat.get()
    }

    #[inline]
    fn seat(&self) -> &seats::Seat {
        &self.scheduler.seats[self.seat.get()]
    }

    /// The worker as the seats know it.
    #[inline]
    fn number(&self) -> u32 {
        self.index as u32
    }

    fn is_spare(&self) -> bool {
        self.index >= self.scheduler.remotes.seats()
    }

    /// Something was made runnable where others can take it.
    #[inline]
    fn notify(&self) {
        self.scheduler.notify_from(self.seat.get());
    }

    /// Tasks have come to the ring, which has `tasks` now. If the worker itself will come to them
    /// soon, nobody is woken (I1).
    #[inline]
    fn notify_of_tasks(&self, tasks: usize, help: &Help) {
        let seat = self.seat.get();
        let holds_back = || {
            // Others rely on that, unless it has no seat, or is at a job.
            self.seat().is_undisturbed(self.number())
                && !help.calls(tasks, &self.remote().own.expected)
        };
        self.scheduler.notify_from_unless(seat, holds_back);
    }

    /// Tasks have come to the ring from the inject queue, which are for all workers.
    fn notify_of_injected(&self, help: &Help) {
        self.scheduler.notify_from_unless(self.seat.get(), || {
            help.call_for_all(&self.remote().own.expected);
            false
        });
    }

    /// Records what is rare.
    #[inline]
    fn record(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(scribe) = &self.scribe {
            scribe.record(kind());
        }
    }

    /// Records on which thread the worker is. Some come to the same thread again and again.
    fn come_to_thread(&self) {
        let thread = this_thread();
        if self.thread.replace(thread) != thread {
            self.remote().run_here();
            self.counters.run_by_this_thread();
        }
    }
}

/// Tasks that come to the worker of this thread. Each function takes the address of a scheduler,
/// and returns the task if this thread has no worker of that scheduler.
///
/// Spawns go to the LIFO slot, unless all tasks of the runtime are pinned. If the runtime shuts
/// down, the task is cancelled, perhaps at once.
#[inline]
pub(crate) fn try_spawn(scheduler: *const Shared, task: Runnable) -> Result<(), Runnable> {
    with_worker(scheduler, task, |worker| !worker.is_per_core(), Worker::spawn)
}

/// The same, also where all tasks are pinned.
#[inline]
pub(crate) fn try_submit(scheduler: *const Shared, task: Runnable) -> Result<(), Runnable> {
    try_spawn(scheduler, task)
        .or_else(|task| with_worker(scheduler, task, Worker::is_per_core, Worker::spawn_pinned))
}

/// The same for a task that was woken.
#[inline]
pub(super) fn try_wake(scheduler: *const Shared, task: Runnable) -> Result<(), Runnable> {
    with_worker(scheduler, task, |_| true, Worker::wake)
}

/// Passes `task` to the worker of this thread with `pass`, if it is one of `scheduler`'s and
/// `fits`; otherwise returns the task.
#[inline(always)]
pub(super) fn with_worker(
    scheduler: *const Shared,
    task: Runnable,
    fits: impl FnOnce(&Worker) -> bool,
    pass: impl FnOnce(&Worker, Runnable),
) -> Result<(), Runnable> {
    with_here(|worker| match worker {
        Some(worker) if ptr::eq(worker.me.scheduler.address(), scheduler) && fits(worker) => {
            pass(worker, task);
            Ok(())
        }
        _ => Err(task),
    })
}

impl Worker {
    /// A task that this worker spawned.
    #[inline]
    fn spawn(&self, task: Runnable) {
        self.me.counters.spawned.add(1);
        self.me.record_spawn(&task);
        self.put_in_slot(task);
    }

    /// A task that this worker woke.
    #[inline]
    fn wake(&self, task: Runnable) {
        self.me.counters.woken.add(1);
        self.me.record_wake(&task);
        self.put_in_slot(task);
    }

    /// A pinned task that this worker spawned.
    pub(super) fn spawn_pinned(&self, task: Runnable) {
        self.me.counters.spawned.add(1);
        self.me.record_spawn(&task);
        self.pin(task);
    }

    /// A pinned task of this worker's that it woke.
    pub(super) fn wake_pinned(&self, task: Runnable) {
        self.me.counters.woken.add(1);
        self.me.record_wake(&task);
        self.pin(task);
    }

    /// Puts a task into the LIFO slot, and the one that was there into the ring (W3). No worker is
    /// woken for the slot alone.
    #[inline(always)]
    fn put_in_slot(&self, task: Runnable) {
        self.queues.put_in_slot(&self.me, task);
        if !self.me.seat().is_undisturbed(self.me.number()) && !canary::SEAT_SLOT_FORGOTTEN.sings()
        {
            self.empty_slot_without_seat();
        }
    }

    /// Puts a task at the end of the ring.
    pub(super) fn push(&self, task: Runnable) {
        self.queues.push(&self.me, task);
    }

    /// Puts a pinned task into this worker's own queue.
    pub(super) fn pin(&self, task: Runnable) {
        self.queues.pin(&self.me, task);
    }

    /// A task was put into the slot, and the worker was disturbed. If it has lost its seat, or is
    /// at a job, the slot may not be looked at for long (L1). If the runtime shuts down, the task
    /// stays: sysmon cancels it, or this worker after its poll, but not in the middle of the poll,
    /// where a lock may be held that the task needs when it is dropped (T6).
    #[cold]
    fn empty_slot_without_seat(&self) {
        if self.me.seat().is_closed() {
            self.me.scheduler.tell_sysmon();
        } else if self.seat_held().is_none() || self.me.seat().is_at_job() {
            self.queues.empty_slot(&self.me);
        }
    }

    /// Gives everything in its queues to those that all workers share.
    pub(super) fn give_all_away(&self) {
        self.give_jobs_away();
        let tasks = self.queues.take_all(&self.me);
        if tasks.len() > 0 {
            self.me.give_away(tasks);
            self.me.scheduler.notify();
        }
    }

    /// Cancels what is left in its queues, at shutdown, when its thread has done with it.
    pub(super) fn clear(&self) {
        self.me.scheduler.await_close();
        let mut drain = || {
            one_after_the_other(|| {
                self.finish_jobs();
                let mut tasks = self.queues.take_all(&self.me);
                if tasks.len() > 0 {
                    self.me.scheduler.leftovers.leave_all(&mut tasks);
                    self.me.scheduler.tell_sysmon();
                }
                self.queues.end_pinned(&self.me);
                // What is left to all workers, together with the others that end (T9).
                while self.me.scheduler.cancel_next() {}
            });
        };
        (self.me.scheduler.config.outside_of_tasks)(&mut drain);
    }
}

impl Me {
    /// Pushes tasks to the inject queue. If that is closed, they are cancelled later, by others or
    /// in [`clear`](Worker::clear): what futures do when they are dropped must find nothing
    /// borrowed here.
    fn give_away(&self, mut tasks: TaskList<Scheduler>) {
        self.scheduler.inject.push_batch(this_thread() as usize, &mut tasks);
        if tasks.len() > 0 {
            self.scheduler.leftovers.leave_all(&mut tasks);
        }
    }
}

/// Cancels what is left in its queues, on this thread, also if it never ran.
impl Drop for Worker {
    fn drop(&mut self) {
        self.clear();
        if !self.is_spare() {
            self.me.scheduler.one_has_ended();
        }
    }
}

thread_local! {
    /// The worker of this thread.
    static HERE: Cell<*const Worker> = const { Cell::new(ptr::null()) };
    /// That worker's deque, if there is a worker: what a join needs, without a load of the worker.
    static DEQUE: Cell<Option<deque::OwnerPtr<super::jobs::Job>>> = const { Cell::new(None) };
}

/// The address of this thread's worker, or null.
#[inline(always)]
fn address_here() -> *const Worker {
    HERE.try_with(Cell::get).unwrap_or(ptr::null())
}

/// Makes another worker that of this thread, or none; returns which it was. A thread that is ending
/// has none.
///
/// # Safety
/// Null, or of a worker that lives, and stays where it is, until something else is set.
unsafe fn replace_here(worker: *const Worker) -> *const Worker {
    // SAFETY: (W10) alive, as the caller promises.
    let deque = unsafe { worker.as_ref() }.map(Worker::deque_ptr);
    let _ = DEQUE.try_with(|here| here.set(deque));
    HERE.try_with(|here| here.replace(worker)).unwrap_or(ptr::null())
}

/// Calls `f` with the worker of this thread, if it has one and that has not stepped aside.
#[inline(always)]
pub(crate) fn with_here<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    // SAFETY: (W10) it lives on this thread's stack, below `f`.
    f(unsafe { address_here().as_ref() })
}

/// The worker of this thread.
///
/// # Safety
/// A caller further down on the stack has found it here, by [`with_here`] or because it runs a job.
#[inline(always)]
pub(crate) unsafe fn here<'a>() -> &'a Worker {
    let worker = HERE.with(Cell::get);
    debug_assert!(!worker.is_null(), "a worker that has stepped aside has come back");
    // SAFETY: (W10) as in with_here(): it is still there, as the caller promises.
    unsafe { &*worker }
}

/// The deque of this thread's worker. Returns `None` if the thread has none, or if that worker has
/// stepped aside.
#[inline(always)]
pub(crate) fn deque_here() -> Option<deque::OwnerPtr<super::jobs::Job>> {
    DEQUE.try_with(Cell::get).unwrap_or(None)
}

/// The number of the seat that this thread's worker holds, if there is a worker and it holds one.
pub(crate) fn worker_index() -> Option<usize> {
    with_here(|worker| worker.and_then(Worker::seat_held))
}

/// Makes a worker that of this thread until this is dropped. Another worker of the same thread may
/// be waiting for what this one does.
pub(super) struct Entered<'a> {
    worker: &'a Worker,
    outer: *const Worker,
    _on_thread: OnThread<'a>,
    _here: trace::Here,
    _sits: Option<Sits<'a>>,
}

impl<'a> Entered<'a> {
    pub(super) fn new(worker: &'a Worker) -> Self {
        // SAFETY: (W10) it is borrowed until the drop sets the one before.
        let outer = unsafe { replace_here(worker) };
        let (me, now) = (&worker.me, Clock::now());
        worker.queues.rested(now);
        me.come_to_thread();
        let reactors = me.scheduler.config.reactors.as_ref();
        Entered {
            worker,
            outer,
            _on_thread: me.counters.run_here(now),
            _here: trace::enter(me.scheduler.recorder(), me.scribe.as_ref()),
            _sits: reactors.map(|reactors| reactors.sit(me.seat.get())),
        }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // SAFETY: (W10) it was here before, and its frame is further down.
        let worker = unsafe { replace_here(self.outer) };
        debug_assert!(ptr::eq(worker, self.worker));
    }
}
