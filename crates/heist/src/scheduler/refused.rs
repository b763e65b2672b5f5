//! Tasks that come too late: a runtime that goes down drops them.
//!
//! - **A task that is spawned** is dropped by whoever spawns it, there and then, also in the middle
//!   of the drop of another: that drop may wait for the new task, or for what it holds (T9). From a
//!   certain depth on it is left to others, so that a chain of tasks, each of which is spawned by
//!   the drop of the one before, is as long as it likes.
//! - **A task that is woken**, or overflows, is left to whoever clears away: its waker may hold a
//!   lock that the task needs when it is dropped, and did not ask for anything to be dropped (T6).
//!   Threads that clear away drop one task after the other, and any number of threads do so at a
//!   time: one whose drop waits is joined by another (`closing.rs`).
//! - When all that clear away have ended, a woken task is dropped by its waker: on a thread that is
//!   dropping another task, after that one.

use super::shared::{Runnable, Scheduler};
use crate::task::TaskList;
use crate::tuning::NESTED_DROPS;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Waiting = VecDeque<(Scheduler, Runnable)>;

thread_local! {
    /// Those that came while another was being dropped on this thread; `None` if none is.
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
    /// How many refused spawns are being dropped on this thread, each in the drop of the one
    /// before.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Tasks that come too late and are left to whoever clears away.
pub(super) struct Leftovers(Mutex<Left>);

struct Left {
    tasks: TaskList<Scheduler>,
    /// Nobody clears away any more.
    is_closed: bool,
}

impl Leftovers {
    pub(super) fn new() -> Self {
        Leftovers(Mutex::new(Left { tasks: TaskList::new(), is_closed: false }))
    }

    pub(super) fn len(&self) -> usize {
        self.lock().tasks.len()
    }

    /// Leaves a task; gives it back if nobody would come for it.
    pub(super) fn leave(&self, task: Runnable) -> Result<(), Runnable> {
        let mut left = self.lock();
        if left.is_closed {
            return Err(task);
        }
        left.tasks.push(task);
        Ok(())
    }

    /// A worker leaves tasks, which it comes for itself at its end if nobody does before.
    pub(super) fn leave_all(&self, tasks: &mut TaskList<Scheduler>) {
        self.lock().tasks.append(tasks);
    }

    pub(super) fn pop(&self) -> Option<Runnable> {
        self.lock().tasks.pop()
    }

    /// Nobody comes any more: whoever closes it takes what is there, and who comes later keeps its
    /// task.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        // Nothing in here panics with the lock held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scheduler {
    /// Drops a task that was spawned too late.
    pub(super) fn refuse_spawn(&self, task: Runnable) {
        // On a thread that is ending nothing is counted.
        let depth = DEPTH.try_with(Cell::get).unwrap_or(0);
        if depth >= NESTED_DROPS {
            // It counts as spawned (M1): whoever cancels it counts it as cancelled.
            self.late_spawns.add(1);
            self.leave(task);
            // What is dropped here may wait for it.
            let _ = self.call_closer();
            return;
        }
        let _deeper = Deeper::than(depth);
        one_after_the_other(|| (self.config.refuse)(self, task));
    }

    /// Leaves a task that comes too late to whoever clears away (T6).
    pub(super) fn leave(&self, task: Runnable) {
        match self.leftovers.leave(task) {
            Ok(()) => self.alarm.wake(),
            Err(task) => {
                self.cancelled.add(1);
                self.refuse(task);
            }
        }
    }

    /// Drops a task that comes too late for anybody to clear it away; if this thread is dropping
    /// another one, later.
    fn refuse(&self, task: Runnable) {
        let mut task = Some(task);
        // On a thread that is ending nobody waits: there is no list.
        let _ = WAITING.try_with(|waiting| {
            if let Some(waiting) = &mut *waiting.borrow_mut() {
                waiting.extend(task.take().map(|task| (self.clone(), task)));
            }
        });
        if let Some(task) = task {
            one_after_the_other(|| (self.config.refuse)(self, task));
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

/// Whether this thread is dropping tasks that come too late.
pub(super) fn is_dropping() -> bool {
    WAITING.try_with(|waiting| waiting.borrow().is_some()).unwrap_or(false)
}

/// Calls `act`, which drops tasks. Those that come too late meanwhile, on this thread, are dropped
/// afterwards.
pub(crate) fn one_after_the_other(act: impl FnOnce()) {
    let begin = |waiting: &RefCell<Option<Waiting>>| {
        let is_first = waiting.borrow().is_none();
        waiting.borrow_mut().get_or_insert_default();
        is_first
    };
    let _end = End(WAITING.try_with(begin).unwrap_or(false));
    act();
}

/// Drops those that wait, if it was the first to begin; also if that unwinds.
struct End(bool);

impl Drop for End {
    fn drop(&mut self) {
        if self.0 {
            while let Some((scheduler, task)) = next() {
                (scheduler.config.refuse)(&scheduler, task);
            }
        }
    }
}

/// The next one; if there is none, whoever comes now is the first again.
fn next() -> Option<(Scheduler, Runnable)> {
    WAITING.with_borrow_mut(|waiting| {
        let next = waiting.as_mut()?.pop_front();
        if next.is_none() {
            *waiting = None;
        }
        next
    })
}
