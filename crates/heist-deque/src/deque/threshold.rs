//! The word that tells the owner, in one comparison, whether a push or a pop is done.

use heist_sync::Barrier;
use heist_sync::{AtomicU64, Ordering};

// Layout: see the table of `Threshold`.
const POSITION: u64 = (1 << 59) - 1;
const ASKED: u64 = 1 << 59;
const FENCED: u64 = 1 << 60;
const BELL: u64 = 1 << 61;
const NUDGED: u64 = 1 << 62;

/// The split, as the owner knows it, and flags above it. Items at and after the split are private.
/// A flag makes the word greater than every position, so that one comparison covers both.
///
/// | bits | meaning |
/// |---|---|
/// | 0..59 | the split, where the owner last put it; only the owner writes it |
/// | 59 | ASKED: a thief wants something to be public. Any thread sets it, the owner clears it; while it is set, the owner takes nothing without exchanging the split word |
/// | 60 | FENCED: the owner's side of the barrier is a fence; never changes |
/// | 61 | BELL: a thread wants to hear of the next push. Any thread sets it, the owner clears it |
/// | 62 | NUDGED: the same, but it may be missed |
///
/// All orderings are Relaxed: the barrier of a push or a pop, or the split word, orders them (Q7).
pub(super) struct Threshold(AtomicU64);

impl Threshold {
    pub(super) fn new(split: u64, barrier: Barrier) -> Self {
        let flag = match barrier {
            Barrier::Process => 0,
            Barrier::Fence => FENCED,
        };
        Threshold(AtomicU64::new(split | flag))
    }

    /// Whether the item at `position` is private and no flag is set, so that there is nothing else
    /// to do.
    #[inline(always)]
    pub(super) fn is_at_most(&self, position: u64) -> bool {
        position >= self.load()
    }

    /// Whether the item at `position` is private and no thief has asked.
    pub(super) fn is_private(&self, position: u64) -> bool {
        position >= self.load() & (POSITION | ASKED)
    }

    /// Records that the owner has moved the split.
    pub(super) fn set_split(&self, to: u64) {
        let from = self.load() & POSITION;
        if from != to {
            // Other threads set flags meanwhile. Adding the difference keeps them.
            self.0.fetch_add(to.wrapping_sub(from), Ordering::Relaxed);
        }
    }

    /// Whether a thief has asked. In a push this is a hint. In a pop the barrier orders it, and
    /// before an exposure the split word that was loaded before it does.
    pub(super) fn is_asked(&self) -> bool {
        self.load() & ASKED != 0
    }

    /// Asks on behalf of a thief.
    pub(super) fn ask(&self) {
        self.set(ASKED);
    }

    /// Clears ASKED. The owner must exchange the split word next or set the flag again, and take
    /// nothing before that. In this order, a thief that has seen the exchanged word does not see
    /// the old flag (the word's Release and Acquire order it), and a thief that has not seen it
    /// fails to exchange the word.
    pub(super) fn acknowledge(&self) {
        self.0.fetch_and(!ASKED, Ordering::Relaxed);
    }

    /// Whether the bell rings, or the owner was nudged.
    pub(super) fn is_rung_or_nudged(&self) -> bool {
        self.load() & (BELL | NUDGED) != 0
    }

    /// Whether the bell rings.
    pub(super) fn is_rung(&self) -> bool {
        self.load() & BELL != 0
    }

    /// Rings the bell. Returns whether it was silent.
    pub(super) fn ring(&self) -> bool {
        self.set(BELL)
    }

    /// Nudges the owner.
    pub(super) fn nudge(&self) {
        self.set(NUDGED);
    }

    /// Clears BELL and NUDGED.
    pub(super) fn silence(&self) {
        self.0.fetch_and(!(BELL | NUDGED), Ordering::Relaxed);
    }

    /// Sets a flag and returns whether it was clear. A flag that is set already is not written
    /// again, because the owner reads this cache line all the time.
    fn set(&self, flag: u64) -> bool {
        let is_clear = |word: u64| word & flag == 0;
        is_clear(self.load()) && is_clear(self.0.fetch_or(flag, Ordering::Relaxed))
    }

    #[inline(always)]
    fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn flags_and_the_split_do_not_disturb_each_other() {
        let threshold = Threshold::new(7, Barrier::Process);
        assert!(threshold.is_at_most(7) && !threshold.is_at_most(6));
        threshold.ask();
        assert!(
            threshold.is_asked() && !threshold.is_at_most(POSITION),
            "a flag is above positions"
        );
        threshold.set_split(3);
        assert!(threshold.is_asked() && !threshold.is_private(3));
        assert!(threshold.ring() && !threshold.ring());
        threshold.set_split(9);
        threshold.acknowledge();
        assert!(!threshold.is_asked() && threshold.is_rung_or_nudged());
        assert!(threshold.is_private(9) && !threshold.is_private(8));
        threshold.silence();
        assert!(!threshold.is_rung_or_nudged());
        assert!(threshold.is_at_most(9) && !threshold.is_at_most(8));
        assert!(!Threshold::new(1, Barrier::Fence).is_at_most(2), "a fence is always due");
    }
}
