//! What is written down of a worker's doings, if it is: in each of these one branch is all that it costs else.

use super::Local;
use crate::metrics::WorkerCounters;
use crate::scheduler::shared::{Runnable, Scheduler};
use crate::scheduler::trace::id;
use crate::task::Ran;
use crate::trace::{EventKind, Outcome, PollSource, Scribe};
use std::sync::Arc;

/// Who looks at the polls of a worker; `None`: nobody. Where polls are timed for a histogram it is one who is there to say
/// that they are, and writes nothing.
pub(super) type Watch = Option<Arc<Scribe>>;

pub(super) fn watch(scribe: Option<&Arc<Scribe>>, counters: &WorkerCounters) -> Watch {
    match counters.poll_times {
        Some(_) => Some(Arc::new(Scribe::mute())),
        None => scribe.cloned(),
    }
}

impl Local {
    /// Runs a task, and tells whoever wants to know.
    #[inline(always)]
    pub(super) fn run_watched(
        &self,
        task: Runnable,
        source: PollSource,
        scheduler: &Scheduler,
    ) -> Ran<Runnable> {
        match &self.watch {
            None => task.run(scheduler),
            Some(scribe) if scribe.is_precise() => self.run_timed(task, source, scheduler),
            Some(scribe) => {
                let begun = scribe.begin_untimed_poll(task.id().number().get(), source);
                let ran = task.run(scheduler);
                scribe.end_poll(begun, outcome(&ran));
                ran
            }
        }
    }

    #[inline(never)]
    fn run_timed(
        &self,
        task: Runnable,
        source: PollSource,
        scheduler: &Scheduler,
    ) -> Ran<Runnable> {
        let run = |task: Runnable| match &self.counters.poll_times {
            None => task.run(scheduler),
            Some(histogram) => histogram.time(|| task.run(scheduler)),
        };
        match &self.scribe {
            None => run(task),
            Some(scribe) => recorded(scribe, task, source, run),
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

/// What is recorded of a worker that is run now and then: while nobody does, it has no seat.
pub(super) struct SeatRecord<'a>(&'a Local);

impl<'a> SeatRecord<'a> {
    pub(super) fn new(local: &'a Local) -> Self {
        local.record(|| EventKind::SeatTaken { seat: local.seat.get() as u16 });
        SeatRecord(local)
    }
}

impl Drop for SeatRecord<'_> {
    fn drop(&mut self) {
        self.0.record(|| EventKind::SeatLeft { seat: self.0.seat.get() as u16 });
    }
}

/// Runs a task, and has it written down.
#[inline(always)]
fn recorded(
    scribe: &Scribe,
    task: Runnable,
    source: PollSource,
    run: impl FnOnce(Runnable) -> Ran<Runnable>,
) -> Ran<Runnable> {
    let begun = scribe.begin_poll(task.id().number().get(), source, task.spawned_at());
    let ran = run(task);
    scribe.end_poll(begun, outcome(&ran));
    ran
}

#[inline(always)]
fn outcome(ran: &Ran<Runnable>) -> Outcome {
    match ran {
        Ran::Done => Outcome::Done,
        Ran::Waits => Outcome::Waits,
        Ran::Again(_) => Outcome::Again,
    }
}
