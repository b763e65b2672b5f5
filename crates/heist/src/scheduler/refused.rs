//! What a shutdown drops: what had not begun, and what comes too late.
//!
//! - **What had not begun** (queued and waiting tasks, blocking closures and jobs without a thread,
//!   wakers in the reactors) is dropped once the whole runtime is closed (T9). It is in the
//!   leftovers or in `waiting`. Any number of threads take one thing after the other and drop it:
//!   if one thread's drop blocks, another continues (`closing.rs`).
//! - **A task, closure or job that is spawned later** is dropped at once by the thread that spawns
//!   it, even in the middle of another drop, which may wait for it or for what it holds (T9).
//!   Beyond a certain depth it goes to the leftovers, so that a chain in which each drop spawns the
//!   next may have any length.
//! - **A task that is woken later**, or overflows, goes to the leftovers: the waking thread may
//!   hold a lock that the task needs when it is dropped (T6).
//! - **Once the leftovers are closed**, because all threads that drop them have ended, a thread
//!   drops what it would have left: at once, or after what it is dropping already.

use super::blocking::Unbegun;
use super::jobs::Job;
use super::shared::{Runnable, Scheduler};
use super::worker;
use crate::env::quietly;
use crate::task::TaskList;
use crate::tuning::NESTED_DROPS;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Something that a shutdown has to end. Ending it may run any code.
pub(crate) enum Late {
    Task(Runnable),
    Closure(Unbegun),
    /// One that may be refused.
    Job(Job),
    /// One that waited for a timer or for a source.
    Waker(Waker),
}

impl Late {
    /// Drops it, and wakes the threads and tasks that wait for it. Never panics.
    pub(crate) fn end(self) {
        match self {
            Late::Task(task) => drop(task),
            Late::Closure(closure) => closure.end(),
            Late::Job(job) => job.refuse(),
            Late::Waker(waker) => quietly(|| waker.wake()),
        }
    }
}

type Waiting = VecDeque<(Scheduler, Late)>;

thread_local! {
    /// What came while something else was being dropped on this thread; `None` if nothing is.
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
    /// How many refused spawns are being dropped on this thread, each in the drop of the one
    /// before.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// What the threads that end, and closers, have to drop.
pub(super) struct Leftovers(Mutex<Left>);

struct Left {
    tasks: TaskList<Scheduler>,
    /// All but tasks, which have a list that takes no memory.
    others: VecDeque<Late>,
    /// How many of the others were taken.
    taken: u64,
    /// Whether there is a sysmon, or one is coming.
    is_watched: bool,
    /// No thread takes anything from here any more.
    is_closed: bool,
}

impl Leftovers {
    pub(super) fn new() -> Self {
        Leftovers(Mutex::new(Left {
            tasks: TaskList::new(),
            others: VecDeque::new(),
            taken: 0,
            is_watched: false,
            is_closed: false,
        }))
    }

    pub(super) fn len(&self) -> usize {
        let left = self.lock();
        left.tasks.len() + left.others.len()
    }

    /// Leaves something. Returns it if no thread would take it.
    pub(super) fn leave(&self, late: Late) -> Result<(), Late> {
        let mut left = self.lock();
        if left.is_closed {
            return Err(late);
        }
        match late {
            Late::Task(task) => left.tasks.push(task),
            other => left.others.push_back(other),
        }
        Ok(())
    }

    /// Leaves tasks that `gather` takes from other places.
    pub(super) fn gather(&self, gather: impl FnOnce(&mut TaskList<Scheduler>)) {
        gather(&mut self.lock().tasks);
    }

    /// Leaves tasks, which the caller comes for itself if nobody does before.
    pub(super) fn leave_all(&self, tasks: &mut TaskList<Scheduler>) {
        self.lock().tasks.append(tasks);
    }

    /// Leaves other things, as [`leave_all`](Self::leave_all) does.
    pub(super) fn leave_others(&self, others: impl Iterator<Item = Late>) {
        self.lock().others.extend(others);
    }

    /// Jobs and closures come before tasks: threads outside wait for them.
    pub(super) fn pop(&self) -> Option<Late> {
        let mut left = self.lock();
        if let Some(other) = left.others.pop_front() {
            left.taken += 1;
            return Some(other);
        }
        left.tasks.pop().map(Late::Task)
    }

    /// How many were taken that are no tasks.
    pub(super) fn taken(&self) -> u64 {
        self.lock().taken
    }

    /// Notes that there is a sysmon, or that it has ended. Returns whether there was one. A thread
    /// that has left something sees that there is none, or sysmon sees afterwards what was left,
    /// also in the queue of a worker.
    pub(super) fn set_watched(&self, is_watched: bool) -> bool {
        std::mem::replace(&mut self.lock().is_watched, is_watched)
    }

    /// Closes the leftovers, unless something is in them. Threads that come later keep what they
    /// have.
    pub(super) fn close_if_empty(&self) -> bool {
        let mut left = self.lock();
        left.is_closed = left.tasks.len() == 0 && left.others.is_empty();
        left.is_closed
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        // Nothing in here panics with the lock held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scheduler {
    /// Drops something that was spawned too late.
    pub(crate) fn refuse(&self, late: Late) {
        // On a thread that is ending nothing is counted.
        let depth = DEPTH.try_with(Cell::get).unwrap_or(0);
        if depth >= NESTED_DROPS {
            self.leave_new(late);
            // What is dropped here may wait for it.
            let _ = self.call_closer();
            return;
        }
        let _deeper = Deeper::than(depth);
        one_after_the_other(|| self.within(|| late.end()));
    }

    /// Leaves something that was spawned too late.
    pub(crate) fn leave_new(&self, late: Late) {
        if matches!(late, Late::Task(_)) {
            // It counts as spawned (M1); the thread that cancels it counts it as cancelled.
            self.late_spawns.add(1);
        }
        self.leave(late);
    }

    /// Leaves something that comes too late to the threads that drop the leftovers (T6).
    pub(super) fn leave(&self, late: Late) {
        match self.leftovers.leave(late) {
            Ok(()) => self.tell_sysmon(),
            Err(late) => {
                if matches!(late, Late::Task(_)) {
                    self.cancelled.add(1);
                }
                self.end_afterwards(late);
            }
        }
    }

    /// Drops something that no other thread would take; if this thread is dropping something else,
    /// afterwards.
    fn end_afterwards(&self, late: Late) {
        let mut late = Some(late);
        // On a thread that is ending there is no list.
        let _ = WAITING.try_with(|waiting| {
            if let Some(waiting) = &mut *waiting.borrow_mut() {
                waiting.extend(late.take().map(|late| (self.clone(), late)));
            }
        });
        if let Some(late) = late {
            one_after_the_other(|| self.within(|| late.end()));
        }
    }
}

/// The depth of refused spawns on this thread, until it is dropped.
struct Deeper(usize);

impl Deeper {
    fn than(depth: usize) -> Self {
        let _ = DEPTH.try_with(|here| here.set(depth + 1));
        Deeper(depth)
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|here| here.set(self.0));
    }
}

/// Has another thread call a waker that this thread's worker leaves in the middle of a poll, while
/// its runtime shuts down.
pub(crate) fn call_when_closed(waker: Waker) {
    let scheduler = worker::with_here(|worker| worker.map(|worker| worker.scheduler().clone()));
    match scheduler {
        Some(scheduler) => scheduler.leave(Late::Waker(waker)),
        // A thread without a worker is in no poll of one.
        None => waker.wake(),
    }
}

/// Calls `act`, which drops tasks and the like. What comes too late meanwhile, on this thread, and
/// is left to nobody else, is dropped afterwards.
pub(crate) fn one_after_the_other(act: impl FnOnce()) {
    let begin = |waiting: &RefCell<Option<Waiting>>| {
        let is_first = waiting.borrow().is_none();
        waiting.borrow_mut().get_or_insert_default();
        is_first
    };
    let _end = End(WAITING.try_with(begin).unwrap_or(false));
    act();
}

/// Drops what waits, if it was the first to begin; also if that unwinds.
struct End(bool);

impl Drop for End {
    fn drop(&mut self) {
        if self.0 {
            while let Some((scheduler, late)) = next() {
                scheduler.within(|| late.end());
            }
        }
    }
}

/// The next one. If there is none, the next drop is the first again.
fn next() -> Option<(Scheduler, Late)> {
    WAITING.with_borrow_mut(|waiting| {
        let next = waiting.as_mut()?.pop_front();
        if next.is_none() {
            *waiting = None;
        }
        next
    })
}
