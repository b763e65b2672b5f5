//! The number of blocks of a chunk that are in use.

use crate::canary;
use crossbeam_utils::CachePadded;
use heist_sync::{AtomicU32, Ordering};
use std::cell::Cell;

/// Counts blocks in two places: in a cell for the chunk's owner, and in a word for all others.
pub(super) struct Blocks {
    /// Blocks that the owner has allocated minus those that it has freed. Only its thread touches
    /// this.
    own: CachePadded<Cell<u32>>,
    /// 0 minus the blocks that other threads have freed, so that it never reaches 0 from above;
    /// after the owner has [abandoned](Self::abandon) the chunk, the number of blocks in use.
    /// Wraps. In a cache line of its own, for which the owner, which counts often, need not wait.
    others: CachePadded<AtomicU32>,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Blocks { own: CachePadded::new(Cell::new(0)), others: CachePadded::new(AtomicU32::new(0)) }
    }

    /// The owner has allocated a block.
    #[inline(always)]
    pub(super) fn allocated(&self) {
        self.own.set(self.own.get() + 1);
    }

    /// The owner has freed a block.
    #[inline(always)]
    pub(super) fn freed(&self) {
        self.own.set(self.own.get().wrapping_sub(1));
    }

    /// Another thread has freed a block. Returns whether that was the last block of an abandoned
    /// chunk: then the caller must free the chunk. Otherwise the chunk may be gone.
    #[must_use = "an abandoned chunk must be freed"]
    pub(super) fn freed_elsewhere(&self) -> bool {
        // Release: pairs with the Acquire in in_use(): the block is not used any more. Acquire:
        // pairs with the Release of other threads, here and in abandon(), for the thread that frees
        // the chunk.
        self.others.fetch_sub(1, canary::BLOCKS_BACK_RELAXED.weakens(Ordering::AcqRel)) == 1
    }

    /// The number of blocks in use, for the owner.
    #[inline]
    pub(super) fn in_use(&self) -> u32 {
        // Acquire: pairs with the Release in freed_elsewhere(): the memory may be used again.
        self.own.get().wrapping_add(self.others.load(Ordering::Acquire))
    }

    /// The owner leaves the chunk to the thread that frees its last block. Returns whether no block
    /// is in use: then the caller must free the chunk.
    #[must_use = "a chunk without blocks in use must be freed"]
    pub(super) fn abandon(&self) -> bool {
        if canary::BLOCKS_ABANDON_LOOKS.sings() {
            let in_use = self.in_use();
            // Release: pairs with the Acquire in freed_elsewhere().
            self.others.store(in_use, Ordering::Release);
            return in_use == 0;
        }
        let own = self.own.get();
        // AcqRel: pairs with itself in freed_elsewhere(), for the thread that frees the chunk.
        self.others.fetch_add(own, Ordering::AcqRel).wrapping_add(own) == 0
    }
}
