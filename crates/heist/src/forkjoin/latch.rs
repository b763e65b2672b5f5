//! Whether a job has ended, and who waits for that.

use crate::canary;
use heist_sync::{AtomicU32, Ordering};

#[cfg(all(test, loom))]
mod loom_tests;

/// A word in the frame of who waits for a job. Who sets it must not touch the frame afterwards (J2).
///
/// | bits | field |
/// |---|---|
/// | 0 | SLEEPS: who waits sleeps, or is about to: it must be unparked; stays until SET |
/// | 1 | SET: the job has ended; never cleared |
/// | 2 | REFUSED: it was not run, and will not be; only with SET |
/// | 3..32 | the thief's number and one; 0 until there is one |
pub(super) struct Latch(AtomicU32);

const SLEEPS: u32 = 1;
const SET: u32 = 1 << 1;
const REFUSED: u32 = 1 << 2;
const THIEF_SHIFT: u32 = 3;
const ONE_THIEF: u32 = 1 << THIEF_SHIFT;

/// For who waits.
impl Latch {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Latch(AtomicU32::new(0))
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
        (self.0.load(Ordering::Relaxed) >> THIEF_SHIFT).checked_sub(1).map(|thief| thief as usize)
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
        let thief = (thief as u32 + 1) * ONE_THIEF;
        if canary::LATCH_THIEF_STORES.sings() {
            return self.0.store(thief, Ordering::Relaxed);
        }
        // Relaxed: as in thief().
        self.0.fetch_or(thief, Ordering::Relaxed);
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

    fn end(&self, end: u32, unpark: impl FnOnce()) {
        // Release: pairs with the Acquire in is_set().
        let before = self.0.swap(end, canary::LATCH_SET_RELAXED.weakens(Ordering::Release));
        if before & SLEEPS != 0 && !canary::LATCH_SLEEPER_FORGOTTEN.sings() {
            unpark();
        }
    }
}
