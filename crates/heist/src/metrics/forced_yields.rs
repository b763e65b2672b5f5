//! Which counter a thread's budget-forced yields belong to.
//!
//! Where the budget runs out nothing is known of workers. So a thread says beforehand where they are
//! counted: with its worker's, or with those of all that wait in `block_on`.

use super::SharedCounter;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

thread_local! {
    static HERE: Cell<*const SharedCounter> = const { Cell::new(ptr::null()) };
}

/// Puts back what was there before. Not Send: it belongs to its thread.
pub(crate) struct Counting<'a> {
    before: *const SharedCounter,
    _counter: PhantomData<&'a SharedCounter>,
}

/// The calling thread's are counted here, for as long as what is returned lives.
pub(crate) fn count_at(counter: &SharedCounter) -> Counting<'_> {
    Counting { before: HERE.replace(counter), _counter: PhantomData }
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        HERE.set(self.before);
    }
}

/// A poll on this thread was cut short for want of budget.
#[cold]
pub(crate) fn budget_forced_yield() {
    // SAFETY: (type) it comes from a `Counting`, which borrows the counter, stays on its thread, and puts back what was
    // there before when it is dropped. One is forgotten, in Worker::stay_here(), where the counter is never freed.
    if let Some(counter) = unsafe { HERE.get().as_ref() } {
        counter.add(1);
    }
}
