//! `Divide`: work that can be divided.

use std::ops::Range;
use std::slice;

/// Work that can be divided: a range, a slice, or [`chunks`] of one.
///
/// # Examples
///
/// A type of your own:
///
/// ```
/// use heist::par::{self, Divide};
///
/// /// The even numbers below `2 * end`, from `2 * start` on.
/// struct Even(std::ops::Range<u32>);
///
/// impl Divide for Even {
///     type Item = u32;
///     type Items = std::iter::Map<std::ops::Range<u32>, fn(u32) -> u32>;
///
///     fn len(&self) -> usize {
///         Divide::len(&self.0)
///     }
///
///     fn divide(self, at: usize) -> (Self, Self) {
///         let (a, b) = Divide::divide(self.0, at);
///         (Even(a), Even(b))
///     }
///
///     fn items(self) -> Self::Items {
///         self.0.map(|n| 2 * n)
///     }
/// }
///
/// assert_eq!(par::map_reduce(Even(0..100), |n| n, |a, b| a + b), Some(9900));
/// ```
pub trait Divide: Send + Sized {
    /// A piece of the work that cannot be divided.
    type Item;
    /// An iterator over all pieces in order.
    type Items: Iterator<Item = Self::Item>;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Divides the work into the first `at` items and the rest. `at` is at most [`len`](Self::len).
    fn divide(self, at: usize) -> (Self, Self);

    /// Returns an iterator over the items.
    fn items(self) -> Self::Items;
}

macro_rules! divide_range {
    ($($int:ty)*) => {$(
        impl Divide for Range<$int> {
            type Item = $int;
            type Items = Range<$int>;

            fn len(&self) -> usize {
                let len = (self.end as i128).saturating_sub(self.start as i128).max(0);
                // A range that is longer than usize is divided as if it were shorter.
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

/// Divides a slice into chunks of `size` items; the last one may be shorter.
///
/// # Examples
///
/// ```
/// use heist::par;
///
/// let longest = par::map_reduce(par::chunks(&[1, 2, 3, 4, 5], 2), |chunk| chunk.len(), usize::max);
/// assert_eq!(longest, Some(2));
/// ```
///
/// # Panics
///
/// Panics if `size` is 0.
pub fn chunks<T: Sync>(slice: &[T], size: usize) -> Chunks<'_, T> {
    assert!(size > 0, "par::chunks: the size is 0; ask for chunks of at least one item");
    Chunks { slice, size }
}

/// Divides a slice into mutable chunks of `size` items; the last one may be shorter.
///
/// # Examples
///
/// ```
/// use heist::par;
///
/// let mut numbers = [3, 1, 2, 6, 5, 4];
/// par::for_each(par::chunks_mut(&mut numbers, 3), |chunk| chunk.sort());
/// assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
/// ```
///
/// # Panics
///
/// Panics if `size` is 0.
pub fn chunks_mut<T: Send>(slice: &mut [T], size: usize) -> ChunksMut<'_, T> {
    assert!(size > 0, "par::chunks_mut: the size is 0; ask for chunks of at least one item");
    ChunksMut { slice, size }
}

/// The chunks of a slice, returned by [`chunks`].
///
/// # Examples
///
/// ```
/// let lengths = std::sync::Mutex::new(Vec::new());
/// let push = |chunk: &[i32]| lengths.lock().unwrap().push(chunk.len());
/// heist::par::for_each(heist::par::chunks(&[1, 2, 3, 4, 5], 2), push);
/// let mut lengths = lengths.into_inner().unwrap();
/// lengths.sort();
/// assert_eq!(lengths, [1, 2, 2]);
/// ```
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

/// The mutable chunks of a slice, returned by [`chunks_mut`].
///
/// # Examples
///
/// ```
/// let mut numbers = [1, 2, 3, 4, 5];
/// heist::par::for_each(heist::par::chunks_mut(&mut numbers, 2), |chunk| chunk.reverse());
/// assert_eq!(numbers, [2, 1, 4, 3, 5]);
/// ```
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
