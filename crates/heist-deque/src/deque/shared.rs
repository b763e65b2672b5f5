//! What a deque's owner and its thieves share.

use super::buffer::Generations;
use super::owner_side::OwnerSide;
use super::split::{AtomicSplit, MAX_PUBLIC, Split};
use crate::slot::drop_each;
use crossbeam_utils::CachePadded;
use heist_sync::Barrier;
use heist_sync::model_has_failed;

/// Both ends of a deque and its buffers.
///
/// `top ≤ split ≤ bottom` holds except during a pop, when `bottom` may be one less than `split`.
/// The owner's positions have 59 bits, which do not overflow in practice. The split word has their
/// lower 32 bits, which wrap around.
pub(super) struct Shared<T> {
    pub(super) split: CachePadded<AtomicSplit>,
    pub(super) own: OwnerSide<T>,
    pub(super) generations: Generations<T>,
}

// SAFETY: (Q1) a slot is accessed by the thief that has claimed it or, from the split on and unless
// a thief is copying it, by the owner. Items move between threads, so they must be Send. Only the
// owner accesses the cells.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: (type) a deque owns its items and holds nothing that is tied to a thread.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// An empty deque whose first item goes to `position`. That is not 0, because a pop computes
    /// the position before it.
    pub(super) fn starting_at(capacity: usize, position: u64, barrier: Barrier) -> Self {
        let (generations, first) = Generations::new(capacity);
        Shared {
            split: CachePadded::new(AtomicSplit::new(Split::at(position as u32))),
            own: OwnerSide::starting_at(position, first, barrier),
            generations,
        }
    }

    /// The full position of which the split word has the lower bits, for the owner only.
    pub(super) fn widen(&self, position: u32) -> u64 {
        let bottom = self.own.bottom();
        // Negative during a pop.
        let back = (bottom as u32).wrapping_sub(position) as i32;
        bottom.wrapping_add_signed(-i64::from(back))
    }

    /// The number of items at and after `position`, which is in the public part or at its end.
    pub(super) fn len_from(&self, position: u32) -> u32 {
        // Negative while the owner pops from an empty deque.
        (self.own.bottom_acquire().wrapping_sub(position) as i32).max(0) as u32
    }

    /// The number of items, as a snapshot.
    pub(super) fn len(&self) -> usize {
        self.len_from(self.split.load().top()) as usize
    }
}

/// The number of items of `len` that are made public when a thief has asked: the older half,
/// rounded up, within the range of the split word. The owner keeps the newer ones, which it pops
/// next.
pub(super) fn half(len: u32) -> u32 {
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
        let bottom = self.own.bottom_acquire();
        drop_each(|| {
            (position != bottom).then(|| {
                // SAFETY: (Q2) the generations are dropped after this.
                let slot = unsafe { buffer.slot(position) };
                position = position.wrapping_add(1);
                // SAFETY: (Q1) the last handle is gone, so no other thread claims. From top to
                // bottom each slot holds an item, and the position moves on before the drop.
                unsafe { slot.take() }
            })
        });
    }
}
