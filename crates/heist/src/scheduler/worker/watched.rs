//! What is written down of a worker's doings, if it is: in each of these one branch is all that it costs else.

use super::Local;
use crate::scheduler::shared::{Runnable, Scheduler};
use crate::scheduler::trace::id;
use crate::task::Ran;
use crate::trace::{EventKind, Outcome, PollSource};

/// Who looks at the polls of a worker: one thing to ask, if nobody does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    Nobody,
    /// They are written down, and that is all.
    Scribe,
    /// They are timed, and perhaps written down.
    Histogram,
}

impl Watch {
    pub(super) fn new(is_recorded: bool, is_timed: bool) -> Self {
        match (is_timed, is_recorded) {
            (true, _) => Watch::Histogram,
            (false, true) => Watch::Scribe,
            (false, false) => Watch::Nobody,
        }
    }
}

impl Local {
    /// Runs a task whose polls are timed, or written down.
    #[inline(always)]
    pub(super) fn run_watched(
        &self,
        task: Runnable,
        source: PollSource,
        scheduler: &Scheduler,
    ) -> Ran<Runnable> {
        let Some(scribe) = &self.scribe else { return self.run_timed(task, scheduler) };
        let begun = scribe.begin_poll(task.id().number().get(), source, task.spawned_at());
        let ran = match self.watch {
            Watch::Histogram => self.run_timed(task, scheduler),
            _ => task.run(scheduler),
        };
        let outcome = match ran {
            Ran::Done => Outcome::Done,
            Ran::Waits => Outcome::Waits,
            Ran::Again(_) => Outcome::Again,
        };
        scribe.end_poll(begun, outcome);
        ran
    }

    #[inline(never)]
    fn run_timed(&self, task: Runnable, scheduler: &Scheduler) -> Ran<Runnable> {
        match &self.counters.poll_times {
            None => task.run(scheduler),
            Some(histogram) => histogram.time(|| task.run(scheduler)),
        }
    }

    /// A task that this worker spawned, before anybody else has it.
    #[inline]
    pub(super) fn record_spawn(&self, task: &Runnable) {
        if let Some(scribe) = &self.scribe {
            scribe.spawned(task.id().number().get(), task.spawned_at());
        }
    }

    /// A task that this worker woke, before anybody else has it.
    #[inline]
    pub(super) fn record_wake(&self, task: &Runnable) {
        if let Some(scribe) = &self.scribe {
            scribe.note(EventKind::Wake { task: id(task) });
        }
    }

    /// For what is rare.
    #[inline]
    pub(super) fn record(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(scribe) = &self.scribe {
            scribe.record(kind());
        }
    }
}
