//! Two closures.

use crate::FnContext;
use crate::global;
use crate::pool::Pool;

/// Calls two closures, possibly in parallel, and returns their results. On a thread of a pool, the
/// first runs on this thread, and the second on an idle thread or on this one.
///
/// ```
/// assert_eq!(rayon_core::join(|| 1 + 1, || 2 + 2), (2, 4));
/// ```
///
/// # Panics
/// If a closure does, after both have ended; the first one's panic goes before the second one's.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_context(|_| a(), |_| b())
}

/// Like [`join`], with closures that are told whether they have moved to another thread.
///
/// # Panics
/// Like [`join`].
// Rayon's sorts and iterators join at the end of long functions, with loops for which registers are
// short. Those should have a call there, and not what heist does in it: expanded, it costs
// `par_sort_unstable` 0.7 %, and apart `join` is not slower.
#[inline(never)]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    match global::elsewhere() {
        None => heist::join_context(a, b),
        Some(pool) => join_elsewhere(pool, a, b),
    }
}

/// From a thread of no pool, to the global one.
#[cold]
#[inline(never)]
fn join_elsewhere<A, B, RA, RB>(pool: &Pool, a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    pool.handle.join_context(a, b)
}
