//! Since when tasks are ready.

use super::{Cause, Ready};
use heist::trace::{Outcome, TaskId};
use std::collections::HashMap;

/// The map is emptied when it holds this many tasks. That bounds memory, and loses a few arrows.
const MAX_TASKS: usize = 1 << 18;

/// Times that are not exact may put a wake behind the poll that it led to. A wake that comes so
/// soon after a poll for which there was none, in nanoseconds, belongs to that poll. Guessed.
const SWAPPED: u64 = 50_000;

#[derive(Debug, Default)]
pub(super) struct Tasks(HashMap<TaskId, LastSeen>);

#[derive(Debug, Clone, Copy)]
enum LastSeen {
    Ready(Ready),
    /// Was polled at this time, and nothing was known of a wake.
    PolledUnwoken(u64),
}

impl Tasks {
    /// Further wakes of a task that is ready change nothing.
    pub(super) fn became_ready(&mut self, task: TaskId, cause: Cause, at: u64) {
        match self.0.get(&task) {
            Some(LastSeen::Ready(_)) => {}
            Some(LastSeen::PolledUnwoken(polled)) if at.saturating_sub(*polled) < SWAPPED => {
                self.0.remove(&task);
            }
            _ => self.insert(task, LastSeen::Ready(Ready { at, cause })),
        }
    }

    pub(super) fn started(&mut self, task: TaskId, at: u64) -> Option<Ready> {
        match self.0.remove(&task) {
            Some(LastSeen::Ready(ready)) => Some(ready),
            _ => {
                self.insert(task, LastSeen::PolledUnwoken(at));
                None
            }
        }
    }

    pub(super) fn ended(&mut self, task: TaskId, outcome: Outcome, at: u64) {
        match (outcome, self.0.get_mut(&task)) {
            (Outcome::Done, _) => {
                self.0.remove(&task);
            }
            // Woken while it ran: it waits since it stopped running.
            (Outcome::Again, Some(LastSeen::Ready(ready))) => ready.at = at,
            (Outcome::Again, _) => {
                self.insert(task, LastSeen::Ready(Ready { at, cause: Cause::Again }))
            }
            _ => {}
        }
    }

    fn insert(&mut self, task: TaskId, state: LastSeen) {
        if self.0.len() >= MAX_TASKS {
            self.0.clear();
        }
        self.0.insert(task, state);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Deed;
    use super::*;
    use heist::trace::Lane;

    const TASK: TaskId = TaskId(1);

    fn woken(at: u64) -> Cause {
        Cause::Woken(Deed { by: Lane::Outside, at })
    }

    #[test]
    fn the_first_wake_counts() {
        let mut tasks = Tasks::default();
        tasks.became_ready(TASK, woken(10), 10);
        tasks.became_ready(TASK, woken(20), 20);
        assert_eq!(tasks.started(TASK, 30), Some(Ready { at: 10, cause: woken(10) }));
        assert_eq!(tasks.started(TASK, 40), None);
    }

    #[test]
    fn a_task_that_was_woken_in_its_poll_is_ready_when_that_ends() {
        let mut tasks = Tasks::default();
        tasks.became_ready(TASK, woken(10), 10);
        tasks.ended(TASK, Outcome::Again, 25);
        assert_eq!(tasks.started(TASK, 30), Some(Ready { at: 25, cause: woken(10) }));
        tasks.ended(TASK, Outcome::Again, 35);
        // The poll before it had a wake of its own, so this is no late one.
        assert_eq!(tasks.started(TASK, 40), Some(Ready { at: 35, cause: Cause::Again }));
    }

    #[test]
    fn a_wake_behind_the_poll_that_it_led_to_is_not_kept_for_the_next() {
        let mut tasks = Tasks::default();
        assert_eq!(tasks.started(TASK, 100), None);
        tasks.ended(TASK, Outcome::Waits, 110);
        tasks.became_ready(TASK, woken(120), 120);
        assert_eq!(tasks.started(TASK, 900_000), None);
        tasks.became_ready(TASK, woken(2_000_000), 2_000_000);
        assert!(tasks.started(TASK, 2_000_010).is_some());
    }

    #[test]
    fn a_task_that_is_done_is_forgotten() {
        let mut tasks = Tasks::default();
        tasks.became_ready(TASK, woken(10), 10);
        tasks.ended(TASK, Outcome::Done, 25);
        assert!(tasks.0.is_empty());
    }

    #[test]
    fn memory_is_bounded() {
        let mut tasks = Tasks::default();
        for number in 0..2 * MAX_TASKS as u64 {
            tasks.became_ready(TaskId(number), woken(number), number);
        }
        assert!(tasks.0.len() <= MAX_TASKS);
    }
}
