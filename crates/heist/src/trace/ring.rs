//! The words that one thread has written last. The protocol is told in `README.md`.

use crate::canary;
use crate::env::prefetch_to_write;
use heist_sync::{AtomicU64, Ordering, fence};
use std::ptr;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

/// Memory is asked for so many words before they are written: two cache lines. Chosen by `yield_many`.
const AHEAD: usize = 16;

/// Words in a circle: one thread at a time writes, any thread copies, and the oldest are overwritten.
pub(crate) struct Ring {
    /// How many words have been written. Written by the writer alone, after the word.
    position: AtomicU64,
    words: Box<[AtomicU64]>,
}

/// What was in a ring.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Copied {
    /// How many words were written before these, and are lost.
    pub(crate) lost: u64,
    pub(crate) words: Vec<u64>,
}

impl Ring {
    /// For so many words, or somewhat more.
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.max(2).next_power_of_two();
        Ring {
            position: AtomicU64::new(0),
            words: (0..capacity).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.words.len()
    }

    /// How many words have been written; for the writer.
    #[inline(always)]
    pub(crate) fn position(&self) -> u64 {
        // Relaxed: the writer's own.
        self.position.load(Ordering::Relaxed)
    }

    /// By one thread at a time. Returns how many words have been written.
    #[inline(always)]
    pub(crate) fn push(&self, word: u64) -> u64 {
        let position = self.position();
        let place = self.place(position);
        // If its store has to wait for the memory, so have all atomics of the poll behind it.
        prefetch_to_write(ptr::from_ref(place).wrapping_add(AHEAD));
        // Release: pairs with the fence in copy(). Who has read this word sees the position that said
        // that its place is next.
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
        // SAFETY: (type) there are words, a power of two of them.
        unsafe { self.words.get_unchecked(place) }
    }

    /// What is there, without what was overwritten while it was looked at.
    pub(crate) fn copy(&self) -> Copied {
        // Acquire: pairs with the Release in push().
        let end = self.position.load(Ordering::Acquire);
        let capacity = self.words.len() as u64;
        let first = end.saturating_sub(capacity);
        // Relaxed: what they are worth is found out below.
        let mut words: Vec<u64> =
            (first..end).map(|position| self.place(position).load(Ordering::Relaxed)).collect();
        // Acquire: pairs with the Release of whoever wrote over a word that was read above.
        fence(Ordering::Acquire);
        let now = self.position.load(Ordering::Relaxed);
        // One more may be half-way.
        let half_way = u64::from(!canary::TRACE_COPY_TOO_LONG.sings());
        let safe = (now + half_way).saturating_sub(capacity).clamp(first, end);
        if !canary::TRACE_COPY_UNCHECKED.sings() {
            words.drain(..(safe - first) as usize);
        }
        Copied { lost: safe, words }
    }
}
