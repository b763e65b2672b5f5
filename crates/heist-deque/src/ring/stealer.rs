//! The many ends that steal.

use super::owner::Owner;
use super::shared::Shared;
use crate::Steal;
use crate::canary;
use crate::slot::mirror_run;
use heist_sync::Arc;
use std::fmt;

/// A handle that steals from a ring. Any number of threads may use it at once; those that
/// find a victim in the midst of another theft steal beside it.
pub struct Stealer<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Stealer<T> {
    pub(super) fn new(shared: &Arc<Shared<T>>) -> Self {
        Stealer { shared: Arc::clone(shared) }
    }

    /// How many items nobody has taken; a snapshot.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether nothing was there to take.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Takes the oldest item.
    pub fn steal(&self) -> Steal<T> {
        self.claim(|_| 1).map(|loot| loot.item(0))
    }

    /// Takes half of the items, rounded up (Q4), but no more than `dest` has room for: the
    /// oldest is returned, to be run at once, and the others are appended to `dest` in order.
    pub fn steal_into(&self, dest: &mut Owner<T>) -> Steal<T> {
        self.steal_into_counted(dest).map(|(first, _)| first)
    }

    /// As [`steal_into`](Self::steal_into); also says how many were taken, the first included.
    /// `dest` itself may tell less: others steal from it.
    pub fn steal_into_counted(&self, dest: &mut Owner<T>) -> Steal<(T, usize)> {
        self.claim(|len| {
            let half = len.div_ceil(2);
            1 + dest.room_for(half - 1)
        })
        .map(|loot| {
            let first = loot.item(0);
            loot.append_to(dest, 1);
            (first, loot.count as usize)
        })
    }

    /// Takes half of the items, rounded up (Q4), but no more than `dest` has room for, and
    /// appends them all to `dest` in order. Returns how many; with no room it steals nothing
    /// and says `Success(0)`.
    pub fn steal_half_into(&self, dest: &mut Owner<T>) -> Steal<usize> {
        let mut dest_is_full = false;
        let stolen = self.claim(|len| {
            let count = dest.room_for(len.div_ceil(2));
            dest_is_full = count == 0;
            count
        });
        match stolen {
            _ if dest_is_full => Steal::Success(0),
            other => other.map(|loot| {
                loot.append_to(dest, 0);
                loot.count as usize
            }),
        }
    }

    /// One attempt to claim as many of the oldest items as `how_many` says for the length that
    /// it is given, which is not 0.
    #[inline]
    fn claim(&self, how_many: impl FnOnce(u32) -> u32) -> Steal<Loot<'_, T>> {
        // The head first: see AtomicHead::load for why the tail cannot then be behind it.
        let head = self.shared.head.load();
        if head.is_closed() && !canary::RING_CLOSED_IS_EMPTY.sings() {
            return Steal::Retry;
        }
        let len = self.shared.tail().wrapping_sub(head.position());
        debug_assert!(len as i32 >= 0, "the tail is behind the head");
        if len == 0 {
            return Steal::Empty;
        }
        if len > self.shared.capacity() {
            // The head has moved on since we looked, and the owner has pushed behind it.
            return Steal::Retry;
        }
        let count = how_many(len);
        if count == 0 {
            return Steal::Empty;
        }
        let Some(claimed) = head.claimed_by_thief(count) else { return Steal::Retry };
        match self.shared.head.replace(head, claimed) {
            Ok(()) => Steal::Success(Loot { shared: &self.shared, start: head.position(), count }),
            Err(_) => Steal::Retry,
        }
    }
}

/// Items that this thief has claimed and not yet handed back the slots of. Until it is dropped
/// the ring's owner leaves the slots alone.
struct Loot<'a, T> {
    shared: &'a Shared<T>,
    start: u32,
    count: u32,
}

impl<T> Loot<'_, T> {
    /// Moves out item `index`; each is moved out once, by the callers above.
    #[inline(always)]
    fn item(&self, index: u32) -> T {
        debug_assert!(index < self.count);
        // SAFETY: (Q1, Q7) claimed by this thief alone, and published before the tail it saw.
        unsafe { self.shared.slot(self.start.wrapping_add(index)).take() }
    }

    /// Moves the items from index `from` on to `dest`, which has room for them.
    #[inline]
    fn append_to(&self, dest: &mut Owner<T>, from: u32) {
        let count = self.count - from;
        let mut moved = 0;
        while moved < count {
            let source = self.shared.run(self.start.wrapping_add(from + moved), count - moved);
            let target = dest.free_run(moved, source.len() as u32);
            // SAFETY: (Q1, Q4) claimed by this thief alone, published before the tail it saw,
            // and no more than `dest` has room for.
            unsafe { mirror_run(&source[..target.len()], target) };
            moved += target.len() as u32;
        }
        dest.publish(count);
    }
}

impl<T> Drop for Loot<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.shared.head.thief_done();
    }
}

impl<T> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        Stealer::new(&self.shared)
    }
}

impl<T> fmt::Debug for Stealer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer").field("len", &self.len()).finish()
    }
}
