//! What the scheduler records, and in whose lane. No code bases a decision on it.

use super::blocking::NeverWaits;
use super::shared::{Runnable, Shared};
use crate::stall::{StallCause, StallReport};
use crate::task::{self, Notified};
use crate::trace::{EventKind, OffWorker, Recorder, StallKind, StringId, Subject, TaskId};
use std::sync::Arc;

/// Records rare events, and those of threads that are no workers.
impl Shared {
    pub(crate) fn recorder(&self) -> Option<&Arc<Recorder>> {
        self.config.recorder.as_ref()
    }

    /// Records an event in the lane of the calling thread.
    #[inline]
    pub(super) fn record(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(recorder) = self.recorder() {
            recorder.record(kind());
        }
    }

    /// Records a new task, before another thread has it.
    pub(super) fn record_spawn(&self, task: &Runnable) {
        if let Some(recorder) = self.recorder() {
            recorder.spawned(task.id().number().get(), task.spawned_at());
        }
    }

    /// Records a new closure, before a blocking thread has it.
    #[inline]
    pub(crate) fn record_closure(&self, closure: &Notified<NeverWaits>) {
        if let Some(recorder) = self.recorder() {
            let (id, at) = (closure.id().number().get(), closure.spawned_at());
            recorder.spawned_off_worker(id, OffWorker::Closure, at);
        }
    }

    /// Records the wake-up of a task, before another thread has it.
    pub(super) fn record_wake(&self, task: &Runnable) {
        self.record(|| EventKind::Wake { task: id(task) });
    }

    /// Records that the worker on this seat is woken, if there is one.
    pub(super) fn record_wake_up(&self, seat: usize) {
        if let Some(recorder) = self.recorder() {
            if let Some(worker) = self.seats[seat].holder() {
                recorder.record(EventKind::WakeWorker { worker: worker as u16 });
            }
        }
    }

    /// Records that a worker was found to be stuck.
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
