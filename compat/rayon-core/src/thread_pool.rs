//! A pool of threads, and what can be asked about the current one.

use crate::broadcast::{BroadcastContext, broadcast_on, spawn_broadcast_on};
use crate::pool::{Pool, Use};
use crate::scope::{Scope, ScopeFifo};
use crate::spawn::{spawn_fifo_on, spawn_on};
use crate::yielding::{self, Yield, yield_on};
use crate::{global, member};
use std::fmt;
use std::sync::Arc;

/// A pool of threads. When it is dropped its threads end, after they have run what was spawned;
/// nobody waits for them.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// assert_eq!(pool.join(|| 1, || 2), (1, 2));
/// ```
pub struct ThreadPool {
    owner: Use,
}

impl ThreadPool {
    pub(crate) fn new_for(owner: Use) -> Self {
        ThreadPool { owner }
    }

    /// Builds a pool.
    ///
    /// # Errors
    /// Like [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    #[deprecated(note = "use `ThreadPoolBuilder::build`")]
    #[allow(deprecated)]
    pub fn new(configuration: crate::Configuration) -> Result<Self, Box<dyn std::error::Error>> {
        configuration.build()
    }

    fn pool(&self) -> &Arc<Pool> {
        self.owner.pool()
    }

    /// Calls `f` on a thread of the pool, and returns what it returns: [`join`](crate::join) and
    /// the like in it are the pool's. A thread of another pool runs that one's jobs meanwhile.
    ///
    /// # Panics
    /// If `f` does.
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        self.pool().handle.install(f)
    }

    /// Like [`broadcast`](crate::broadcast), on this pool.
    ///
    /// # Panics
    /// Panics like it.
    pub fn broadcast<F, R>(&self, f: F) -> Vec<R>
    where
        F: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast_on(self.pool(), f)
    }

    /// How many threads it has.
    pub fn current_num_threads(&self) -> usize {
        self.pool().num_threads()
    }

    /// The number of the calling thread, if it is one of the pool's.
    pub fn current_thread_index(&self) -> Option<usize> {
        member::index().filter(|_| member::is_of(self.pool()))
    }

    /// Whether the calling thread, if it is one of the pool's, has jobs that nobody has taken.
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.pool().handle.has_pending_jobs()
    }

    /// Like [`join`](crate::join), on this pool.
    ///
    /// # Panics
    /// Panics like it.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.pool().handle.join(a, b)
    }

    /// Like [`scope`](crate::scope), on this pool.
    ///
    /// # Panics
    /// Panics like it.
    pub fn scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.pool().handle.scope(|scope| f(Scope::of(scope)))
    }

    /// Like [`scope_fifo`](crate::scope_fifo), on this pool.
    ///
    /// # Panics
    /// Panics like it.
    pub fn scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.pool().handle.scope_fifo(|scope| f(ScopeFifo::of(scope)))
    }

    /// Like [`in_place_scope`](crate::in_place_scope), with jobs on this pool.
    ///
    /// # Panics
    /// Panics like it.
    pub fn in_place_scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        self.pool().handle.in_place_scope(|scope| f(Scope::of(scope)))
    }

    /// Like [`in_place_scope_fifo`](crate::in_place_scope_fifo), with jobs on this pool.
    ///
    /// # Panics
    /// Panics like it.
    pub fn in_place_scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.pool().handle.in_place_scope_fifo(|scope| f(ScopeFifo::of(scope)))
    }

    /// Like [`spawn`](crate::spawn), on this pool.
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce() + Send + 'static,
    {
        spawn_on(self.pool(), f);
    }

    /// Like [`spawn_fifo`](crate::spawn_fifo), on this pool.
    pub fn spawn_fifo<F>(&self, f: F)
    where
        F: FnOnce() + Send + 'static,
    {
        spawn_fifo_on(self.pool(), f);
    }

    /// Like [`spawn_broadcast`](crate::spawn_broadcast), on this pool.
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        spawn_broadcast_on(self.pool(), f);
    }

    /// Like [`yield_now`](crate::yield_now), if the calling thread is one of the pool's.
    pub fn yield_now(&self) -> Option<Yield> {
        yield_on(&self.pool().handle, heist::Yield::Any)
    }

    /// Like [`yield_local`](crate::yield_local), if the calling thread is one of the pool's.
    pub fn yield_local(&self) -> Option<Yield> {
        yield_on(&self.pool().handle, heist::Yield::Own)
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .field("id", &self.pool().handle.id())
            .finish()
    }
}

/// How many threads the current pool has, or the global one: on each of its threads the same, and
/// as many as a [`broadcast`](crate::broadcast) reaches.
///
/// On heist's own runtimes this is the number of workers; threads that stand in for them do not
/// count.
pub fn current_num_threads() -> usize {
    global::current().map_or_else(heist::current_num_workers, |pool| pool.num_threads())
}

/// The number of the calling thread in its pool, from 0 on; `None` if it is no thread of a pool. No
/// two threads of a pool have the same at one time.
///
/// On heist's own runtimes threads that stand in for others have numbers from
/// [`current_num_threads`] on; so it may be no place in what is that long. In a [`ThreadPool`], and
/// in a global pool that was built, it always is.
#[inline]
pub fn current_thread_index() -> Option<usize> {
    let of_heist = || if global::is_built() { None } else { heist::current_thread_index() };
    member::index().or_else(of_heist)
}

/// Whether the calling thread, if it is one of a pool's, has jobs that nobody has taken.
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    yielding::here()?.has_pending_jobs()
}
