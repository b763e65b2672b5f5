//! How many jobs of a scope have not ended.

use super::latch::Latch;
use crate::canary;
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicU64, Ordering};
use std::cell::Cell;

#[cfg(all(test, loom))]
mod loom_tests;

/// Counts jobs in two places: in a cell for the owner of the scope, and in a word for all others. Either may be
/// less than nothing, as jobs end elsewhere than they were spawned; the sum of both is right. The scope, and this with
/// it, may go as soon as that is zero (J2).
pub(super) struct Count {
    /// What the owner has counted. In lines that are touched by its thread alone: it counts all the time.
    own: CachePadded<Own>,
    /// What all others have counted, and [`BIAS`] until the owner has added its part. Wraps.
    others: CachePadded<AtomicU64>,
    /// Set when `others` has come to 0.
    latch: Latch,
}

struct Own {
    /// Wraps.
    count: Cell<u64>,
    /// Whether it has been added to `others`: then the owner counts there, too.
    is_merged: Cell<bool>,
}

/// So far from 0 that no number of jobs reaches it: until the owner has added its part, others do not come to 0.
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

    /// One more job, from a job that has not ended or from the owner.
    ///
    /// # Safety
    /// `by_owner` on the owner's thread alone.
    #[inline]
    pub(super) unsafe fn add(&self, by_owner: bool) {
        if by_owner && !self.own.is_merged.get() {
            self.own.count.set(self.own.count.get().wrapping_add(1));
        } else {
            self.add_ahead(1);
        }
    }

    /// So many more jobs, of which some may not be spawned: then they are [ended](Self::done_all) without it.
    pub(super) fn add_ahead(&self, jobs: u64) {
        if canary::COUNT_AHEAD_FORGOTTEN.sings() {
            return;
        }
        // Relaxed: who spawns is counted itself, or is the owner, who has not begun to wait.
        self.others.fetch_add(jobs, Ordering::Relaxed);
    }

    /// A job has ended. If that was the last, and the owner waits for the latch, it has to be [`set`](Self::set); else all
    /// of this may be gone.
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

    /// The same for so many at once, that others have counted.
    #[must_use = "the owner may wait for it"]
    pub(super) fn done_all(&self, jobs: u64) -> bool {
        // AcqRel: pairs with itself, and with the Acquire in is_over(): what jobs did is visible to the owner.
        self.others.fetch_sub(jobs, canary::COUNT_DONE_RELAXED.weakens(Ordering::AcqRel)) == jobs
    }

    /// After [`done`](Self::done) has said so.
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

    /// The owner adds its part. From now on the last job to end has the [`latch`](Self::latch) set; if there is none, it
    /// is set.
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
