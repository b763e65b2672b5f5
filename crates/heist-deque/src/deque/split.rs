//! The word that divides a deque into a public and a private part.

use crate::canary;
use heist_sync::{AtomicU64, Ordering};
use std::fmt;

// Layout: see the table of `Split`.
const PUBLIC_BITS: u32 = 7;
const GENERATION_BITS: u32 = 5;
const VERSION_BITS: u32 = 20;

// Layout: where the fields begin.
const GENERATION_SHIFT: u32 = PUBLIC_BITS;
const VERSION_SHIFT: u32 = GENERATION_SHIFT + GENERATION_BITS;
const TOP_SHIFT: u32 = VERSION_SHIFT + VERSION_BITS;

// Layout: masks and units of the fields.
const PUBLIC_MASK: u64 = (1 << PUBLIC_BITS) - 1;
const GENERATION_MASK: u64 = ((1 << GENERATION_BITS) - 1) << GENERATION_SHIFT;
const VERSION_MASK: u64 = ((1 << VERSION_BITS) - 1) << VERSION_SHIFT;
const ONE_VERSION: u64 = 1 << VERSION_SHIFT;
const ONE_GENERATION: u64 = 1 << GENERATION_SHIFT;
const ONE_TOP: u64 = 1 << TOP_SHIFT;

const _: () = assert!(TOP_SHIFT == 32, "the lower half of a position fits");
const _: () = assert!(
    PUBLIC_MASK ^ GENERATION_MASK ^ VERSION_MASK == ONE_TOP - 1,
    "the fields are disjoint and leave no gap"
);

/// Layout: the number of items that can be public at a time.
pub(super) const MAX_PUBLIC: u32 = PUBLIC_MASK as u32;
/// Layout: the number of generations of buffers. Loom needs few, and creates them anew in each
/// interleaving.
pub(super) const GENERATIONS: usize = if cfg!(loom) { 4 } else { 1 << GENERATION_BITS };

/// A snapshot of the split word.
///
/// | bits | field | meaning |
/// |---|---|---|
/// | 32..64 | top | the position of the oldest item; thieves alone move it |
/// | 12..32 | version | counts moves of the split and growths, so that a thief notices those that it missed |
/// | 7..12 | generation | which buffer holds the items |
/// | 0..7 | public | number of items from the top on that thieves may take |
///
/// The split itself is not stored: it is top + public, which a theft does not change. So the owner,
/// which knows where it put the split, need not read this word while thieves take public items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Split(u64);

impl Split {
    /// An empty deque.
    pub(super) fn at(top: u32) -> Split {
        Split(u64::from(top) << TOP_SHIFT)
    }

    /// The position of the oldest item.
    #[inline(always)]
    pub(super) fn top(self) -> u32 {
        (self.0 >> TOP_SHIFT) as u32
    }

    /// The position after the last public item.
    #[inline(always)]
    pub(super) fn split(self) -> u32 {
        self.top().wrapping_add(self.public())
    }

    /// The number of public items.
    #[inline(always)]
    pub(super) fn public(self) -> u32 {
        (self.0 & PUBLIC_MASK) as u32
    }

    /// The generation of the buffer that holds the items.
    #[inline(always)]
    pub(super) fn generation(self) -> usize {
        ((self.0 & GENERATION_MASK) >> GENERATION_SHIFT) as usize
    }

    /// The word after a thief has taken the `count` oldest items.
    #[inline(always)]
    pub(super) fn taken(self, count: u32) -> Split {
        debug_assert!(count <= self.public());
        Split((self.0 - u64::from(count)).wrapping_add(u64::from(count) * ONE_TOP))
    }

    /// The word after the split was moved so that the `public` oldest items are public.
    pub(super) fn sharing(self, public: u32) -> Split {
        debug_assert!(public <= MAX_PUBLIC);
        Split(self.next_version().0 & !PUBLIC_MASK | u64::from(public))
    }

    /// The word after the owner has moved to the next buffer.
    pub(super) fn grown(self) -> Split {
        debug_assert!(self.generation() + 1 < GENERATIONS);
        Split(self.next_version().0 + ONE_GENERATION)
    }

    fn next_version(self) -> Split {
        let version = self.0.wrapping_add(ONE_VERSION) & VERSION_MASK;
        Split(self.0 & !VERSION_MASK | version)
    }
}

impl fmt::Debug for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Split")
            .field("top", &self.top())
            .field("public", &self.public())
            .field("generation", &self.generation())
            .field("version", &((self.0 & VERSION_MASK) >> VERSION_SHIFT))
            .finish()
    }
}

/// The split word. All changes are compare-and-swaps, which form one release sequence: a thread
/// that acquires a value has also acquired all earlier ones.
pub(super) struct AtomicSplit(AtomicU64);

impl AtomicSplit {
    pub(super) fn new(split: Split) -> Self {
        AtomicSplit(AtomicU64::new(split.0))
    }

    /// Loads the word before a change.
    #[inline(always)]
    pub(super) fn load(&self) -> Split {
        // Acquire: pairs with the Release in replace(). Public items are visible, and so is the
        // buffer of this generation.
        Split(self.0.load(Ordering::Acquire))
    }

    /// Replaces `current` by `new`. Fails if another thread has changed the word (Q1, Q6).
    #[inline(always)]
    pub(super) fn replace(&self, current: Split, new: Split) -> bool {
        // AcqRel: pairs with the Acquire in load() and with itself. A failure decides nothing:
        // Relaxed.
        let success = canary::DEQUE_ANSWER_RELAXED.weakens(Ordering::AcqRel);
        self.0.compare_exchange(current.0, new.0, success, Ordering::Relaxed).is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn q2_fields_do_not_disturb_each_other() {
        let shared = Split::at(u32::MAX).sharing(MAX_PUBLIC);
        assert_eq!((shared.top(), shared.public(), shared.split()), (u32::MAX, 127, 126));
        let taken = shared.taken(2).grown();
        assert_eq!((taken.top(), taken.public(), taken.generation()), (1, 125, 1));
        assert_eq!(taken.split(), shared.split());
        assert_ne!(taken.sharing(125), taken);
    }

    #[test]
    fn the_version_wraps_within_its_field() {
        let mut split = Split::at(9);
        for _ in 0..(1 << VERSION_BITS) {
            split = split.sharing(3);
        }
        assert_eq!(split, Split::at(9).sharing(3).with_version_of(Split::at(9)));
    }

    impl Split {
        fn with_version_of(self, other: Split) -> Split {
            Split(self.0 & !VERSION_MASK | other.0 & VERSION_MASK)
        }
    }
}
