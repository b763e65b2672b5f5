//! Parallel sorting.

use crate::forkjoin::{current_num_workers, join};
use crate::tuning::{PIECES_PER_WORKER, SEQUENTIAL_SORT};
use std::cmp::Ordering;

/// Sorts a slice in parallel, without preserving the order of equal items.
///
/// # Examples
///
/// ```
/// let mut numbers: Vec<u64> = (0..100_000).map(|n| n * 7919 % 100_003).collect();
/// heist::par::sort_unstable(&mut numbers);
/// assert!(numbers.is_sorted());
/// ```
///
/// # Panics
///
/// Panics if a comparison panics. The slice then holds the same items in an unspecified order.
pub fn sort_unstable<T: Ord + Send>(slice: &mut [T]) {
    sort_unstable_by(slice, T::cmp);
}

/// Sorts a slice in parallel with a comparison function, without preserving the order of equal
/// items.
///
/// # Examples
///
/// ```
/// let mut words = vec!["parallel", "sort", "of", "words"];
/// heist::par::sort_unstable_by(&mut words, |a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
/// assert_eq!(words, ["of", "sort", "words", "parallel"]);
/// ```
///
/// # Panics
///
/// Panics if `compare` panics, and may panic if it is not a total order. The slice then holds the
/// same items in an unspecified order.
pub fn sort_unstable_by<T, F>(slice: &mut [T], compare: F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let pieces = current_num_workers() * PIECES_PER_WORKER;
    let short = (slice.len() / pieces).max(SEQUENTIAL_SORT);
    // Halves that are too uneven use up the depth, and are also left to the standard library.
    let depth = 2 * pieces.next_power_of_two().ilog2();
    sort(slice, &compare, short, depth);
}

fn sort<T, F>(slice: &mut [T], compare: &F, short: usize, depth: u32)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    if slice.len() <= short || depth == 0 {
        return slice.sort_unstable_by(compare);
    }
    let middle = partition(slice, compare);
    let (a, rest) = slice.split_at_mut(middle);
    let b = &mut rest[1..];
    join(|| sort(a, compare, short, depth - 1), || sort(b, compare, short, depth - 1));
}

/// Moves an item to its final place, items that are less or equal before it, and items that are
/// greater or equal behind it. Returns the place.
fn partition<T>(slice: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) -> usize {
    let pivot = choose(slice, compare);
    slice.swap(0, pivot);
    let Some((pivot, rest)) = slice.split_first_mut() else { return 0 };
    let (mut left, mut right) = (0, rest.len());
    loop {
        while left < right && compare(&rest[left], pivot).is_lt() {
            left += 1;
        }
        while left < right && compare(pivot, &rest[right - 1]).is_lt() {
            right -= 1;
        }
        if left >= right {
            break;
        }
        // Equal items are swapped too, so that many of them are divided evenly.
        right -= 1;
        rest.swap(left, right);
        left += 1;
    }
    // `left` may be one beyond `right` after the last two were swapped.
    let middle = left.min(rest.len());
    slice.swap(0, middle);
    middle
}

/// The median of nine items from all over a long slice.
fn choose<T>(slice: &[T], compare: &impl Fn(&T, &T) -> Ordering) -> usize {
    let mut nine: [usize; 9] = std::array::from_fn(|n| (slice.len() / 10) * (n + 1));
    nine.sort_unstable_by(|a, b| compare(&slice[*a], &slice[*b]));
    nine[4]
}
