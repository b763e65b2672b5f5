//! What a deque's owner and its thieves share.

use super::buffer::Generations;
use super::own::Own;
use super::split::{AtomicSplit, MAX_PUBLIC, Split};
use crate::slot::drop_each;
use crossbeam_utils::CachePadded;
use heist_sync::Barrier;
use heist_sync::model_has_failed;

/// Both ends of a deque and the buffers between them.
///
/// `top ≤ split ≤ bottom` holds whenever the owner is not in the middle of a pop; in a pop, `bottom` may be one less than
/// `split`. The owner's positions are 59 bits wide, enough for longer than machines last. In the split word there are the
/// lower 32 bits of them, which wrap around.
pub(super) struct Shared<T> {
    pub(super) split: CachePadded<AtomicSplit>,
    pub(super) own: Own<T>,
    pub(super) generations: Generations<T>,
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
        Shared {
            split: CachePadded::new(AtomicSplit::new(Split::at(position as u32))),
            own: Own::starting_at(position, first, barrier),
            generations,
        }
    }

    /// The whole of a position that the split word has, for the owner.
    pub(super) fn whole(&self, position: u32) -> u64 {
        let bottom = self.own.bottom();
        // Negative in the middle of a pop.
        let back = (bottom as u32).wrapping_sub(position) as i32;
        bottom.wrapping_add_signed(-i64::from(back))
    }

    /// How many items lie at and after `position`, which is in the public part or at its end.
    pub(super) fn len_from(&self, position: u32) -> u32 {
        // Negative when the owner is in the middle of a pop that finds nothing.
        (self.own.bottom_seen().wrapping_sub(position) as i32).max(0) as u32
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
        let bottom = self.own.bottom_seen();
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
