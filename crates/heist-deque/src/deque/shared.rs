//! What a deque's owner and its thieves share.

use super::buffer::{Buffer, Generations};
use super::calm::Calm;
use super::openness::Openness;
use super::split::{AtomicSplit, MAX_PUBLIC, Split};
use crate::canary;
use crate::slot::drop_each;
use crossbeam_utils::CachePadded;
use heist_sync::Barrier;
use heist_sync::{AtomicU64, Ordering, model_has_failed};
use std::cell::Cell;

/// Both ends of a deque and the buffers between them.
///
/// `top ≤ split ≤ bottom` holds whenever the owner is not in the middle of a pop; in a pop, `bottom` may be one less than
/// `split`. The owner's positions are 59 bits wide, enough for longer than machines last. In the split word there are the
/// lower 32 bits of them, which wrap around.
pub(super) struct Shared<T> {
    pub(super) split: CachePadded<AtomicSplit>,
    pub(super) own: CachePadded<Own<T>>,
    pub(super) calm: CachePadded<Calm>,
    pub(super) generations: Generations<T>,
    pub(super) barrier: Barrier,
}

/// What the owner alone writes, and has at hand in each push.
pub(super) struct Own<T> {
    /// The position after the newest item; all that others look at.
    bottom: AtomicU64,
    /// Where the owner last put the split, when it was not open; *calm* follows it.
    pub(super) split: Cell<u64>,
    /// Up to here slots are known to be free: the floor plus the capacity, where the floor is
    /// the first position that a thief may still be copying out of this buffer.
    pub(super) limit: Cell<u64>,
    /// The buffer of the newest generation.
    pub(super) buffer: Cell<Buffer<T>>,
    /// Where the top was when the owner last took back all that was public, and how often it will lay out something else, if nobody steals.
    pub(super) robbed_at: Cell<u32>,
    pub(super) restocks: Cell<u32>,
    pub(super) openness: Openness,
}

// SAFETY: (Q1) a slot is touched by the thief that has claimed it or, from the split on and
// outside of what thieves are copying, by the owner; items move, so they must be Send. The cells are the owner's:
// who shares a reference to it only reads them.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: (type) a deque owns its items and holds nothing that is tied to a thread.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// An empty deque whose first item goes to `position`, which is not 0: a pop looks at the one before.
    pub(super) fn starting_at(capacity: usize, position: u64, barrier: Barrier) -> Self {
        let (generations, first) = Generations::new(capacity);
        let own = Own {
            bottom: AtomicU64::new(position),
            split: Cell::new(position),
            limit: Cell::new(position + u64::from(first.capacity())),
            buffer: Cell::new(first),
            robbed_at: Cell::new(position as u32),
            restocks: Cell::new(0),
            openness: Openness::new(),
        };
        Shared {
            split: CachePadded::new(AtomicSplit::new(Split::at(position as u32))),
            own: CachePadded::new(own),
            calm: CachePadded::new(Calm::new(position, barrier)),
            generations,
            barrier,
        }
    }

    /// The owner moves the bottom, in a push as in a pop.
    #[inline(always)]
    pub(super) fn set_bottom(&self, position: u64) {
        // Release: pairs with the Acquire in bottom(): whoever sees the index sees the data of
        // all items before it (Q7).
        self.own.bottom.store(position, canary::DEQUE_PUBLISH_RELAXED.weakens(Ordering::Release));
    }

    /// The owner is after the item at `last`, has stored its bottom, and there is something to mind: a fence perhaps, and then who
    /// has asked. Whether it has the item; if not, the bottom is where it was.
    #[cold]
    #[inline(never)]
    pub(super) fn take_back_noted(&self, last: u64) -> bool {
        let is_taken = self.is_own_at_second_look(last);
        if !is_taken {
            self.set_bottom(last + 1);
        }
        is_taken
    }

    /// The part of that which a pop has, too.
    pub(super) fn is_own_at_second_look(&self, last: u64) -> bool {
        if !canary::DEQUE_LIGHT_BARRIER_MISSING.sings() {
            self.barrier.light();
        }
        self.calm.is_own(last)
    }

    /// The position after the newest item, for the owner, who alone writes it, and for those who only want to know whether it moves.
    #[inline(always)]
    pub(super) fn own_bottom(&self) -> u64 {
        self.own.bottom.load(Ordering::Relaxed)
    }

    /// The position after the newest item, for thieves, as the split word would have it.
    pub(super) fn bottom(&self) -> u32 {
        // Acquire: pairs with the Release in set_bottom().
        self.own.bottom.load(Ordering::Acquire) as u32
    }

    /// The whole of a position that the split word has, for the owner.
    pub(super) fn whole(&self, position: u32) -> u64 {
        let bottom = self.own_bottom();
        // Negative in the middle of a pop.
        let back = (bottom as u32).wrapping_sub(position) as i32;
        bottom.wrapping_add_signed(-i64::from(back))
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

/// How many of `len` items an owner that is open makes public.
pub(super) fn all(len: u32) -> u32 {
    len.min(MAX_PUBLIC)
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
