//! The counter for the budget-forced yields of each thread.
//!
//! The code that uses up a budget knows no workers. Therefore each thread registers a counter in
//! advance: its worker's, or the one for all threads in `block_on`.

use super::SharedCounter;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

thread_local! {
    static HERE: Cell<*const SharedCounter> = const { Cell::new(ptr::null()) };
}

/// Restores the previous counter when it is dropped. Not Send, because it belongs to its thread.
pub(crate) struct Counting<'a> {
    before: *const SharedCounter,
    _counter: PhantomData<&'a SharedCounter>,
}

/// Has the calling thread's forced yields counted here while the returned guard exists.
pub(crate) fn count_at(counter: &SharedCounter) -> Counting<'_> {
    Counting { before: HERE.replace(counter), _counter: PhantomData }
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        HERE.set(self.before);
    }
}

/// Counts a poll on this thread that was cut short because its budget was used up.
#[cold]
pub(crate) fn budget_forced_yield() {
    // SAFETY: (type) it comes from a `Counting`, which borrows the counter, stays on its thread,
    // and restores the previous one when it is dropped. One is forgotten, in Worker::stay_here(),
    // where the counter is never freed.
    if let Some(counter) = unsafe { HERE.get().as_ref() } {
        counter.add(1);
    }
}
