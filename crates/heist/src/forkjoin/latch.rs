//! Whether a job has ended, and who waits for that.

use crate::canary;
use heist_deque::deque::Mark;
use heist_sync::{AtomicU64, Ordering};

#[cfg(all(test, loom))]
mod loom_tests;

/// A word in the frame of who waits for a job. Who sets it must not touch the frame afterwards (J2).
///
/// | bits | field |
/// |---|---|
/// | 0..60 | until BEGUN where the job is in a deque, if it is in one; then the thief's number, until SET |
/// | 60 | BEGUN: somebody has the job, and runs it |
/// | 61 | SLEEPS: who waits sleeps, or is about to: it must be unparked; stays until SET |
/// | 62 | SET: the job has ended; never cleared |
/// | 63 | REFUSED: it was not run, and will not be; only with SET |
pub(super) struct Latch(AtomicU64);

const NUMBER: u64 = BEGUN - 1;
const BEGUN: u64 = 1 << 60;
const SLEEPS: u64 = 1 << 61;
const SET: u64 = 1 << 62;
const REFUSED: u64 = 1 << 63;

/// For who waits.
impl Latch {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Latch(AtomicU64::new(0))
    }

    /// For a job that will be pushed there. One word for both: it is stored in each join.
    #[inline(always)]
    pub(super) fn of(mark: Mark) -> Self {
        Latch(AtomicU64::new(mark.position()))
    }

    /// Where the job was pushed; nowhere, once it has begun.
    #[inline(always)]
    pub(super) fn mark(&self) -> Mark {
        // Relaxed: only who waits has written it, or it is none.
        Mark::at(self.0.load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn is_set(&self) -> bool {
        // Acquire: pairs with the Release in end(): the outcome is visible.
        self.0.load(Ordering::Acquire) & SET != 0
    }

    /// After it was set: whether the job was not run.
    pub(super) fn is_refused(&self) -> bool {
        // Relaxed: the word does not change any more.
        self.0.load(Ordering::Relaxed) & REFUSED != 0
    }

    /// Who has the job, once it has begun.
    pub(super) fn thief(&self) -> Option<usize> {
        // Relaxed: it is a hint where to help.
        let word = self.0.load(Ordering::Relaxed);
        (word & BEGUN != 0).then_some((word & NUMBER) as usize)
    }

    /// Says that the caller will sleep. Afterwards it has to look whether the latch is set, and then park.
    pub(super) fn fall_asleep(&self) {
        if !canary::LATCH_SLEEP_SILENT.sings() {
            // Relaxed: one word; who sets it comes before this, and is seen by the next look, or after, and sees
            // this.
            self.0.fetch_or(SLEEPS, Ordering::Relaxed);
        }
    }
}

/// For who has the job.
impl Latch {
    /// The worker of this number has taken the job, and will run it.
    pub(super) fn begin(&self, thief: usize) {
        let begun = BEGUN | thief as u64;
        if canary::LATCH_THIEF_STORES.sings() {
            return self.0.store(begun, Ordering::Relaxed);
        }
        // Relaxed: as in thief(). Who waits says meanwhile that it sleeps; the difference leaves that alone.
        let mark = match canary::LATCH_MARK_STAYS.sings() {
            true => 0,
            false => self.0.load(Ordering::Relaxed) & NUMBER,
        };
        self.0.fetch_add(begun - mark, Ordering::Relaxed);
    }

    /// The job has been run, and its outcome written. Who sleeps must be unparked by `unpark`, which
    /// leaves the frame alone.
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
