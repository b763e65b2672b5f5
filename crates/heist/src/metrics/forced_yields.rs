//! Which counter a thread's budget-forced yields belong to.
//!
//! Where the budget runs out nothing is known of workers. So a thread says beforehand what it is:
//! a worker, or one that waits in `block_on`.

use super::{SharedCounter, WorkerCounters};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

/// What threads that are no workers count.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) budget_yields: SharedCounter,
}

pub(super) enum Place {
    Worker(Arc<WorkerCounters>),
    Outside(Arc<Outside>),
}

thread_local! {
    static HERE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// Puts back what the thread was before. Not Send: it belongs to its thread.
pub(crate) struct Counting {
    before: Option<Place>,
    _thread: PhantomData<*const ()>,
}

pub(super) fn count_at(place: Place) -> Counting {
    // On a thread that is ending nothing is counted any more.
    let before = HERE.try_with(|here| here.replace(Some(place))).ok().flatten();
    Counting { before, _thread: PhantomData }
}

/// The calling thread waits in `block_on`, for as long as what is returned lives.
pub(crate) fn count_outside(outside: &Arc<Outside>) -> Counting {
    count_at(Place::Outside(Arc::clone(outside)))
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = HERE.try_with(|here| here.replace(self.before.take()));
    }
}

/// A poll on this thread was cut short for want of budget.
#[cold]
pub(crate) fn budget_forced_yield() {
    // A thread that is ending has no budget either.
    let _ = HERE.try_with(|here| match &*here.borrow() {
        Some(Place::Worker(counters)) => counters.budget_yields.add(1),
        Some(Place::Outside(counters)) => counters.budget_yields.add(1),
        None => {}
    });
}
