//! A slot of the wheel: unordered entries, in pieces, so that it grows, shrinks and is processed
//! without moving or freeing more than one piece at a time.

use super::timer::Timer;
use std::sync::Arc;
use std::vec;

/// Layout: number of entries in a piece of 2 KiB.
const PIECE: usize = if cfg!(test) { 8 } else { 128 };

/// One registration of a timer. It is dead if the timer was registered again or cancelled.
pub(super) struct Entry {
    pub(super) timer: Arc<Timer>,
    pub(super) number: u32,
}

impl Entry {
    pub(super) fn is_dead(&self) -> bool {
        self.timer.is_dead(self.number)
    }
}

#[derive(Default)]
pub(super) struct Slot {
    full: Vec<Vec<Entry>>,
    /// The last piece. Empty only if the slot is.
    last: Vec<Entry>,
}

impl Slot {
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * PIECE + self.last.len()
    }

    /// The number of entries that fit without growing.
    #[cfg(all(test, not(loom)))]
    pub(super) fn capacity(&self) -> usize {
        self.full.iter().chain([&self.last]).map(Vec::capacity).sum()
    }

    pub(super) fn push(&mut self, entry: Entry) {
        if self.last.len() == PIECE {
            let last = std::mem::replace(&mut self.last, Vec::with_capacity(PIECE));
            self.full.push(last);
        }
        self.last.push(entry);
    }

    pub(super) fn get(&self, index: usize) -> Option<&Entry> {
        let in_last = index.checked_sub(self.full.len() * PIECE);
        match in_last {
            Some(index) => self.last.get(index),
            None => self.full[index / PIECE].get(index % PIECE),
        }
    }

    /// The entries of a piece from `index` on, which must be valid.
    pub(super) fn piece_from(&mut self, index: usize) -> &mut [Entry] {
        let in_last = index.checked_sub(self.full.len() * PIECE);
        match in_last {
            Some(index) => &mut self.last[index..],
            None => &mut self.full[index / PIECE][index % PIECE..],
        }
    }

    /// Removes an entry, and moves the last one to its place.
    pub(super) fn swap_remove(&mut self, index: usize) -> Option<Entry> {
        let mut removed = self.last.pop()?;
        if let Some(place) = self.get_mut(index) {
            std::mem::swap(place, &mut removed);
        }
        if self.last.is_empty() {
            // Memory for more than a few entries is not kept.
            match self.full.pop() {
                Some(piece) => self.last = piece,
                None => self.last.shrink_to(4),
            }
            if self.full.is_empty() {
                self.full = Vec::new();
            }
        }
        Some(removed)
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut Entry> {
        let in_last = index.checked_sub(self.full.len() * PIECE);
        match in_last {
            Some(index) => self.last.get_mut(index),
            None => self.full[index / PIECE].get_mut(index % PIECE),
        }
    }

    /// All entries, in the order in which they were added unless some were removed.
    pub(super) fn into_work(self) -> Work {
        Work { full: self.full.into_iter(), last: self.last, piece: Vec::new().into_iter() }
    }
}

/// Entries that are being processed. Pieces are freed one by one.
pub(super) struct Work {
    full: vec::IntoIter<Vec<Entry>>,
    last: Vec<Entry>,
    piece: vec::IntoIter<Entry>,
}

impl Work {
    pub(super) fn is_done(&self) -> bool {
        self.piece.len() == 0 && self.full.len() == 0 && self.last.is_empty()
    }
}

impl Iterator for Work {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.piece.len() == 0 {
            let piece = self.full.next().unwrap_or_else(|| std::mem::take(&mut self.last));
            self.piece = piece.into_iter();
        }
        self.piece.next()
    }
}
