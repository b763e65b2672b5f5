//! Two closures.

use crate::FnContext;
use crate::global;

/// Calls both closures, perhaps at the same time, and returns what they return. The first is called here, if this is
/// a thread of a pool; the second by whoever has nothing else to do, or here.
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

/// As [`join`], with closures that are told whether they have moved to another thread.
///
/// # Panics
/// As [`join`].
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    match global::elsewhere() {
        None => heist::join_context(a, b),
        Some(pool) => pool.handle.join_context(a, b),
    }
}
