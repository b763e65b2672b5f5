//! The handles that steal.

use super::owner::Owner;
use super::shared::Shared;
use crate::Steal;
use crate::canary;
use crate::slot::mirror_run;
use heist_sync::Arc;
use std::fmt;

/// A handle that steals from a ring. Any number of threads may use it at once, and several may copy
/// items at the same time.
///
/// # Examples
///
/// ```
/// use heist_deque::{Steal, ring::Owner};
///
/// let mut owner = Owner::new();
/// owner.push(1).unwrap();
/// let stealer = owner.stealer();
/// assert_eq!(stealer.steal(), Steal::Success(1));
/// assert_eq!(stealer.steal(), Steal::Empty);
/// ```
pub struct Stealer<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Stealer<T> {
    pub(super) fn new(shared: &Arc<Shared<T>>) -> Self {
        Stealer { shared: Arc::clone(shared) }
    }

    /// Returns the number of items. It may have changed when the caller uses the result.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::new();
    /// owner.push(1).unwrap();
    /// assert_eq!(owner.stealer().len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether the ring is empty. That may have changed when the caller uses the result.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(heist_deque::ring::Owner::<u32>::new().stealer().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// Takes the oldest item.
    ///
    /// Returns [`Steal::Retry`] if another thread has interfered, and [`Steal::Empty`] if there is
    /// nothing to take.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::ring::Owner::new();
    /// owner.push_batch(&mut (0..2));
    /// assert_eq!(owner.stealer().steal().success(), Some(0));
    /// ```
    pub fn steal(&self) -> Steal<T> {
        self.claim(|_| 1).map(|loot| loot.item(0))
    }

    /// Takes half of the items, rounded up (Q4), as far as `dest` has room for them. Returns the
    /// oldest, which the thief can run at once, and appends the others to `dest` in order.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::ring::Owner;
    ///
    /// let (mut victim, mut thief) = (Owner::new(), Owner::new());
    /// victim.push_batch(&mut (0..5));
    /// assert_eq!(victim.stealer().steal_into(&mut thief).success(), Some(0));
    /// assert_eq!((thief.pop(), thief.pop(), victim.pop()), (Some(1), Some(2), Some(3)));
    /// ```
    pub fn steal_into(&self, dest: &mut Owner<T>) -> Steal<T> {
        self.steal_into_counted(dest).map(|(first, _)| first)
    }

    /// As [`steal_into`](Self::steal_into), and also returns the number of items taken, including
    /// the first. The length of `dest` may be less, because other thieves steal from it.
    #[doc(hidden)]
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

    /// Takes half of the items, rounded up (Q4), as far as `dest` has room for them, and appends
    /// them to `dest` in order. Returns their number, which is 0 if `dest` has no room.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::ring::Owner;
    ///
    /// let (mut victim, mut thief) = (Owner::new(), Owner::new());
    /// victim.push_batch(&mut (0..5));
    /// assert_eq!(victim.stealer().steal_half_into(&mut thief).success(), Some(3));
    /// assert_eq!((victim.len(), thief.len()), (2, 3));
    /// ```
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

    /// Tries once to claim the oldest items. `how_many` gets the length, which is not 0, and
    /// returns how many to claim.
    #[inline]
    fn claim(&self, how_many: impl FnOnce(u32) -> u32) -> Steal<Loot<'_, T>> {
        // Loaded first, so that the tail is not behind it; see AtomicHead::load.
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
            // The head has moved since it was loaded, and the owner has pushed more.
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

/// Items that this thief has claimed. The ring's owner does not reuse their slots until this is
/// dropped.
struct Loot<'a, T> {
    shared: &'a Shared<T>,
    start: u32,
    count: u32,
}

impl<T> Loot<'_, T> {
    /// Moves out item `index`. The callers above move out each item once.
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
            // SAFETY: (Q1, Q4) only this thief has claimed them, they were published before the
            // tail that it saw, and `dest` has room for them.
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
