//! What can be divided.

use std::ops::Range;
use std::slice;

/// Work that can be divided: a range, a slice, or [`chunks`] of one.
pub trait Divide: Send + Sized {
    /// One piece of it that cannot be divided.
    type Item;
    /// All pieces, in order.
    type Items: Iterator<Item = Self::Item>;

    /// How many items there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first `at` items, and the others. `at` is at most [`len`](Self::len).
    fn divide(self, at: usize) -> (Self, Self);

    /// The items, one after the other.
    fn items(self) -> Self::Items;
}

macro_rules! divide_range {
    ($($int:ty)*) => {$(
        impl Divide for Range<$int> {
            type Item = $int;
            type Items = Range<$int>;

            fn len(&self) -> usize {
                let len = (self.end as i128).saturating_sub(self.start as i128).max(0);
                // One that does not fit is divided as if it were shorter, and still comes to its end.
                usize::try_from(len).unwrap_or(usize::MAX)
            }

            fn divide(self, at: usize) -> (Self, Self) {
                let middle = (self.start as i128 + at as i128) as $int;
                (self.start..middle, middle..self.end)
            }

            fn items(self) -> Self::Items {
                self
            }
        }
    )*};
}

divide_range!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl<'a, T: Sync> Divide for &'a [T] {
    type Item = &'a T;
    type Items = slice::Iter<'a, T>;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn divide(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }

    fn items(self) -> Self::Items {
        self.iter()
    }
}

impl<'a, T: Send> Divide for &'a mut [T] {
    type Item = &'a mut T;
    type Items = slice::IterMut<'a, T>;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn divide(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }

    fn items(self) -> Self::Items {
        self.iter_mut()
    }
}

/// Pieces of a slice, each `size` long but the last, which may be shorter.
///
/// # Panics
/// If `size` is 0.
pub fn chunks<T: Sync>(slice: &[T], size: usize) -> Chunks<'_, T> {
    assert!(size > 0, "par::chunks: the size is 0; ask for chunks of at least one item");
    Chunks { slice, size }
}

/// As [`chunks`], of a slice that may be changed.
///
/// # Panics
/// If `size` is 0.
pub fn chunks_mut<T: Send>(slice: &mut [T], size: usize) -> ChunksMut<'_, T> {
    assert!(size > 0, "par::chunks_mut: the size is 0; ask for chunks of at least one item");
    ChunksMut { slice, size }
}

/// See [`chunks`].
#[derive(Debug)]
pub struct Chunks<'a, T> {
    slice: &'a [T],
    size: usize,
}

impl<'a, T: Sync> Divide for Chunks<'a, T> {
    type Item = &'a [T];
    type Items = slice::Chunks<'a, T>;

    fn len(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    fn divide(self, at: usize) -> (Self, Self) {
        let (a, b) = self.slice.split_at(self.slice.len().min(at.saturating_mul(self.size)));
        (Chunks { slice: a, size: self.size }, Chunks { slice: b, size: self.size })
    }

    fn items(self) -> Self::Items {
        self.slice.chunks(self.size)
    }
}

/// See [`chunks_mut`].
#[derive(Debug)]
pub struct ChunksMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
}

impl<'a, T: Send> Divide for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    type Items = slice::ChunksMut<'a, T>;

    fn len(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }

    fn divide(self, at: usize) -> (Self, Self) {
        let middle = self.slice.len().min(at.saturating_mul(self.size));
        let (a, b) = self.slice.split_at_mut(middle);
        (ChunksMut { slice: a, size: self.size }, ChunksMut { slice: b, size: self.size })
    }

    fn items(self) -> Self::Items {
        self.slice.chunks_mut(self.size)
    }
}
