//! The words that one thread has written last. `README.md` specifies the protocol.

use crate::canary;
use crate::env::prefetch_to_write;
use heist_sync::{AtomicU64, Ordering, fence};
use std::ptr;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

/// Words are prefetched this far before they are written: two cache lines. Chosen by `yield_many`.
const PREFETCHED_WORDS: usize = 16;

/// A buffer of words: one thread at a time writes, any thread copies, and the oldest words are
/// overwritten.
pub(crate) struct EventBuffer {
    /// The number of words written. Only the writer changes it, after the word.
    position: AtomicU64,
    words: Box<[AtomicU64]>,
}

/// The contents of a buffer.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Copied {
    /// The number of earlier words, which are lost.
    pub(crate) lost: u64,
    pub(crate) words: Vec<u64>,
}

impl EventBuffer {
    /// Creates a buffer for at least `capacity` words.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.max(2).next_power_of_two();
        EventBuffer {
            position: AtomicU64::new(0),
            words: (0..capacity).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.words.len()
    }

    /// The number of words written. Only for the writer.
    #[inline(always)]
    pub(crate) fn position(&self) -> u64 {
        // Relaxed: only the writer changes it.
        self.position.load(Ordering::Relaxed)
    }

    /// Appends a word, and returns the number of words written. Must be called by one thread at a
    /// time.
    #[inline(always)]
    pub(crate) fn push(&self, word: u64) -> u64 {
        let position = self.position();
        let place = self.place(position);
        // If the store had to wait for memory, so would all later atomics of the poll.
        prefetch_to_write(ptr::from_ref(place).wrapping_add(PREFETCHED_WORDS));
        // Release: pairs with the fence in copy(). A thread that has read this word sees the
        // position before it.
        let release = canary::TRACE_WORD_RELAXED.weakens(Ordering::Release);
        place.store(word, release);
        // Release: pairs with the Acquire in copy(), which finds the word behind it.
        let release = canary::TRACE_POSITION_RELAXED.weakens(Ordering::Release);
        self.position.store(position + 1, release);
        position + 1
    }

    #[inline(always)]
    fn place(&self, position: u64) -> &AtomicU64 {
        let place = position as usize & (self.words.len() - 1);
        // SAFETY: (type) the number of words is a power of two, so the masked index is valid.
        unsafe { self.words.get_unchecked(place) }
    }

    /// A copy of the words, without those that were overwritten during the copy.
    pub(crate) fn copy(&self) -> Copied {
        // Acquire: pairs with the Release in push().
        let end = self.position.load(Ordering::Acquire);
        let capacity = self.words.len() as u64;
        let first = end.saturating_sub(capacity);
        // Relaxed: validated below.
        let mut words: Vec<u64> =
            (first..end).map(|position| self.place(position).load(Ordering::Relaxed)).collect();
        // Acquire: pairs with the Release of a writer that has overwritten a word that was read
        // above.
        fence(Ordering::Acquire);
        let now = self.position.load(Ordering::Relaxed);
        // One more word may be half-written.
        let half_way = u64::from(!canary::TRACE_COPY_TOO_LONG.sings());
        let safe = (now + half_way).saturating_sub(capacity).clamp(first, end);
        if !canary::TRACE_COPY_UNCHECKED.sings() {
            words.drain(..(safe - first) as usize);
        }
        Copied { lost: safe, words }
    }
}
