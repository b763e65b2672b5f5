//! Tasks that come too late. What one of them does when it is dropped may wake the next, and so on: they
//! are dropped one after the other, not inside of each other, however long the chain is, and whatever
//! lock one of them holds while it wakes the next (T6).
//!
//! Who spawns into a runtime that goes down drops the task. Who wakes one, or overflows, leaves it to be dropped
//! by others: it may hold a lock which the task needs, and did not ask for anything to be dropped.

use super::shared::{Runnable, Scheduler};
use crate::task::TaskList;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Waiting = VecDeque<(Scheduler, Runnable)>;

thread_local! {
    /// Those that came while another was being dropped on this thread; `None` if none is.
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
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

    /// Nobody comes any more: whoever closes it takes what is there, and who comes later keeps its task.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        // Nothing in here panics with the lock held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scheduler {
    /// Drops a task that comes too late; if that goes on with another one already, later.
    pub(super) fn refuse(&self, task: Runnable) {
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
