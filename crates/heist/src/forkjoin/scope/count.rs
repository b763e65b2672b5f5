//! The number of jobs of a scope that have not ended.

use crate::canary;
use crate::forkjoin::latch::Latch;
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicU64, Ordering};
use std::cell::Cell;

#[cfg(all(test, loom))]
mod loom_tests;

/// Counts jobs in two places: in a cell for the owner of the scope, and in a word for all other
/// threads. Either may be below zero, because a job may end elsewhere than it was spawned; the sum
/// is right. The scope, and this count with it, may be gone as soon as the sum is zero (J2).
pub(super) struct Count {
    /// What the owner has counted, in cache lines that only its thread touches: it counts often.
    own: CachePadded<Own>,
    /// What all others have counted, plus [`BIAS`] until the owner has added its part. Wraps.
    others: CachePadded<AtomicU64>,
    /// Set when `others` has reached 0.
    latch: Latch,
}

struct Own {
    /// Wraps.
    count: Cell<u64>,
    /// Whether `count` has been added to `others`, where the owner then counts too.
    is_merged: Cell<bool>,
}

/// Protocol: the offset of `others` until the owner has added its part. No number of jobs reaches
/// it, so before that no thread brings the word to 0.
const BIAS: u64 = 1 << 62;

fn bias() -> u64 {
    if canary::COUNT_UNBIASED.sings() { 0 } else { BIAS }
}

impl Count {
    pub(super) fn new() -> Self {
        Count {
            own: CachePadded::new(Own { count: Cell::new(0), is_merged: Cell::new(false) }),
            others: CachePadded::new(AtomicU64::new(bias())),
            latch: Latch::new(),
        }
    }

    /// Counts a job that is spawned by the owner or by a job that has not ended.
    ///
    /// # Safety
    /// `by_owner` only on the owner's thread.
    #[inline]
    pub(super) unsafe fn add(&self, by_owner: bool) {
        if by_owner && !self.own.is_merged.get() {
            self.own.count.set(self.own.count.get().wrapping_add(1));
        } else {
            self.add_ahead(1);
        }
    }

    /// Counts jobs that may be spawned. Those that are not are counted as
    /// [ended](Self::done_all) later.
    pub(super) fn add_ahead(&self, jobs: u64) {
        if canary::COUNT_AHEAD_FORGOTTEN.sings() {
            return;
        }
        // Relaxed: the spawning job is counted itself, or the owner spawns and does not wait yet.
        self.others.fetch_add(jobs, Ordering::Relaxed);
    }

    /// Counts a job as ended. Returns whether it was the last one and the owner waits for the
    /// latch: then the caller must [`set`](Self::set) it. Otherwise the count may be gone.
    ///
    /// # Safety
    /// As for [`add`](Self::add).
    #[inline]
    #[must_use = "the owner may wait for it"]
    pub(super) unsafe fn done(&self, by_owner: bool) -> bool {
        if by_owner && !self.own.is_merged.get() {
            self.own.count.set(self.own.count.get().wrapping_sub(1));
            return false;
        }
        self.done_all(1)
    }

    /// The same for several jobs, which were counted in `others`.
    #[must_use = "the owner may wait for it"]
    pub(super) fn done_all(&self, jobs: u64) -> bool {
        // AcqRel: pairs with itself, and with the Acquire in is_over(): what jobs did is visible to
        // the owner.
        self.others.fetch_sub(jobs, canary::COUNT_DONE_RELAXED.weakens(Ordering::AcqRel)) == jobs
    }

    /// Sets the latch, after [`done`](Self::done) has returned `true`.
    pub(super) fn set(&self, unpark: impl FnOnce()) {
        self.latch.set(unpark);
    }

    /// Whether all jobs have ended.
    ///
    /// # Safety
    /// On the owner's thread.
    pub(super) unsafe fn is_over(&self) -> bool {
        if self.own.is_merged.get() {
            return self.latch.is_set();
        }
        // Acquire: pairs with the AcqRel in done().
        self.others.load(Ordering::Acquire).wrapping_add(self.own.count.get()) == bias()
    }

    /// Adds the owner's part. From now on the last job to end sets the [`latch`](Self::latch); if
    /// all have ended, this sets it.
    ///
    /// # Safety
    /// On the owner's thread.
    pub(super) unsafe fn merge(&self) {
        if self.own.is_merged.replace(true) {
            return;
        }
        let rest = bias().wrapping_sub(self.own.count.get());
        // AcqRel: as in done().
        let is_last = self.others.fetch_sub(rest, Ordering::AcqRel) == rest;
        if is_last && !canary::COUNT_MERGE_BLIND.sings() {
            self.latch.set(|| {});
        }
    }

    pub(super) fn latch(&self) -> &Latch {
        &self.latch
    }
}
