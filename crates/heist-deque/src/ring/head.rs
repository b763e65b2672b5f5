//! The ring's head: one word for which the owner and thieves compete.

use crate::canary;
use heist_sync::{AtomicU64, Ordering};
use std::fmt;

// Layout: see the table of `Head`.
const THIEVES_BITS: u32 = 8;
const LAG_BITS: u32 = 16;
const LAG_SHIFT: u32 = THIEVES_BITS;
const TAKEN_SHIFT: u32 = THIEVES_BITS + LAG_BITS;

// Layout: masks and units of the fields.
const THIEVES_MASK: u64 = (1 << THIEVES_BITS) - 1;
const LAG_MASK: u64 = ((1 << LAG_BITS) - 1) << LAG_SHIFT;
const ONE_THIEF: u64 = 1;
const ONE_LAG: u64 = 1 << LAG_SHIFT;
const ONE_TAKEN: u64 = 1 << TAKEN_SHIFT;

const _: () = assert!(THIEVES_MASK ^ LAG_MASK == ONE_TAKEN - 1, "disjoint and without a gap");
const _: () = assert!(MAX_CAPACITY < 1 << LAG_BITS);

/// Layout: the lag has 16 bits and counts at most as many items as the ring has slots.
pub(super) const MAX_CAPACITY: usize = 1 << 15;

/// A snapshot of the head word.
///
/// | bits | field | meaning |
/// |---|---|---|
/// | 24..64 | taken | number of items that were ever claimed; its low 32 bits are the head's position |
/// | 8..24 | lag | how far the floor is behind the head; valid only while thieves > 0 |
/// | 0..8 | thieves | number of thieves that have claimed items and are still copying them |
///
/// | thieves | floor | who may read the slots from floor to head |
/// |---|---|---|
/// | 0 | head | no thread: the owner may reuse them |
/// | n | head − lag | the n thieves, and the owner for items that it claimed meanwhile |
/// | 255 | | no further thief may claim: the owner has closed the ring, or 255 thieves are copying |
///
/// `taken` has more bits than a position, so that the compare-and-swap of a thief that slept after
/// its load fails even if positions have wrapped around meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Head(u64);

impl Head {
    /// A head with nothing claimed beyond `position`.
    pub(super) fn at(position: u32) -> Head {
        Head(u64::from(position) << TAKEN_SHIFT)
    }

    /// The position of the oldest item that is not claimed.
    #[inline(always)]
    pub(super) fn position(self) -> u32 {
        (self.0 >> TAKEN_SHIFT) as u32
    }

    /// The first position whose slot may still be in use by a thief.
    #[inline(always)]
    pub(super) fn floor(self) -> u32 {
        self.position().wrapping_sub(self.lag())
    }

    /// Whether a thief is copying.
    #[inline(always)]
    pub(super) fn has_thieves(self) -> bool {
        self.0 & THIEVES_MASK != 0
    }

    #[inline(always)]
    fn lag(self) -> u32 {
        if self.has_thieves() { ((self.0 & LAG_MASK) >> LAG_SHIFT) as u32 } else { 0 }
    }

    /// The word after the owner has claimed `count` items. The owner does not count as a thief,
    /// because only the owner reuses slots.
    #[inline(always)]
    pub(super) fn claimed_by_owner(self, count: u32) -> Head {
        let lag = if self.has_thieves() { u64::from(count) * ONE_LAG } else { 0 };
        Head(self.0.wrapping_add(u64::from(count) * ONE_TAKEN).wrapping_add(lag))
    }

    /// Whether thieves must retry later.
    #[inline(always)]
    pub(super) fn is_closed(self) -> bool {
        self.0 & THIEVES_MASK == THIEVES_MASK
    }

    /// The word after the owner has claimed all `count` items and closed the ring. No thief is
    /// copying.
    pub(super) fn closed_by_owner(self, count: u32) -> Head {
        Head(self.claimed_by_owner(count).0 & !LAG_MASK | THIEVES_MASK)
    }

    /// The word after [`AtomicHead::reopen`].
    pub(super) fn reopened(self) -> Head {
        Head(self.0 & !THIEVES_MASK)
    }

    /// The word after one more thief has claimed `count` items, or `None` if the field for thieves
    /// is full.
    #[inline(always)]
    pub(super) fn claimed_by_thief(self, count: u32) -> Option<Head> {
        if self.is_closed() {
            return None;
        }
        // A lag that earlier thieves have left is not valid any more: start from zero.
        let lag = u64::from(self.lag() + count) << LAG_SHIFT;
        let taken = (self.0 & !LAG_MASK).wrapping_add(u64::from(count) * ONE_TAKEN);
        Some(Head((taken | lag) + ONE_THIEF))
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Head")
            .field("position", &self.position())
            .field("lag", &self.lag())
            .field("thieves", &(self.0 & THIEVES_MASK))
            .finish()
    }
}

/// The head word. All changes are read-modify-writes, which form one release sequence: an Acquire
/// load of a later value also sees what all earlier thieves released.
pub(super) struct AtomicHead(AtomicU64);

impl AtomicHead {
    pub(super) fn new(head: Head) -> Self {
        AtomicHead(AtomicU64::new(head.0))
    }

    /// Loads the word before a claim.
    #[inline(always)]
    pub(super) fn load(&self) -> Head {
        // Acquire: pairs with the Release in replace(). The thread that moved the head to this
        // position had seen a tail at or after it, so the tail that is loaded next is not behind
        // it. Also pairs with the Release in thief_done(): below the floor all copies are done.
        Head(self.0.load(canary::RING_RELEASE_RELAXED.weakens(Ordering::Acquire)))
    }

    /// Claims items: replaces `current` by `new`, or returns the actual word (Q1, Q6).
    #[inline(always)]
    pub(super) fn replace(&self, current: Head, new: Head) -> Result<(), Head> {
        // AcqRel: pairs with itself and with load(); see there. Relaxed on failure: the result is
        // only used for the next attempt, whose success acquires.
        let success = canary::RING_CLAIM_RELAXED.weakens(Ordering::AcqRel);
        self.0
            .compare_exchange(current.0, new.0, success, Ordering::Relaxed)
            .map(drop)
            .map_err(Head)
    }

    /// Lets thieves claim again.
    pub(super) fn reopen(&self) {
        // Release: pairs with the Acquire in load(), so that thieves see the new tail.
        self.0.fetch_sub(THIEVES_MASK, Ordering::Release);
    }

    /// Records that a thief has copied all that it claimed.
    #[inline(always)]
    pub(super) fn thief_done(&self) {
        // Release: pairs with the Acquire in load(), after which the owner may overwrite the
        // slots.
        self.0.fetch_sub(ONE_THIEF, canary::RING_RELEASE_RELAXED.weakens(Ordering::Release));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn q4_fields_do_not_disturb_each_other() {
        let head = Head::at(u32::MAX);
        assert_eq!((head.position(), head.floor()), (u32::MAX, u32::MAX));
        let one = head.claimed_by_thief(3).unwrap();
        assert_eq!((one.position(), one.floor()), (2, u32::MAX));
        let two = one.claimed_by_owner(1).claimed_by_thief(2).unwrap();
        assert_eq!((two.position(), two.floor()), (5, u32::MAX));
        let left = Head(two.0 - 2 * ONE_THIEF);
        assert_eq!((left.position(), left.floor()), (5, 5));
        assert_eq!(left.claimed_by_thief(1).unwrap().floor(), 5);
        assert_eq!(left.claimed_by_owner(1).floor(), 6);
    }

    #[test]
    fn q6_a_full_thieves_field_is_an_answer_not_an_overflow() {
        let full = Head(Head::at(7).0 + THIEVES_MASK);
        assert_eq!(full.claimed_by_thief(1), None);
        let closed = Head::at(7).claimed_by_owner(1).closed_by_owner(2);
        assert_eq!((closed.claimed_by_thief(1), closed.reopened()), (None, Head::at(10)));
        assert_eq!(full.claimed_by_owner(1).position(), 8);
    }

    #[test]
    fn taken_wraps_off_the_top() {
        let last = Head(!(LAG_MASK | THIEVES_MASK));
        assert_eq!(last.claimed_by_owner(1), Head(0));
        assert_eq!(last.claimed_by_thief(2).unwrap().position(), 1);
        assert_eq!(last.claimed_by_thief(2).unwrap().floor(), u32::MAX);
    }
}
