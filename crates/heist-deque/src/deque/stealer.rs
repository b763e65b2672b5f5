//! The many ends that steal.

use super::buffer::Buffer;
use super::hand::Mark;
use super::owner::Owner;
use super::shared::Shared;
use super::split::{MAX_PUBLIC, Split};
use crate::Steal;
use crate::canary;
use heist_sync::Arc;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// How often a thief that has asked looks for the owner's answer before it pays for the barrier.
/// Together about as long as the barrier takes where the owner's core runs; `fork_join_fib` has half of the barriers that it has with 8, and `deque_contended` does not mind.
#[cfg(not(loom))]
const PATIENCE: u32 = 32;
#[cfg(loom)]
const PATIENCE: u32 = 0;

/// Half of what can be public.
const MAX_BATCH: usize = MAX_PUBLIC.div_ceil(2) as usize;

/// A handle that steals from a deque. Any number of threads may use it at once.
pub struct Stealer<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Stealer<T> {
    pub(super) fn new(shared: &Arc<Shared<T>>) -> Self {
        Stealer { shared: Arc::clone(shared) }
    }

    /// How many items there are; a snapshot.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there was nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the deque ends now. The owner alone changes that, by each push and pop.
    pub fn mark(&self) -> Mark {
        Mark::at(self.shared.own.bottom_lately())
    }

    /// Rings the deque's bell: somebody wants to hear of it when the owner pushes. It rings until the owner
    /// [silences](Owner::hush) it. Returns whether it was silent.
    ///
    /// Who rings, and then runs the heavy side of the barrier that [`Barrier::detect`](heist_sync::Barrier::detect) finds,
    /// and then finds nothing here, will be heard by the next push. Who finds it ringing may leave the barrier to the one that
    /// rang, if all who ring run it, and look afterwards.
    pub fn ring(&self) -> bool {
        self.shared.own.calm.ring()
    }

    /// Nudges the owner: its next push is told as if the bell rang, if it sees that. A hint, which needs no barrier.
    pub fn nudge(&self) {
        self.shared.own.calm.nudge();
    }

    /// Takes the oldest item.
    pub fn steal(&self) -> Steal<T> {
        self.claim(|_| 1).map(|loot| loot.item(0))
    }

    /// Takes half of the oldest items that are public, rounded up and at most 64: the oldest is
    /// returned, the others become the newest of `dest`, in order.
    ///
    /// # Panics
    /// If `dest` would hold more than 2³⁰ items; then nothing was stolen.
    pub fn steal_batch_into(&self, dest: &mut Owner<T>) -> Steal<T> {
        let most = self.shared.len().div_ceil(2).min(MAX_BATCH) as u32;
        if most == 0 {
            return Steal::Empty;
        }
        // Before the claim, so that nothing can fail after it.
        dest.reserve(most - 1);
        self.claim(|public| public.div_ceil(2).min(most)).map(|loot| {
            for index in 1..loot.count {
                dest.push(loot.item(index));
            }
            loot.item(0)
        })
    }

    /// One attempt to claim as many of the oldest items as `how_many` says for the number of
    /// public ones that it is given, which is not 0.
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
            // For whoever comes next: the owner has time to answer until then.
            self.shared.own.calm.ask();
        }
        let buffer = self.shared.generations.get(split.generation());
        Steal::Success(Loot { buffer, start: split.top(), count })
    }

    /// Nothing is public: asks the owner for a share and, if it is busy elsewhere, takes one.
    /// Returns a split with something public in it.
    #[cold]
    fn ask(&self, split: Split) -> Steal<Split> {
        if self.shared.len_from(split.split()) == 0 {
            return Steal::Empty;
        }
        self.shared.own.calm.ask();
        for _ in 0..PATIENCE {
            std::hint::spin_loop();
            let now = self.shared.split.load();
            if now != split {
                return if now.public() > 0 { Steal::Success(now) } else { Steal::Retry };
            }
        }
        self.expose(split)
    }

    /// Makes everything public without the owner, who was asked after `split` was loaded. An
    /// owner that did not answer is not about to need its items, and gets half of them back by
    /// one exchange; the next thief need not pay for the barrier again.
    ///
    /// As long as the word is `split`, the owner has not lowered the flag since, or has taken nothing until it raised it again: a pop that
    /// sees the flag competes for the word, and a pop that did not see it has shown its bottom
    /// before the barrier ends.
    fn expose(&self, split: Split) -> Steal<Split> {
        // Begin anew as late as possible: what counts is that the word is the same from here to
        // the exchange, and the flag up.
        if self.shared.split.load() != split {
            return Steal::Retry;
        }
        self.shared.own.calm.ask();
        let stale =
            canary::DEQUE_BOTTOM_NOT_REREAD.sings().then(|| self.shared.len_from(split.split()));
        if !canary::DEQUE_HEAVY_BARRIER_MISSING.sings() && !self.shared.own.barrier.heavy() {
            // Nothing to be had without the owner, and no use in trying again at once.
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

/// Items that this thief has claimed. Each must be moved out once.
struct Loot<T> {
    buffer: Buffer<T>,
    start: u32,
    count: u32,
}

impl<T> Loot<T> {
    /// Moves out item `index`, and gives its slot back to the owner.
    #[inline(always)]
    fn item(&self, index: u32) -> T {
        debug_assert!(index < self.count);
        let position = self.start.wrapping_add(index);
        // SAFETY: (Q2) the stealer that made the claim keeps the buffers alive.
        let slot = unsafe { self.buffer.slot(position) };
        // SAFETY: (Q1, Q7) claimed by this thief alone, and public before the split it saw.
        let item = unsafe { slot.take() };
        // SAFETY: (Q2) as above.
        unsafe { self.buffer.mark_copied(position) };
        item
    }
}

// A panic of the owner leaves a deque that can be stolen from, and a thief does not look at what the owner keeps to itself.
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
