//! A closure for each thread.

use crate::pool::Pool;
use crate::{global, panics};
use heist::runtime::Handle;
use std::fmt;
use std::sync::Arc;

/// Has each thread of the current pool, or of the global one, call `f` once, and returns what it
/// has returned, by the threads' numbers. A thread does so when it has no jobs of its own left.
///
/// ```
/// let calls = rayon_core::broadcast(|thread| thread.index());
/// assert!(calls.into_iter().eq(0..rayon_core::current_num_threads()));
/// ```
///
/// # Panics
/// If `f` does, after all have called it.
pub fn broadcast<F, R>(f: F) -> Vec<R>
where
    F: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    match global::elsewhere() {
        None => heist::broadcast(|context| f(BroadcastContext { context })),
        Some(pool) => broadcast_on(pool, f),
    }
}

pub(crate) fn broadcast_on<F, R>(pool: &Pool, f: F) -> Vec<R>
where
    F: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    pool.handle.broadcast(|context| f(BroadcastContext { context }))
}

/// Like [`broadcast`], without waiting. A panic goes where that of [`spawn`](crate::spawn) does.
pub fn spawn_broadcast<F>(f: F)
where
    F: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    match global::current() {
        Some(pool) => spawn_broadcast_on(&pool, f),
        None => Handle::current_or_global().spawn_broadcast(move |context| {
            panics::contain(None, || f(BroadcastContext { context }));
        }),
    }
}

pub(crate) fn spawn_broadcast_on<F>(pool: &Arc<Pool>, f: F)
where
    F: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let used = pool.used();
    pool.handle.spawn_broadcast(move |context| {
        used.pool().contain(|| f(BroadcastContext { context }));
    });
}

/// What the closure of a [`broadcast`] is told.
pub struct BroadcastContext<'a> {
    pub(crate) context: heist::BroadcastContext<'a>,
}

impl BroadcastContext<'_> {
    /// The number of the thread that calls, from 0 on.
    #[inline]
    pub fn index(&self) -> usize {
        self.context.index()
    }

    /// How many threads call.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.context.num_workers()
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index())
            .field("num_threads", &self.num_threads())
            .finish()
    }
}
