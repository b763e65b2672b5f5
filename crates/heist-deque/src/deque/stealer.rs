//! The handles that steal.

use super::buffer::Buffer;
use super::owner::Owner;
use super::shared::Shared;
use super::split::{MAX_PUBLIC, Split};
use crate::Steal;
use crate::canary;
use crate::tuning::ANSWER_CHECKS;
use heist_sync::Arc;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Layout: half of what can be public.
const MAX_BATCH: usize = MAX_PUBLIC.div_ceil(2) as usize;

/// A handle that steals from a deque. Any number of threads may use it at once.
///
/// # Examples
///
/// ```
/// use heist_deque::{Steal, deque::Owner};
///
/// let mut owner = Owner::new();
/// owner.push(1);
/// let stealer = owner.stealer();
/// assert_eq!(stealer.steal(), Steal::Success(1));
/// assert_eq!(stealer.steal(), Steal::Empty);
/// ```
pub struct Stealer<T> {
    pub(super) shared: Arc<Shared<T>>,
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
    /// let mut owner = heist_deque::deque::Owner::new();
    /// owner.push(1);
    /// assert_eq!(owner.stealer().len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether the deque is empty. That may have changed when the caller uses the result.
    ///
    /// # Examples
    ///
    /// ```
    /// let owner = heist_deque::deque::Owner::<u32>::new();
    /// assert!(owner.stealer().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the oldest item.
    ///
    /// Returns [`Steal::Retry`] if another thread has interfered, and [`Steal::Empty`] if there is
    /// nothing to take.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut owner = heist_deque::deque::Owner::new();
    /// owner.push("oldest");
    /// owner.push("newest");
    /// assert_eq!(owner.stealer().steal().success(), Some("oldest"));
    /// ```
    pub fn steal(&self) -> Steal<T> {
        self.claim(|_| 1).map(|loot| loot.item(0))
    }

    /// Takes up to half of the items, and at most 64. Returns the oldest, and pushes the others to
    /// `dest` in order.
    ///
    /// Items beyond those that the owner has made available already are left for the next attempt.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_deque::deque::Owner;
    ///
    /// let mut victim = Owner::new();
    /// (0..8).for_each(|item| victim.push(item));
    /// let mut thief = Owner::new();
    /// assert_eq!(victim.stealer().steal_batch_into(&mut thief).success(), Some(0));
    /// assert_eq!(thief.len() + victim.len(), 7);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `dest` would hold more than 2³⁰ items. Then nothing is stolen.
    pub fn steal_batch_into(&self, dest: &mut Owner<T>) -> Steal<T> {
        let most = self.shared.len().div_ceil(2).min(MAX_BATCH) as u32;
        if most == 0 {
            return Steal::Empty;
        }
        // Before the claim, because nothing may fail after it.
        dest.reserve(most - 1);
        self.claim(|public| public.div_ceil(2).min(most)).map(|loot| {
            for index in 1..loot.count {
                dest.push(loot.item(index));
            }
            loot.item(0)
        })
    }

    /// Tries once to claim the oldest items. `how_many` gets the number of public items, which is
    /// not 0, and returns how many to claim.
    #[inline]
    fn claim(&self, how_many: impl FnOnce(u32) -> u32) -> Steal<Loot<T>> {
        let mut split = self.shared.split.load();
        if split.public() == 0 {
            split = match self.ask(split) {
                Steal::Success(split) => split,
                Steal::Empty => return Steal::Empty,
                Steal::Retry => return Steal::Retry,
            };
        }
        let count = how_many(split.public());
        if !self.shared.split.replace(split, split.taken(count)) {
            return Steal::Retry;
        }
        if count == split.public() {
            // On behalf of the next thief. Until that comes, the owner has time to answer.
            self.shared.own.threshold.ask();
        }
        let buffer = self.shared.generations.get(split.generation());
        Steal::Success(Loot { buffer, start: split.top(), count })
    }

    /// Asks the owner to make items public and, if it does not answer, exposes them. Returns a
    /// split word with public items.
    #[cold]
    fn ask(&self, split: Split) -> Steal<Split> {
        if self.shared.len_from(split.split()) == 0 {
            return Steal::Empty;
        }
        self.shared.own.threshold.ask();
        for _ in 0..ANSWER_CHECKS {
            std::hint::spin_loop();
            let now = self.shared.split.load();
            if now != split {
                return if now.public() > 0 { Steal::Success(now) } else { Steal::Retry };
            }
        }
        self.expose(split)
    }

    /// Makes all items public without the owner, which was asked after `split` was loaded. An owner
    /// that does not answer will not need its items soon, and can take half of them back by one
    /// exchange. The next thief need not pay for the barrier again.
    ///
    /// As long as the word is `split`, the owner has not cleared the flag since, or has taken
    /// nothing before it set the flag again. A pop that sees the flag competes for the word. A pop
    /// that did not see it has made its bottom visible before the barrier ends.
    fn expose(&self, split: Split) -> Steal<Split> {
        // Begin as late as possible: the word must be the same from here to the exchange, and the
        // flag must be set.
        if self.shared.split.load() != split {
            return Steal::Retry;
        }
        self.shared.own.threshold.ask();
        let stale =
            canary::DEQUE_BOTTOM_NOT_REREAD.sings().then(|| self.shared.len_from(split.split()));
        if !canary::DEQUE_HEAVY_BARRIER_MISSING.sings() && !self.shared.own.barrier.heavy() {
            // Only the owner could make items public, so an immediate retry would be in vain.
            return Steal::Empty;
        }
        let len = stale.unwrap_or_else(|| self.shared.len_from(split.split()));
        if len == 0 {
            return Steal::Empty;
        }
        let exposed = split.sharing(len.min(MAX_PUBLIC));
        if !self.shared.split.replace(split, exposed) {
            return Steal::Retry;
        }
        Steal::Success(exposed)
    }
}

/// Items that this thief has claimed. Each must be moved out exactly once.
struct Loot<T> {
    buffer: Buffer<T>,
    start: u32,
    count: u32,
}

impl<T> Loot<T> {
    /// Moves out item `index` and gives its slot back to the owner.
    #[inline(always)]
    fn item(&self, index: u32) -> T {
        debug_assert!(index < self.count);
        let position = self.start.wrapping_add(index);
        // SAFETY: (Q2) the stealer that made the claim keeps the buffers alive.
        let slot = unsafe { self.buffer.slot(position) };
        // SAFETY: (Q1, Q7) claimed by this thief alone, and public before the split it saw.
        let item = unsafe { slot.take() };
        // SAFETY: (Q2) the buffers are alive, as above.
        unsafe { self.buffer.mark_copied(position) };
        item
    }
}

// A panic of the owner leaves a deque from which can be stolen, and a thief does not access the
// cells of the owner.
impl<T> UnwindSafe for Stealer<T> {}
impl<T> RefUnwindSafe for Stealer<T> {}

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
