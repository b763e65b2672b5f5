//! Jobs of a scope that a worker has counted ahead of time, or not at all yet.

use crate::scheduler::jobs::OfScope;
use std::cell::Cell;
use std::ptr;

/// While a worker is at a job of a scope, between two tasks, it need not tell the scope of each job that it spawns or ends there: the
/// scope cannot be over before this one has ended. It counts many that it may spawn at once, and what is left when it has done
/// with the scope it gives back. So the scope's count is never too low, and too high only as long as that job runs.
pub(crate) struct Credit {
    /// The scope of the job that it is at; null if there is none.
    scope: Cell<*const ()>,
    /// So many jobs are counted there, and have not been spawned, or have ended.
    jobs: Cell<u64>,
    settle: Cell<Option<Settle>>,
}

// SAFETY: (J2) the address is compared with; it is used while what was counted there keeps the scope alive, wherever the worker is.
unsafe impl Send for Credit {}

/// Tells the scope at this address of so many jobs that they have ended.
pub(crate) type Settle = unsafe fn(*const (), u64);

impl Credit {
    pub(super) fn new() -> Self {
        Credit { scope: Cell::new(ptr::null()), jobs: Cell::new(0), settle: Cell::new(None) }
    }

    /// Whether jobs of this scope are counted here.
    #[inline(always)]
    pub(crate) fn is_of(&self, scope: *const ()) -> bool {
        ptr::eq(self.scope.get(), scope)
    }

    /// For a job that is spawned: whether it has been counted.
    #[inline(always)]
    pub(crate) fn take(&self) -> bool {
        let left = self.jobs.get().checked_sub(1);
        self.jobs.set(left.unwrap_or(0));
        left.is_some()
    }

    /// So many have ended, or were counted ahead of time.
    #[inline(always)]
    pub(crate) fn put(&self, jobs: u64) {
        self.jobs.set(self.jobs.get() + jobs);
    }

    /// The worker begins a job, between two tasks, that is of this scope.
    pub(super) fn begin(&self, scope: Option<OfScope>) {
        let address = scope.as_ref().map_or(ptr::null(), |scope| scope.tally);
        if !self.is_of(address) {
            self.settle();
            self.scope.set(address);
            self.settle.set(scope.map(|scope| scope.settle));
        }
    }

    /// That job has ended, and the worker does something else next.
    pub(super) fn settle(&self) {
        let (scope, jobs) = (self.scope.replace(ptr::null()), self.jobs.take());
        if let Some(settle) = self.settle.take().filter(|_| jobs > 0) {
            // SAFETY: (J2) the scope is not left before all that was counted there has ended.
            unsafe { settle(scope, jobs) };
        }
    }
}
