//! What is recorded here and there, and whose record it is. No code decides by it what to do next.

use super::blocking::NeverWaits;
use super::shared::{Runnable, Shared};
use crate::stall::{StallCause, StallReport};
use crate::task::{self, Notified};
use crate::trace::{EventKind, OffWorker, Recorder, StallKind, StringId, Subject, TaskId};
use std::sync::Arc;

/// For what is rare, or done by threads that are no workers.
impl Shared {
    pub(crate) fn recorder(&self) -> Option<&Arc<Recorder>> {
        self.config.recorder.as_ref()
    }

    /// By whichever thread calls.
    #[inline]
    pub(super) fn record(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(recorder) = self.recorder() {
            recorder.record(kind());
        }
    }

    /// A task that is new, before another thread has it.
    pub(super) fn record_spawn(&self, task: &Runnable) {
        if let Some(recorder) = self.recorder() {
            recorder.spawned(task.id().number().get(), task.spawned_at());
        }
    }

    /// A closure for the blocking threads, before any of them has it.
    #[inline]
    pub(crate) fn record_closure(&self, closure: &Notified<NeverWaits>) {
        if let Some(recorder) = self.recorder() {
            let (id, at) = (closure.id().number().get(), closure.spawned_at());
            recorder.spawned_off_worker(id, OffWorker::Closure, at);
        }
    }

    /// A task that was woken, before another thread has it.
    pub(super) fn record_wake(&self, task: &Runnable) {
        self.record(|| EventKind::Wake { task: id(task) });
    }

    /// The worker that holds this seat is woken, if any does.
    pub(super) fn record_wake_up(&self, seat: usize) {
        if let Some(recorder) = self.recorder() {
            if let Some(worker) = self.seats[seat].holder() {
                recorder.record(EventKind::WakeWorker { worker: worker as u16 });
            }
        }
    }

    /// A worker was found stuck.
    pub(super) fn record_stall(&self, worker: usize, report: &StallReport) {
        let Some(recorder) = self.recorder() else { return };
        let task = report.task_id().map_or(0, |task| task.number().get());
        let kind = match report.cause() {
            StallCause::Burning => StallKind::Burning,
            // The number stands for the name until the dump.
            StallCause::Blocked { system_call: Some(call) } => {
                StallKind::Blocked(StringId(call.number()))
            }
            StallCause::Blocked { system_call: None } => StallKind::Waiting,
            StallCause::Unknown => StallKind::Unknown,
        };
        recorder.record(EventKind::Stall { worker: worker as u16, task: TaskId(task), kind });
        recorder.dump_requests().stalled();
    }

    /// All that is recorded, if anything is.
    pub(crate) fn trace(&self) -> Option<Subject<'_>> {
        Some(Subject {
            recorder: self.recorder()?,
            scribes: self.remotes.all().filter_map(|remote| remote.scribe.as_deref()).collect(),
            seats: self.remotes.seats(),
            name_of: |task| task::last_name_of(task::Id::from_number(task)?),
        })
    }
}

/// A task, as it stands in the record.
#[inline(always)]
pub(super) fn id(task: &Runnable) -> TaskId {
    TaskId(task.id().number().get())
}
