//! Parallel loops over slices and ranges, and a parallel sort.
//!
//! These are the few that most programs need. Use rayon's iterators for everything else.
//!
//! # Examples
//!
//! ```
//! use heist::par;
//!
//! let numbers: Vec<u64> = (1..=1000).collect();
//! let squares = par::map_reduce(&numbers[..], |n| n * n, |a, b| a + b);
//! assert_eq!(squares, Some(333_833_500));
//!
//! let mut halves = numbers.clone();
//! par::for_each(&mut halves[..], |n| *n /= 2);
//! assert_eq!(halves[999], 500);
//!
//! let sums = std::sync::Mutex::new(Vec::new());
//! par::for_each(par::chunks(&numbers, 100), |chunk| {
//!     sums.lock().unwrap().push(chunk.iter().sum::<u64>());
//! });
//! assert_eq!(sums.into_inner().unwrap().len(), 10);
//! ```
//!
//! # How work is divided
//!
//! The work is halved until there are a few pieces for each worker. A piece that another worker has
//! stolen is divided again, so uneven parts are balanced, and almost nothing is divided where no
//! worker is idle. A closure that is called for one item should take more than a few nanoseconds;
//! otherwise call it for a chunk.

mod divide;
mod sort;

pub use divide::{Chunks, ChunksMut, Divide, chunks, chunks_mut};
pub use sort::{sort_unstable, sort_unstable_by};

use crate::forkjoin::{FnContext, current_num_workers, join_context};
use crate::tuning::PIECES_PER_WORKER;

/// Calls `f` for each item of a range, a slice or [`chunks`], potentially in parallel and in no
/// particular order.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let sum = AtomicU64::new(0);
/// heist::par::for_each(0..100_u64, |n| _ = sum.fetch_add(n, Ordering::Relaxed));
/// assert_eq!(sum.into_inner(), 4950);
/// ```
///
/// The closure cannot change variables without synchronization:
///
/// ```compile_fail,E0594
/// let mut sum = 0;
/// heist::par::for_each(0..100, |n| sum += n);
/// ```
///
/// # Panics
///
/// Panics if `f` panics. Other items may then have been skipped.
pub fn for_each<D: Divide>(work: D, f: impl Fn(D::Item) + Sync) {
    fold(work, &|part: D| part.items().for_each(&f), &|(), ()| ());
}

/// Maps each item, potentially in parallel, and reduces the results to one. Returns `None` if there
/// are no items.
///
/// `reduce` must be associative. It need not be commutative, because it is called for neighbors in
/// their order.
///
/// # Examples
///
/// ```
/// let text = heist::par::map_reduce(0..10_u32, |n| n.to_string(), |a, b| a + &b);
/// assert_eq!(text.as_deref(), Some("0123456789"));
/// ```
///
/// # Panics
///
/// Panics if a closure panics.
pub fn map_reduce<D, R>(
    work: D,
    map: impl Fn(D::Item) -> R + Sync,
    reduce: impl Fn(R, R) -> R + Sync,
) -> Option<R>
where
    D: Divide,
    R: Send,
{
    let both = |a: Option<R>, b: Option<R>| match (a, b) {
        (Some(a), Some(b)) => Some(reduce(a, b)),
        (a, b) => a.or(b),
    };
    fold(work, &|part: D| part.items().map(&map).reduce(&reduce), &both)
}

/// How often a piece may still be halved.
#[derive(Clone, Copy)]
struct Divisions(usize);

impl Divisions {
    /// Enough to find out whether a worker is idle.
    fn at_first() -> Self {
        let pieces = current_num_workers() * PIECES_PER_WORKER;
        Divisions(pieces.next_power_of_two().ilog2() as usize)
    }

    /// The divisions of a half that is called in this context. If it was stolen, a worker was idle,
    /// and others may be.
    fn in_context(self, context: FnContext) -> Self {
        if context.migrated() { Divisions(self.0.max(Self::at_first().0)) } else { self }
    }

    fn halved(self, len: usize) -> Option<Self> {
        if len > 1 { self.0.checked_sub(1).map(Divisions) } else { None }
    }
}

/// Divides `work`, and combines the results of its parts.
fn fold<D, R>(work: D, part: &(impl Fn(D) -> R + Sync), both: &(impl Fn(R, R) -> R + Sync)) -> R
where
    D: Divide,
    R: Send,
{
    fold_divided(work, Divisions::at_first(), part, both)
}

fn fold_divided<D, R>(
    work: D,
    divisions: Divisions,
    part: &(impl Fn(D) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R
where
    D: Divide,
    R: Send,
{
    let len = work.len();
    let Some(divisions) = divisions.halved(len) else { return part(work) };
    let (a, b) = work.divide(len / 2);
    let (a, b) = join_context(
        |context| fold_divided(a, divisions.in_context(context), part, both),
        |context| fold_divided(b, divisions.in_context(context), part, both),
    );
    both(a, b)
}
