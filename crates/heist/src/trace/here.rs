//! The scribe of the current thread, for code that knows neither workers nor runtimes.

use super::event::{EventKind, OffWorker, Outcome, Resource, TaskId};
use super::recorder::Recorder;
use super::scribe::Scribe;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

/// The runtime of a thread, and the worker if it is one.
pub(super) struct Place {
    pub(super) recorder: Arc<Recorder>,
    pub(super) scribe: Option<Arc<Scribe>>,
}

thread_local! {
    static HERE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// Restores the previous place when it is dropped. Not Send, because it belongs to its thread.
pub(crate) struct Here {
    before: Option<Place>,
    _thread: PhantomData<*const ()>,
}

/// Notes that the calling thread runs a worker of a runtime, or belongs to one, while the returned
/// guard exists.
pub(crate) fn enter(recorder: Option<&Arc<Recorder>>, scribe: Option<&Arc<Scribe>>) -> Here {
    let place =
        recorder.map(|recorder| Place { recorder: recorder.clone(), scribe: scribe.cloned() });
    // Nothing is recorded on a thread that is ending.
    let before = HERE.try_with(|here| here.replace(place)).ok().flatten();
    Here { before, _thread: PhantomData }
}

impl Drop for Here {
    fn drop(&mut self) {
        let _ = HERE.try_with(|here| here.replace(self.before.take()));
    }
}

/// Records an event of this thread with the current time, if its runtime records.
#[inline]
pub(crate) fn record_here(kind: impl FnOnce() -> EventKind) {
    with(|place| match &place.scribe {
        Some(scribe) => scribe.record(kind()),
        None => place.recorder.record_outside(kind()),
    });
}

/// Records that a poll on this thread was cut short because its budget was used up.
#[cold]
pub(crate) fn budget_exhausted(task: Option<u64>, resource: Resource) {
    let task = TaskId(task.unwrap_or(0));
    record_here(|| EventKind::BudgetExhausted { task, resource });
}

/// The current poll has panicked.
#[cold]
pub(crate) fn task_panicked() {
    with(|place| place.recorder.dump_requests().panicked());
}

/// The future that this thread polls has returned, and another thread may get its task next.
#[cold]
pub(crate) fn poll_returned() {
    with(|place| place.scribe.iter().for_each(|scribe| scribe.returned()));
}

/// Records that this thread has spawned a task that no worker will run.
pub(crate) fn spawned_off_worker(task: u64, by: OffWorker, at: &'static Location<'static>) {
    with(|place| place.recorder.spawned_off_worker(task, by, at));
}

/// Whether events of this thread are recorded.
pub(crate) fn is_recording() -> bool {
    with(|_| ()).is_some()
}

/// Runs a task that belongs to no worker on this thread, and records that.
#[cold]
#[inline(never)]
pub(crate) fn run_off_worker<R>(
    task: u64,
    run: impl FnOnce() -> R,
    outcome: impl FnOnce(&R) -> Outcome,
) -> R {
    let task = TaskId(task);
    record_here(|| EventKind::OffWorkerStart { task });
    let ran = run();
    record_here(|| EventKind::OffWorkerEnd { task, outcome: outcome(&ran) });
    ran
}

/// Calls `f` with the thread's place, if it has one.
pub(super) fn with<R>(f: impl FnOnce(&Place) -> R) -> Option<R> {
    HERE.try_with(|here| here.borrow().as_ref().map(f)).ok().flatten()
}
