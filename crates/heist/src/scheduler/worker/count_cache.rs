//! A worker's cache of a scope's count.

use crate::scheduler::jobs::OfScope;
use std::cell::Cell;
use std::ptr;

/// Jobs of a scope that its count does not show yet, or shows ahead of time.
///
/// While a worker runs a job of a scope, between two tasks, the scope cannot end. So the worker
/// need not count each job that it spawns or ends there: it counts many jobs ahead at once, and
/// subtracts what is left when it goes on to something else. The scope's count is never too low,
/// and it is too high only while that job runs.
pub(crate) struct CountCache {
    /// The scope of the job that the worker runs; null if there is none.
    scope: Cell<*const ()>,
    /// The number of jobs that the scope counts and that were not spawned or have ended.
    jobs: Cell<u64>,
    settle: Cell<Option<Settle>>,
}

// SAFETY: (J2) the scope's address is compared; it is used only while what was counted there keeps
// the scope alive, on whichever thread the worker is.
unsafe impl Send for CountCache {}

/// Counts jobs as ended in the scope at this address.
pub(crate) type Settle = unsafe fn(*const (), u64);

impl CountCache {
    pub(super) fn new() -> Self {
        CountCache { scope: Cell::new(ptr::null()), jobs: Cell::new(0), settle: Cell::new(None) }
    }

    /// Whether this is the cache of this scope's count.
    #[inline(always)]
    pub(crate) fn is_of(&self, scope: *const ()) -> bool {
        ptr::eq(self.scope.get(), scope)
    }

    /// Counts a job that is spawned. Returns `false` if no job is counted ahead.
    #[inline(always)]
    pub(crate) fn take(&self) -> bool {
        let left = self.jobs.get().checked_sub(1);
        self.jobs.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Adds jobs that have ended or were counted ahead.
    #[inline(always)]
    pub(crate) fn put(&self, jobs: u64) {
        self.jobs.set(self.jobs.get() + jobs);
    }

    /// The worker begins a job of this scope between two tasks.
    pub(super) fn begin(&self, scope: Option<OfScope>) {
        let address = scope.as_ref().map_or(ptr::null(), |scope| scope.address);
        if !self.is_of(address) {
            self.settle();
            self.scope.set(address);
            self.settle.set(scope.map(|scope| scope.settle));
        }
    }

    /// The job has ended, and the worker goes on to something else.
    pub(super) fn settle(&self) {
        let (scope, jobs) = (self.scope.replace(ptr::null()), self.jobs.take());
        if let Some(settle) = self.settle.take().filter(|_| jobs > 0) {
            // SAFETY: (J2) the scope is not left before all jobs that it counts are counted as
            // ended.
            unsafe { settle(scope, jobs) };
        }
    }
}
