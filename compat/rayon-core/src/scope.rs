//! Any number of closures that may borrow.

use crate::broadcast::BroadcastContext;
use crate::global;
use std::ptr;

/// Calls `f` with a scope in which it can spawn jobs, and returns when all have ended: they may
/// borrow whatever outlives the call. `f` is called on a thread of the current pool, or of the
/// global one. The newest job is run first.
///
/// ```
/// let mut numbers = [1, 2, 3];
/// rayon_core::scope(|s| {
///     for number in &mut numbers {
///         s.spawn(move |_| *number *= 2);
///     }
/// });
/// assert_eq!(numbers, [2, 4, 6]);
/// ```
///
/// # Panics
/// If `f` or a job does, after all have ended.
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    match global::elsewhere() {
        None => heist::scope(|scope| f(Scope::of(scope))),
        Some(pool) => pool.handle.scope(|scope| f(Scope::of(scope))),
    }
}

/// Like [`scope`], but `f` is called by this thread.
///
/// # Panics
/// Like [`scope`].
pub fn in_place_scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    match global::elsewhere() {
        None => heist::in_place_scope(|scope| f(Scope::of(scope))),
        Some(pool) => pool.handle.in_place_scope(|scope| f(Scope::of(scope))),
    }
}

/// Like [`scope`], but the oldest job is run first.
///
/// # Panics
/// Like [`scope`].
pub fn scope_fifo<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    match global::elsewhere() {
        None => heist::scope_fifo(|scope| f(ScopeFifo::of(scope))),
        Some(pool) => pool.handle.scope_fifo(|scope| f(ScopeFifo::of(scope))),
    }
}

/// Like [`scope_fifo`], but `f` is called by this thread.
///
/// # Panics
/// Like [`scope`].
pub fn in_place_scope_fifo<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&ScopeFifo<'scope>) -> R,
{
    match global::elsewhere() {
        None => heist::in_place_scope_fifo(|scope| f(ScopeFifo::of(scope))),
        Some(pool) => pool.handle.in_place_scope_fifo(|scope| f(ScopeFifo::of(scope))),
    }
}

/// Where jobs can be spawned; see [`scope`].
#[derive(Debug)]
#[repr(transparent)]
pub struct Scope<'scope>(heist::Scope<'scope>);

impl<'scope> Scope<'scope> {
    pub(crate) fn of<'a>(scope: &'a heist::Scope<'scope>) -> &'a Self {
        // SAFETY: (type) it is the same, under another name.
        unsafe { &*ptr::from_ref(scope).cast() }
    }

    /// Spawns a job, which may spawn more. It is run before the scope ends.
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        self.0.spawn(|scope| f(Scope::of(scope)));
    }

    /// Has each thread of the scope's pool call `f`, before the scope ends.
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        self.0.spawn_broadcast(move |scope, context| {
            f(Scope::of(scope), BroadcastContext { context });
        });
    }
}

/// Where jobs can be spawned; see [`scope_fifo`].
#[derive(Debug)]
#[repr(transparent)]
pub struct ScopeFifo<'scope>(heist::ScopeFifo<'scope>);

impl<'scope> ScopeFifo<'scope> {
    pub(crate) fn of<'a>(scope: &'a heist::ScopeFifo<'scope>) -> &'a Self {
        // SAFETY: (type) it is the same, under another name.
        unsafe { &*ptr::from_ref(scope).cast() }
    }

    /// Spawns a job, which may spawn more. It is run before the scope ends.
    pub fn spawn_fifo<F>(&self, f: F)
    where
        F: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        self.0.spawn_fifo(|scope| f(ScopeFifo::of(scope)));
    }

    /// Has each thread of the scope's pool call `f`, before the scope ends.
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        self.0.spawn_broadcast(move |scope, context| {
            f(ScopeFifo::of(scope), BroadcastContext { context });
        });
    }
}
