//! The latch: whether a job has ended, and whether its owner sleeps.

use crate::canary;
use heist_deque::deque::Mark;
use heist_sync::{AtomicU64, Ordering};

#[cfg(all(test, loom))]
mod loom_tests;

/// A word in the frame of the thread that waits for a job, its owner. The thread that sets it must
/// not touch the frame afterwards (J2).
///
/// | bits | field |
/// |---|---|
/// | 0..60 | before BEGUN: the job's position in the owner's deque, if it is in one; then the thief's number, until SET |
/// | 60 | BEGUN: a thief runs the job |
/// | 61 | SLEEPS: the owner sleeps or is about to, and must be unparked; stays until SET |
/// | 62 | SET: the job has ended; never cleared |
/// | 63 | REFUSED: the job was not run, and will not be; only with SET |
pub(super) struct Latch(AtomicU64);

// Layout of the word.
const NUMBER: u64 = BEGUN - 1;
const BEGUN: u64 = 1 << 60;
const SLEEPS: u64 = 1 << 61;
const SET: u64 = 1 << 62;
const REFUSED: u64 = 1 << 63;

/// For the owner.
impl Latch {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Latch(AtomicU64::new(0))
    }

    /// For a job that will be pushed at `mark`. Position and latch share one word because each join
    /// stores it.
    #[inline(always)]
    pub(super) fn of(mark: Mark) -> Self {
        Latch(AtomicU64::new(mark.position()))
    }

    /// Returns where the job was pushed, or a position that no job has, once the job has begun.
    #[inline(always)]
    pub(super) fn mark(&self) -> Mark {
        // Relaxed: either the owner has written it itself, or it is no position.
        Mark::at(self.0.load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn is_set(&self) -> bool {
        // Acquire: pairs with the Release in end(): the outcome is visible.
        self.0.load(Ordering::Acquire) & SET != 0
    }

    /// Whether the job was refused, after the latch was set.
    pub(super) fn is_refused(&self) -> bool {
        // Relaxed: a latch that is set does not change.
        self.0.load(Ordering::Relaxed) & REFUSED != 0
    }

    /// Returns the number of the thief once the job has begun.
    pub(super) fn thief(&self) -> Option<usize> {
        // Relaxed: it is a hint where to help.
        let word = self.0.load(Ordering::Relaxed);
        (word & BEGUN != 0).then_some((word & NUMBER) as usize)
    }

    /// Announces that the caller will sleep. It must check after this whether the latch is set, and
    /// then park.
    pub(super) fn fall_asleep(&self) {
        if !canary::LATCH_SLEEP_SILENT.sings() {
            // Relaxed: all is in one word. Either end() comes before this, and the next check sees
            // it, or end() comes later and sees SLEEPS.
            self.0.fetch_or(SLEEPS, Ordering::Relaxed);
        }
    }
}

/// For the thread that runs the job.
impl Latch {
    /// The worker with this number has taken the job and will run it.
    pub(super) fn begin(&self, thief: usize) {
        let begun = BEGUN | thief as u64;
        if canary::LATCH_THIEF_STORES.sings() {
            return self.0.store(begun, Ordering::Relaxed);
        }
        // Relaxed: as in thief(). Adding the difference keeps SLEEPS, which the owner may set
        // meanwhile.
        let mark = match canary::LATCH_MARK_STAYS.sings() {
            true => 0,
            false => self.0.load(Ordering::Relaxed) & NUMBER,
        };
        self.0.fetch_add(begun - mark, Ordering::Relaxed);
    }

    /// The job has been run and its outcome written. If the owner sleeps, this calls `unpark`,
    /// which must not touch the frame.
    pub(super) fn set(&self, unpark: impl FnOnce()) {
        self.end(SET, unpark);
    }

    /// The job will not be run.
    pub(super) fn refuse(&self, unpark: impl FnOnce()) {
        self.end(SET | REFUSED, unpark);
    }

    fn end(&self, end: u64, unpark: impl FnOnce()) {
        // Release: pairs with the Acquire in is_set().
        let before = self.0.swap(end, canary::LATCH_SET_RELAXED.weakens(Ordering::Release));
        if before & SLEEPS != 0 && !canary::LATCH_SLEEPER_FORGOTTEN.sings() {
            unpark();
        }
    }
}
