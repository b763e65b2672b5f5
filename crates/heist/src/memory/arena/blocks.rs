//! How many blocks of a chunk have not come back.

use crate::canary;
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicU32, Ordering};
use std::cell::Cell;

/// Counts blocks in two places: in a cell for the chunk's owner, and in a word for all others.
pub(super) struct Blocks {
    /// What the owner has given, less what it has taken back. Touched by its thread alone.
    own: CachePadded<Cell<u32>>,
    /// Nothing, less what others have given back: 0 or below, so it never comes to 0 from above. After the owner has
    /// [abandoned](Self::abandon) the chunk: what waits. Wraps. In a line of its own: the owner counts all the
    /// time, and would wait for it.
    others: CachePadded<AtomicU32>,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Blocks { own: CachePadded::new(Cell::new(0)), others: CachePadded::new(AtomicU32::new(0)) }
    }

    /// The owner has given a block.
    #[inline(always)]
    pub(super) fn give(&self) {
        self.own.set(self.own.get() + 1);
    }

    /// The owner has taken back a block.
    #[inline(always)]
    pub(super) fn take_back(&self) {
        self.own.set(self.own.get().wrapping_sub(1));
    }

    /// Somebody else has done with a block. If that was the last one of a chunk that was abandoned, the chunk is the caller's; else it
    /// may be gone.
    #[must_use = "an abandoned chunk has to be freed"]
    pub(super) fn take_back_elsewhere(&self) -> bool {
        // Release: pairs with the Acquire in waiting(): the block is not used any more. Acquire: pairs with the
        // Release of others, here and in abandon(), for who frees the chunk.
        self.others.fetch_sub(1, canary::BLOCKS_BACK_RELAXED.weakens(Ordering::AcqRel)) == 1
    }

    /// How many have not come back, for the owner.
    #[inline]
    pub(super) fn waiting(&self) -> u32 {
        // Acquire: pairs with the Release in take_back_elsewhere(): what has come back may be used again.
        self.own.get().wrapping_add(self.others.load(Ordering::Acquire))
    }

    /// The owner leaves the chunk to whoever brings the last block. If all have come back it is the caller's.
    #[must_use = "a chunk that nobody uses has to be freed"]
    pub(super) fn abandon(&self) -> bool {
        if canary::BLOCKS_ABANDON_LOOKS.sings() {
            let waiting = self.waiting();
            // Release: pairs with the Acquire in take_back_elsewhere().
            self.others.store(waiting, Ordering::Release);
            return waiting == 0;
        }
        let own = self.own.get();
        // AcqRel: pairs with itself in take_back_elsewhere(), for whoever frees the chunk.
        self.others.fetch_add(own, Ordering::AcqRel).wrapping_add(own) == 0
    }
}
