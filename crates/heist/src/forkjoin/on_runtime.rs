//! Fork-join on a runtime of one's choice.

use super::heap::{self, Detached};
use super::job_handle::{JobHandle, spawn_job_on};
use super::join::{FnContext, join_on};
use super::outside::{on_worker, submit};
use super::scope::{self, Scope, ScopeFifo};
use super::wait::make_detour;
use crate::runtime::{Handle, current_or_global};
use crate::scheduler::{Local, Origin, with_here};

/// How many workers the current runtime has, or else the global one: how much can run at the same time.
///
/// ```
/// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// assert_eq!(rt.block_on(async { heist::current_num_workers() }), 2);
/// ```
pub fn current_num_workers() -> usize {
    let here = with_here(|local| local.map(Local::num_workers));
    here.unwrap_or_else(|| current_or_global().num_workers())
}

/// The number of the worker that the calling thread is, from 0 on; `None` on other threads.
///
/// No two threads have the same number at one time, and a thread has the same for the length of a job or of a poll. Those that
/// stand in for workers that are blocked or wait have numbers, too, from [`current_num_workers`] on: as many as need be. So what
/// has one place for each worker must be able to grow, or have something else for numbers that are too high. (Unlike
/// this one, [`runtime::worker_index`](crate::runtime::worker_index) is the number of a seat.)
pub fn current_worker_index() -> Option<usize> {
    with_here(|local| local.map(Local::number_of_all))
}

/// Which job [`Handle::yield_job`] may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yield {
    /// One of the calling worker's own: the newest; or the oldest, if the newest is the second closure of a
    /// [`join`](fn@crate::join) that the caller is in; or its part of a broadcast.
    Own,
    /// One of its own, or if it has none, any.
    Any,
}

/// Fork-join on this runtime. On a runtime without worker threads closures are called by the runtime's thread if the caller is that, and
/// else there and then.
impl Handle {
    /// Calls `f` on a worker of this runtime, and returns what it returns: so `join` and the like in it are this runtime's.
    /// On one of its workers it is called there and then.
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// assert!(rt.handle().install(|| heist::current_worker_index()).is_some());
    /// ```
    ///
    /// # Panics
    /// If `f` does.
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        if self.is_here() { f() } else { on_worker(self, |_| f()) }
    }

    /// As [`join`](fn@crate::join), on this runtime.
    ///
    /// # Panics
    /// As that.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        join_on(self, |_| a(), |_| b())
    }

    /// As [`join_context`](crate::join_context), on this runtime.
    ///
    /// # Panics
    /// As that.
    pub fn join_context<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA + Send,
        B: FnOnce(FnContext) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        join_on(self, a, b)
    }

    /// As [`scope`](crate::scope), on this runtime.
    ///
    /// # Panics
    /// As that.
    pub fn scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        scope::scope_on(self, f)
    }

    /// As [`scope_fifo`](crate::scope_fifo), on this runtime.
    ///
    /// # Panics
    /// As that.
    pub fn scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        scope::scope_fifo_on(self, f)
    }

    /// As [`in_place_scope`](crate::in_place_scope), with jobs on this runtime.
    ///
    /// # Panics
    /// As that.
    pub fn in_place_scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        scope::in_place_scope_on(self, f)
    }

    /// As [`in_place_scope_fifo`](crate::in_place_scope_fifo), with jobs on this runtime.
    ///
    /// # Panics
    /// As that.
    pub fn in_place_scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        scope::in_place_scope_fifo_on(self, f)
    }

    /// As [`spawn_job`](crate::spawn_job), on this runtime.
    #[track_caller]
    pub fn spawn_job<F, T>(&self, f: F) -> JobHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_job_on(self, f)
    }

    /// Has a worker call `f`. Nobody waits for it or can cancel it: it is called though the runtime go down, and by the
    /// global runtime if it is down. Its panic goes to the panic hook, and nowhere else.
    pub fn spawn_detached<F>(&self, f: F)
    where
        F: FnOnce() + Send + 'static,
    {
        // SAFETY: (J2) it borrows nothing.
        let job = unsafe { heap::new(Detached(f)) };
        with_here(|local| match local {
            Some(local) if local.is_of(self.scheduler()) => local.push_job(job),
            _ => submit(self, job),
        });
    }

    /// How many workers the runtime has.
    pub fn num_workers(&self) -> usize {
        self.scheduler().workers()
    }

    /// The number of the worker that the calling thread is, if it is one of this runtime's; see
    /// [`current_worker_index`].
    pub fn current_worker_index(&self) -> Option<usize> {
        self.with_worker(Local::number_of_all)
    }

    /// Whether the calling thread, if it is one of this runtime's workers, has jobs that nobody has taken.
    pub fn has_pending_jobs(&self) -> Option<bool> {
        self.with_worker(Local::has_own_jobs)
    }

    /// Runs one job that waits, in the middle of what the calling worker does; whether there was one. `None` if the
    /// calling thread is none of this runtime's workers.
    ///
    /// For who waits for something that a job will do, and cannot use [`join`](fn@crate::join) or a scope. Mind
    /// that the job may be anything, and may want a lock that the caller holds.
    pub fn yield_job(&self, which: Yield) -> Option<bool> {
        self.with_worker(|local| {
            let call = || local.next_call().map(|call| (call, Origin::Here));
            let job = local.take_own_job().or_else(call).or_else(|| match which {
                Yield::Own => None,
                Yield::Any => local.find_job(),
            });
            job.map(|(job, origin)| make_detour(local, job, origin)).is_some()
        })
    }

    fn is_here(&self) -> bool {
        self.with_worker(|_| ()).is_some()
    }

    fn with_worker<R>(&self, f: impl FnOnce(&Local) -> R) -> Option<R> {
        with_here(|local| local.filter(|local| local.is_of(self.scheduler())).map(f))
    }
}
