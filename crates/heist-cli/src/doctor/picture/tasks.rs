//! The tasks seen last.

use super::PlaceId;
use heist::trace::TaskId;
use std::collections::HashMap;
use std::time::Duration;

/// The number of tasks that are known at least; at most twice as many. Guessed: some megabytes.
const KEPT: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// What is known of a task.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::doctor) struct TaskState {
    pub(in crate::doctor) place: PlaceId,
    /// When, if the trace tells of it.
    pub(in crate::doctor) spawned: Option<Duration>,
    /// If not, polls on other workers may seem to have been before it.
    pub(in crate::doctor) is_spawn_exact: bool,
    pub(in crate::doctor) was_polled: bool,
    /// Since when the task has waited for a worker.
    pub(in crate::doctor) runnable: Option<Since>,
    /// Since when the task has waited to be woken: the end of its last poll.
    pub(in crate::doctor) waits: Option<Duration>,
    pub(super) was_woken: bool,
    /// Its place knows of it.
    pub(super) is_counted: bool,
}

/// A moment, by three clocks.
#[derive(Debug, Clone, Copy)]
pub(in crate::doctor) struct Since {
    pub(in crate::doctor) at: Duration,
    /// How long somebody had been idle then, in all.
    pub(super) idle: Duration,
    /// How long nobody had driven the runtime then, in all.
    pub(super) abandoned: Duration,
}

/// Two generations. A task with an event moves to the young one; when that is full, it becomes the
/// old one, and the previous old one is dropped.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    young: HashMap<TaskId, TaskState>,
    old: HashMap<TaskId, TaskState>,
}

impl Tasks {
    pub(super) fn touch(&mut self, task: TaskId) -> &mut TaskState {
        if self.young.len() >= KEPT && !self.young.contains_key(&task) {
            self.old = std::mem::take(&mut self.young);
        }
        let old = &mut self.old;
        self.young.entry(task).or_insert_with(|| old.remove(&task).unwrap_or_default())
    }

    pub(super) fn get(&self, task: TaskId) -> Option<&TaskState> {
        self.young.get(&task).or_else(|| self.old.get(&task))
    }

    pub(super) fn remove(&mut self, task: TaskId) {
        self.young.remove(&task);
        self.old.remove(&task);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (TaskId, &TaskState)> {
        self.young.iter().chain(&self.old).map(|(id, state)| (*id, state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_with_events_are_kept_and_others_are_forgotten() {
        let mut tasks = Tasks::default();
        tasks.touch(TaskId(0)).was_polled = true;
        for number in 1..10 * KEPT as u64 {
            tasks.touch(TaskId(number));
            if number % 32 == 0 {
                assert!(tasks.touch(TaskId(0)).was_polled, "after {number}");
            }
        }
        assert!(tasks.get(TaskId(1)).is_none());
        assert!(tasks.iter().count() <= 2 * KEPT);
    }
}
