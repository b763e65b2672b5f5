//! Loops over slices and ranges whose parts run at the same time.
//!
//! These are the few that most programs need. For everything else there are the iterators of rayon.
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
//! Work is halved a few times for each worker. A half that another worker has taken is halved as often again: so where parts
//! are uneven, or workers come and go, what is left is divided further, and where nobody is idle hardly
//! anything is. What is called for one item should take longer than a few nanoseconds, or be called for a chunk.

mod divide;
mod sort;

pub use divide::{Chunks, ChunksMut, Divide, chunks, chunks_mut};
pub use sort::{sort_unstable, sort_unstable_by};

use crate::forkjoin::{FnContext, current_num_workers, join_context};

/// Calls `f` with each item: of a range, of a slice, or of [`chunks`]. In no particular order, and at the same time as far
/// as there are workers.
///
/// ```compile_fail,E0594
/// let mut sum = 0;
/// heist::par::for_each(0..100, |n| sum += n);
/// ```
///
/// # Panics
/// If `f` does; other items may have been left out then.
pub fn for_each<D: Divide>(work: D, f: impl Fn(D::Item) + Sync) {
    fold(work, &|part: D| part.items().for_each(&f), &|(), ()| ());
}

/// Maps each item, and reduces what comes out to one: neighbours first, so that the order of items is kept and `reduce` need
/// not be commutative, but has to be associative. `None` if there are no items.
///
/// ```
/// let text = heist::par::map_reduce(0..10_u32, |n| n.to_string(), |a, b| a + &b);
/// assert_eq!(text.as_deref(), Some("0123456789"));
/// ```
///
/// # Panics
/// If a closure does.
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
    /// So many pieces for each worker if nothing is stolen. Guessed: enough to find out whether anybody is idle.
    const PIECES_PER_WORKER: usize = 4;

    fn at_first() -> Self {
        let pieces = current_num_workers() * Self::PIECES_PER_WORKER;
        Divisions(pieces.next_power_of_two().ilog2() as usize)
    }

    /// For a half that is called in this context: who has taken it from another is idle, and may not be the
    /// only one.
    fn in_context(self, context: FnContext) -> Self {
        if context.migrated() { Divisions(self.0.max(Self::at_first().0)) } else { self }
    }

    fn halved(self, len: usize) -> Option<Self> {
        if len > 1 { self.0.checked_sub(1).map(Divisions) } else { None }
    }
}

/// Divides `work`, and brings together what has become of its parts.
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
