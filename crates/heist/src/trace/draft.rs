//! The words that a writer would write next, and may still replace. `README.md` specifies the
//! protocol.

use crate::canary;
use heist_sync::{AtomicU64, Ordering, fence};

#[cfg(all(test, loom))]
mod loom_tests;

/// At most `N` words that follow those of a buffer. One thread at a time replaces them, and any
/// thread reads them.
pub(super) struct Draft<const N: usize> {
    /// Odd while the other fields are being replaced.
    version: AtomicU64,
    /// The position in the buffer that the first word would have.
    position: AtomicU64,
    /// 0, which is not a word, after the end of the draft.
    words: [AtomicU64; N],
}

impl<const N: usize> Draft<N> {
    pub(super) fn new() -> Self {
        Draft {
            version: AtomicU64::new(0),
            position: AtomicU64::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Must be called by one thread at a time.
    pub(super) fn replace(&self, position: u64, words: [u64; N]) {
        // Relaxed: only the writer changes it. A thread that reads a word of this draft sees it
        // through that word's Release.
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        // Release: pairs with the fence in read().
        let release = canary::TRACE_DRAFT_WORD_RELAXED.weakens(Ordering::Release);
        self.position.store(position, release);
        for (place, word) in self.words.iter().zip(words) {
            place.store(word, release);
        }
        // Release: pairs with the Acquire in read(), which finds the words.
        let release = canary::TRACE_DRAFT_VERSION_RELAXED.weakens(Ordering::Release);
        self.version.store(version + 2, release);
    }

    /// The position and the words, or `None` if they were being replaced.
    pub(super) fn read(&self) -> Option<(u64, [u64; N])> {
        // Acquire: pairs with the Release of the version in replace().
        let before = self.version.load(Ordering::Acquire);
        // Relaxed: validated below.
        let position = self.position.load(Ordering::Relaxed);
        let words = std::array::from_fn(|index| self.words[index].load(Ordering::Relaxed));
        // Acquire: pairs with the Release of a position or word that was read above.
        fence(Ordering::Acquire);
        let after = self.version.load(Ordering::Relaxed);
        let is_whole = before == after && before % 2 == 0;
        (is_whole || canary::TRACE_DRAFT_UNCHECKED.sings()).then_some((position, words))
    }
}
