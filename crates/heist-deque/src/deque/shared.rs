//! What a deque's owner and its thieves share.

use super::buffer::{Buffer, Generations};
use super::split::{AtomicSplit, MAX_PUBLIC, Split};
use crate::canary;
use crate::slot::drop_each;
use crossbeam_utils::CachePadded;
use heist_sync::Barrier;
use heist_sync::{AtomicU32, Ordering, model_has_failed};

const ASKED: u32 = 1;
const FENCED: u32 = 1 << 1;
const BELL: u32 = 1 << 2;
const NUDGED: u32 = 1 << 3;

/// What the owner has to mind when nobody has asked.
fn calm(barrier: Barrier) -> u32 {
    match barrier {
        Barrier::Process => 0,
        Barrier::Fence => FENCED,
    }
}

/// Both ends of a deque and the buffers between them.
///
/// Positions are 32 bits wide and wrap around. `top ≤ split ≤ bottom` holds whenever the owner
/// is not in the middle of a pop; in a pop, `bottom` may be one less than `split`.
pub(super) struct Shared<T> {
    pub(super) split: CachePadded<AtomicSplit>,
    /// The position after the newest item; written by the owner only.
    bottom: CachePadded<AtomicU32>,
    /// What the owner has to mind in each push and pop: one look at one word, mostly 0.
    ///
    /// | bit | |
    /// |---|---|
    /// | 0 | ASKED: a thief has found nothing public. Raised by thieves, lowered by the owner: while it is up, the owner takes nothing without exchanging the split word |
    /// | 1 | FENCED: the owner's side of the barrier is a fence; never changes |
    /// | 2 | BELL: somebody wants to hear of what is pushed. Raised by anybody, lowered by the owner; pops do not mind it |
    /// | 3 | NUDGED: the same, by somebody who does not mind if he is not heard |
    notes: CachePadded<AtomicU32>,
    pub(super) generations: Generations<T>,
    pub(super) barrier: Barrier,
}

// SAFETY: (Q1) a slot is touched by the thief that has claimed it or, from the split on and
// outside of what thieves are copying, by the owner; items move, so they must be Send.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: (type) a deque owns its items and holds nothing that is tied to a thread.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// An empty deque whose first item goes to `position`, and its first buffer.
    pub(super) fn starting_at(
        capacity: usize,
        position: u32,
        barrier: Barrier,
    ) -> (Self, Buffer<T>) {
        let (generations, first) = Generations::new(capacity);
        let shared = Shared {
            split: CachePadded::new(AtomicSplit::new(Split::at(position))),
            bottom: CachePadded::new(AtomicU32::new(position)),
            notes: CachePadded::new(AtomicU32::new(calm(barrier))),
            generations,
            barrier,
        };
        (shared, first)
    }

    /// The owner moves the bottom, in a push as in a pop.
    #[inline(always)]
    pub(super) fn set_bottom(&self, position: u32) {
        // Release: pairs with the Acquire in bottom(): whoever sees the index sees the data of
        // all items before it (Q7).
        self.bottom.store(position, canary::DEQUE_PUBLISH_RELAXED.weakens(Ordering::Release));
    }

    /// The same, for the owner, who alone writes it.
    #[inline(always)]
    pub(super) fn own_bottom(&self) -> u32 {
        self.bottom.load(Ordering::Relaxed)
    }

    /// The position after the newest item, for thieves.
    pub(super) fn bottom(&self) -> u32 {
        // Acquire: pairs with the Release in set_bottom().
        self.bottom.load(Ordering::Acquire)
    }

    /// Whether there is nothing to mind after a push: no thief has asked, the bell does not ring, and no fence is needed.
    #[inline(always)]
    pub(super) fn is_calm(&self) -> bool {
        self.notes.load(Ordering::Relaxed) == 0
    }

    /// Whether there is nothing to mind in a pop: no thief has asked, and no fence is needed.
    #[inline(always)]
    pub(super) fn is_uncontested(&self) -> bool {
        self.notes.load(Ordering::Relaxed) & (ASKED | FENCED) == 0
    }

    /// Whether a thief has asked. Relaxed: in a push it is a hint, in a pop the barrier orders
    /// it, and before an exposure the split word that was loaded before it does.
    #[inline(always)]
    pub(super) fn is_asked(&self) -> bool {
        self.notes.load(Ordering::Relaxed) & ASKED != 0
    }

    /// A thief asks. A flag that is up already is left alone: its line is the one that the
    /// owner looks at all the time.
    pub(super) fn ask(&self) {
        if !self.is_asked() {
            self.notes.fetch_or(ASKED, Ordering::Relaxed);
        }
    }

    /// The owner has seen the flag and will exchange the split word next. In this order: a
    /// thief that has seen the exchanged word cannot still see the flag up from before (the
    /// word's Release and Acquire order it), and one that has not will fail to exchange it.
    pub(super) fn acknowledge(&self) {
        self.notes.fetch_and(!ASKED, Ordering::Relaxed);
    }

    /// Whether the bell rings, or somebody has nudged the owner. Relaxed: the barrier after a push orders it.
    pub(super) fn is_rung(&self) -> bool {
        self.notes.load(Ordering::Relaxed) & (BELL | NUDGED) != 0
    }

    /// Rings the bell; whether it did not ring before.
    pub(super) fn ring(&self) -> bool {
        self.raise(BELL)
    }

    /// Nudges the owner.
    pub(super) fn nudge(&self) {
        self.raise(NUDGED);
    }

    /// Relaxed: who raises a note orders that as it needs it. One that is up is left alone, as in ask().
    fn raise(&self, note: u32) -> bool {
        let is_down = |notes: u32| notes & note == 0;
        is_down(self.notes.load(Ordering::Relaxed))
            && is_down(self.notes.fetch_or(note, Ordering::Relaxed))
    }

    /// The owner silences the bell. Relaxed: as above.
    pub(super) fn hush(&self) {
        self.notes.fetch_and(!(BELL | NUDGED), Ordering::Relaxed);
    }

    /// How many items lie at and after `position`, which is in the public part or at its end.
    pub(super) fn len_from(&self, position: u32) -> u32 {
        // Negative when the owner is in the middle of a pop that finds nothing.
        (self.bottom().wrapping_sub(position) as i32).max(0) as u32
    }

    /// How many items there are; a snapshot.
    pub(super) fn len(&self) -> usize {
        self.len_from(self.split.load().top()) as usize
    }
}

/// How many of `len` items are made public when a thief has asked: the older half, rounded up.
/// Half leaves the owner the newest, which are its next; the word bounds the rest.
pub(super) fn share(len: u32) -> u32 {
    len.div_ceil(2).min(MAX_PUBLIC)
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if model_has_failed() {
            return;
        }
        let split = self.split.load();
        let buffer = self.generations.get(split.generation());
        let mut position = split.top();
        let bottom = self.bottom();
        drop_each(|| {
            (position != bottom).then(|| {
                // SAFETY: (Q2) the generations are dropped after this.
                let slot = unsafe { buffer.slot(position) };
                position = position.wrapping_add(1);
                // SAFETY: (Q1) the last handle is gone, so nobody else claims; from top to
                // bottom every slot holds an item, and the position moves on before its drop.
                unsafe { slot.take() }
            })
        });
    }
}
