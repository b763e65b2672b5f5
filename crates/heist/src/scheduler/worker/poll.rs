//! One poll of a task, and what is recorded of it. A worker that records nothing pays one branch.

use super::{Me, Worker};
use crate::metrics::WorkerCounters;
use crate::scheduler::shared::{Runnable, Scheduler};
use crate::scheduler::trace::id;
use crate::task::Ran;
use crate::trace::{EventKind, Outcome, PollSource, Scribe};
use std::sync::Arc;

/// What looks at the polls of a worker, if anything does. Where polls are timed for a histogram,
/// it is a scribe that writes nothing: it says that they are timed.
pub(super) type Watcher = Option<Arc<Scribe>>;

pub(super) fn watcher(scribe: Option<&Arc<Scribe>>, counters: &WorkerCounters) -> Watcher {
    match counters.poll_times {
        Some(_) => Some(Arc::new(Scribe::mute())),
        None => scribe.cloned(),
    }
}

impl Worker {
    /// Polls a task for its scheduler. If it was woken meanwhile, it is `put` back into a queue.
    #[inline(always)]
    pub(in crate::scheduler) fn poll(
        &self,
        task: Runnable,
        source: PollSource,
        scheduler: &Scheduler,
        put: impl FnOnce(&Self, Runnable),
    ) {
        let counters = &self.me.counters;
        let running = &self.me.remote().own.running;
        running.set(&task);
        let ran = self.me.poll_watched(task, source, scheduler);
        if self.seat.is_aside() {
            self.come_back();
            running.clear();
        }
        match ran {
            Ran::Done => counters.done.add(1),
            Ran::Waits => counters.waits.add(1),
            Ran::Again(task) => {
                counters.again.add(1);
                put(self, task);
            }
        }
    }
}

impl Me {
    #[inline(always)]
    fn poll_watched(
        &self,
        task: Runnable,
        source: PollSource,
        scheduler: &Scheduler,
    ) -> Ran<Runnable> {
        match &self.watcher {
            None => task.run(scheduler),
            Some(scribe) if scribe.is_precise() => self.poll_timed(task, source, scheduler),
            Some(scribe) => {
                let begun = scribe.begin_untimed_poll(task.id().number().get(), source);
                let ran = task.run(scheduler);
                scribe.end_poll(begun, outcome(&ran));
                ran
            }
        }
    }

    #[inline(never)]
    fn poll_timed(
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

    /// Records a task that this worker spawned, before any other thread has it.
    #[inline]
    pub(super) fn record_spawn(&self, task: &Runnable) {
        if let Some(scribe) = &self.scribe {
            scribe.spawned(task.id().number().get(), task.spawned_at());
        }
    }

    /// Records a task that this worker woke, before any other thread has it.
    #[inline]
    pub(super) fn record_wake(&self, task: &Runnable) {
        if let Some(scribe) = &self.scribe {
            scribe.note(EventKind::Wake { task: id(task) });
        }
    }
}

/// Runs a task and records that.
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
