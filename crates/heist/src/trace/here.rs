//! Who writes down what happens on this thread, for those who know neither workers nor runtimes.

use super::event::{Aside, EventKind, Outcome, Resource, TaskId};
use super::recorder::Recorder;
use super::scribe::Scribe;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

/// Where a thread is: on which runtime, and as which worker if it is one.
pub(super) struct Place {
    pub(super) recorder: Arc<Recorder>,
    pub(super) scribe: Option<Arc<Scribe>>,
}

thread_local! {
    static HERE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// Puts back what the thread was before. Not Send: it belongs to its thread.
pub(crate) struct Here {
    before: Option<Place>,
    _thread: PhantomData<*const ()>,
}

/// The calling thread runs a worker of a runtime that records or does not, or belongs to one, for as long as
/// what is returned lives.
pub(crate) fn enter(recorder: Option<&Arc<Recorder>>, scribe: Option<&Arc<Scribe>>) -> Here {
    let place =
        recorder.map(|recorder| Place { recorder: recorder.clone(), scribe: scribe.cloned() });
    // On a thread that is ending nothing is recorded any more.
    let before = HERE.try_with(|here| here.replace(place)).ok().flatten();
    Here { before, _thread: PhantomData }
}

impl Drop for Here {
    fn drop(&mut self) {
        let _ = HERE.try_with(|here| here.replace(self.before.take()));
    }
}

/// Something has happened on this thread, exactly now. It is recorded if its runtime records.
pub(crate) fn record_here(kind: EventKind) {
    with(|place| match &place.scribe {
        Some(scribe) => scribe.record(kind),
        None => place.recorder.record_outside(kind),
    });
}

/// A poll on this thread was cut short for want of budget.
#[cold]
pub(crate) fn budget_exhausted(task: Option<u64>, resource: Resource) {
    record_here(EventKind::BudgetExhausted { task: TaskId(task.unwrap_or(0)), resource });
}

/// The poll that goes on has panicked.
#[cold]
pub(crate) fn task_panicked() {
    with(|place| place.recorder.wishes().panicked());
}

/// The future that is polled on this thread has returned, and others may have its task next.
#[cold]
pub(crate) fn poll_returned() {
    with(|place| place.scribe.iter().for_each(|scribe| scribe.returned()));
}

/// A task was spawned on this thread that no worker will run.
pub(crate) fn spawned_aside(task: u64, aside: Aside, at: &'static Location<'static>) {
    with(|place| place.recorder.spawned_aside(task, aside, at));
}

/// Whether anything is recorded of what this thread does.
pub(crate) fn is_recording() -> bool {
    with(|_| ()).is_some()
}

/// Runs a task that is no worker's, on this thread, and writes that down.
#[cold]
#[inline(never)]
pub(crate) fn run_aside<R>(
    task: u64,
    run: impl FnOnce() -> R,
    outcome: impl FnOnce(&R) -> Outcome,
) -> R {
    let task = TaskId(task);
    record_here(EventKind::AsideStart { task });
    let ran = run();
    record_here(EventKind::AsideEnd { task, outcome: outcome(&ran) });
    ran
}

/// Calls `f` with where the thread is, if it is anywhere.
pub(super) fn with<R>(f: impl FnOnce(&Place) -> R) -> Option<R> {
    HERE.try_with(|here| here.borrow().as_ref().map(f)).ok().flatten()
}
