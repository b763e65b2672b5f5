//! Counters of the scheduler (M1).
//!
//! | module | contents |
//! |---|---|
//! | `worker` | the counters of each worker |
//! | `busy` | how long a worker was awake |
//! | `forced_yields` | which counter the budget-forced yields of a thread belong to |
//! | `stalls` | counters of stalls |
//! | `histogram` | durations of polls, if the user asks for them |
//!
//! Nothing here decides what the scheduler does next, so loom need not see it: these are the
//! standard library's atomics. The public view is `runtime::RuntimeMetrics`.

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

/// A counter that one thread at a time writes and any thread reads (M1). Adding is a plain load and
/// a plain store, not a read-modify-write.
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

/// A counter that any thread may add to, for rare events.
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
