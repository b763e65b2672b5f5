//! From where on the owner has nothing to mind.

use heist_sync::Barrier;
use heist_sync::{AtomicU64, Ordering};

const POSITION: u64 = (1 << 59) - 1;
const ASKED: u64 = 1 << 59;
const FENCED: u64 = 1 << 60;
const BELL: u64 = 1 << 61;
const NUDGED: u64 = 1 << 62;

/// A position and notes in one word: a push or a pop looks at it once, by one comparison. Items at and after the position
/// are the owner's own; a note makes the word greater than every position.
///
/// | bits | |
/// |---|---|
/// | 0..59 | the split, where the owner last put it; the owner alone moves it |
/// | 59 | ASKED: something should be public. Raised by anybody, lowered by the owner: while it is up, the owner takes nothing without exchanging the split word |
/// | 60 | FENCED: the owner's side of the barrier is a fence; never changes |
/// | 61 | BELL: somebody wants to hear of what is pushed. Raised by anybody, lowered by the owner |
/// | 62 | NUDGED: the same, by somebody who does not mind if he is not heard |
///
/// All Relaxed: the barrier of a push or a pop orders it, or the split word (Q7).
pub(super) struct Calm(AtomicU64);

impl Calm {
    pub(super) fn new(split: u64, barrier: Barrier) -> Self {
        let note = match barrier {
            Barrier::Process => 0,
            Barrier::Fence => FENCED,
        };
        Calm(AtomicU64::new(split | note))
    }

    /// Whether there is nothing to mind about the item at `position`: it is the owner's own, and there is no note.
    #[inline(always)]
    pub(super) fn reaches(&self, position: u64) -> bool {
        position >= self.load()
    }

    /// Whether the item at `position` is the owner's own, and nobody has asked.
    pub(super) fn is_own(&self, position: u64) -> bool {
        position >= self.load() & (POSITION | ASKED)
    }

    /// The owner has moved the split.
    pub(super) fn follow(&self, to: u64) {
        let from = self.load() & POSITION;
        if from != to {
            // Others raise notes meanwhile; the difference leaves those alone.
            self.0.fetch_add(to.wrapping_sub(from), Ordering::Relaxed);
        }
    }

    /// Whether anybody has asked. In a push it is a hint, in a pop the barrier orders it, and before an exposure
    /// the split word that was loaded before it does.
    pub(super) fn is_asked(&self) -> bool {
        self.load() & ASKED != 0
    }

    /// A thief asks, or the owner in its place.
    pub(super) fn ask(&self) {
        self.raise(ASKED);
    }

    /// The owner will exchange the split word next, or raise the note again, and takes nothing before. In this order: a
    /// thief that has seen the exchanged word cannot still see the note up from before (the
    /// word's Release and Acquire order it), and one that has not will fail to exchange it.
    pub(super) fn acknowledge(&self) {
        self.0.fetch_and(!ASKED, Ordering::Relaxed);
    }

    /// Whether the bell rings, or somebody has nudged the owner.
    pub(super) fn is_rung(&self) -> bool {
        self.load() & (BELL | NUDGED) != 0
    }

    /// Whether the bell rings.
    pub(super) fn rings(&self) -> bool {
        self.load() & BELL != 0
    }

    /// Rings the bell; whether it did not ring before.
    pub(super) fn ring(&self) -> bool {
        self.raise(BELL)
    }

    /// Nudges the owner.
    pub(super) fn nudge(&self) {
        self.raise(NUDGED);
    }

    /// The owner silences the bell.
    pub(super) fn hush(&self) {
        self.0.fetch_and(!(BELL | NUDGED), Ordering::Relaxed);
    }

    /// A note that is up already is left alone: its line is the one that the owner looks at all the time. Whether it was down.
    fn raise(&self, note: u64) -> bool {
        let is_down = |word: u64| word & note == 0;
        is_down(self.load()) && is_down(self.0.fetch_or(note, Ordering::Relaxed))
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
    fn notes_and_the_split_do_not_disturb_each_other() {
        let calm = Calm::new(7, Barrier::Process);
        assert!(calm.reaches(7) && !calm.reaches(6));
        calm.ask();
        assert!(calm.is_asked() && !calm.reaches(POSITION), "a note is above every position");
        calm.follow(3);
        assert!(calm.is_asked() && !calm.is_own(3));
        assert!(calm.ring() && !calm.ring());
        calm.follow(9);
        calm.acknowledge();
        assert!(!calm.is_asked() && calm.is_rung() && calm.is_own(9) && !calm.is_own(8));
        calm.hush();
        assert!(!calm.is_rung() && calm.reaches(9) && !calm.reaches(8));
        assert!(!Calm::new(1, Barrier::Fence).reaches(2), "there is always a fence to mind");
    }
}
