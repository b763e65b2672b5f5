//! Tasks that come too late. What one of them does when it is dropped may wake the next, and so on: they
//! are dropped one after the other, not inside of each other, however long the chain is (T6).

use super::shared::{Runnable, Scheduler};
use std::cell::RefCell;
use std::collections::VecDeque;

type Waiting = VecDeque<(Scheduler, Runnable)>;

thread_local! {
    /// Those that came while another was being dropped on this thread; `None` if none is.
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

impl Scheduler {
    /// Drops a task that comes too late; if that goes on with another one already, later.
    pub(super) fn refuse(&self, task: Runnable) {
        let mut task = Some(task);
        let is_first = WAITING.try_with(|waiting| match &mut *waiting.borrow_mut() {
            Some(waiting) => {
                waiting.extend(task.take().map(|task| (self.clone(), task)));
                false
            }
            nobody => {
                *nobody = Some(Waiting::new());
                true
            }
        });
        let Some(task) = task else { return };
        (self.config.refuse)(self, task);
        // On a thread that is ending nobody waits: there is no list.
        if is_first == Ok(true) {
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
