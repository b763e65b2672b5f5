//! Counting what the scheduler does (M1).
//!
//! | module | what |
//! |---|---|
//! | `worker` | what is counted for each worker |
//! | `busy` | for how long a worker was not asleep |
//! | `forced_yields` | which counter a thread's budget-forced yields belong to |
//! | `stalls` | tasks that kept their worker for too long |
//! | `histogram` | how long polls take, if the user asks for it |
//!
//! Nothing here decides what the scheduler does next, so loom need not see it: these are the
//! standard library's atomics. What is public is `runtime::RuntimeMetrics`.

mod busy;
mod forced_yields;
mod histogram;
mod stalls;
mod worker;

pub(crate) use forced_yields::{budget_forced_yield, count_at};
pub use histogram::{
    HistogramConfiguration, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
};
pub(crate) use stalls::Stalls;
pub(crate) use worker::{OnThread, WorkerCounters};

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that one thread at a time writes, and any thread reads (M1). Adding to it is a plain
/// load and a plain store: no read-modify-write.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    #[inline(always)]
    pub(crate) fn add(&self, count: u64) {
        self.set(self.get().wrapping_add(count));
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that any thread may add to; for what is rare.
#[derive(Debug, Default)]
pub(crate) struct SharedCounter(AtomicU64);

impl SharedCounter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
