//! Fork-join on a given runtime: the methods of `Handle`.

use super::deque_view;
use super::heap::{self, Detached};
use super::job_handle::{JobHandle, spawn_job_on};
use super::join::{FnContext, join_on};
use super::outside::{on_worker, submit};
use super::scope::{self, Scope, ScopeFifo};
use super::wait::run_unrelated;
use crate::runtime::{Handle, current_or_global};
use crate::scheduler::{Origin, Worker, with_here};

/// Returns the number of workers of the current runtime, or of the global one outside of a runtime.
///
/// At most this many jobs and tasks run at the same time, not counting those that are blocked.
///
/// # Examples
///
/// ```
/// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// assert_eq!(rt.block_on(async { heist::current_num_workers() }), 2);
/// ```
///
/// # Panics
///
/// Panics if the global runtime is needed and cannot be started.
pub fn current_num_workers() -> usize {
    let here = with_here(|worker| worker.map(|worker| worker.scheduler().workers()));
    here.unwrap_or_else(|| current_or_global().num_workers())
}

/// Returns the index of the calling worker thread, or `None` if the thread is not a worker.
///
/// No two threads of a runtime have the same index at the same time, and the index of a thread does
/// not change during a job or a poll. Spare workers, which stand in for blocked ones, have indices
/// from [`current_num_workers`] on. A table with one entry for each index must therefore be able to
/// grow, or handle higher indices in another way.
///
/// [`runtime::worker_index`](crate::runtime::worker_index) is always below the number of workers
/// instead, but the thread that it refers to may be replaced by a spare.
///
/// # Examples
///
/// ```
/// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// let index = rt.handle().install(|| heist::current_thread_index());
/// assert!(index.is_some());
/// assert_eq!(heist::current_thread_index(), None); // this thread is not a worker
/// ```
pub fn current_thread_index() -> Option<usize> {
    with_here(|worker| worker.map(Worker::index))
}

/// Returns the index of the calling worker thread; the old name of [`current_thread_index`].
#[deprecated(note = "renamed to current_thread_index, as runtime::worker_index is something else")]
pub fn current_worker_index() -> Option<usize> {
    current_thread_index()
}

/// Selects which jobs [`Handle::yield_job`] may run.
///
/// # Examples
///
/// ```
/// use heist::Yield;
///
/// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// let handle = rt.handle();
/// handle.install(|| {
///     let job = heist::spawn_job(|| 5);
///     assert_eq!(handle.yield_job(Yield::Own), Some(true));
///     assert_eq!(job.wait().unwrap(), 5);
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yield {
    /// A job of the calling worker: the newest one in its own queue, or its part of a broadcast.
    ///
    /// If the newest job is the second closure of a [`join`](fn@crate::join) that is still running
    /// on this thread, the oldest one is taken instead.
    Own,
    /// A job of the calling worker or, if it has none, any other job of the runtime.
    Any,
}

/// Fork-join on this runtime, whichever runtime is current.
///
/// On a runtime without worker threads, closures are called immediately on the calling thread.
impl Handle {
    /// Calls `f` on a worker of this runtime and returns its result.
    ///
    /// Inside `f`, [`join`](fn@crate::join), [`scope`](crate::scope) and the like use this runtime.
    /// If the caller is one of its workers already, `f` is called immediately.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// assert_eq!(rt.handle().install(|| heist::current_num_workers()), 2);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `f` panics, with the same payload.
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        if self.is_here() { f() } else { on_worker(self, |_| f()) }
    }

    /// Calls both closures on this runtime, potentially in parallel; see [`join`](fn@crate::join).
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let numbers = [1, 2, 3, 4];
    /// let (left, right) = numbers.split_at(2);
    /// let sums = rt.handle().join(|| left.iter().sum::<i32>(), || right.iter().sum::<i32>());
    /// assert_eq!(sums, (3, 7));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if one of the closures panics; see [`join`](fn@crate::join#panics).
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        join_on(self, |_| a(), |_| b())
    }

    /// Calls both closures on this runtime and tells each whether it has migrated to another
    /// thread; see [`join_context`](crate::join_context).
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let (a, b) = rt.handle().join_context(|a| a.migrated(), |b| b.migrated());
    /// assert_eq!((a, b), (true, true)); // both were called on a worker, not on this thread
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if one of the closures panics; see [`join`](fn@crate::join#panics).
    pub fn join_context<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA + Send,
        B: FnOnce(FnContext) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        join_on(self, a, b)
    }

    /// Calls `f` with a scope whose jobs run on this runtime; see [`scope`](crate::scope).
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let mut squares = [1, 2, 3];
    /// rt.handle().scope(|s| {
    ///     for n in &mut squares {
    ///         s.spawn(move |_| *n *= *n);
    ///     }
    /// });
    /// assert_eq!(squares, [1, 4, 9]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `f` or a job panics; see [`scope`](crate::scope#panics).
    pub fn scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        scope::scope_on(self, f)
    }

    /// Calls `f` with a first-in, first-out scope whose jobs run on this runtime; see
    /// [`scope_fifo`](crate::scope_fifo).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let rt = heist::runtime::Builder::new_multi_thread().build().unwrap();
    /// let sum = AtomicU32::new(0);
    /// rt.handle().scope_fifo(|scope| {
    ///     for number in 1..=3 {
    ///         let sum = &sum;
    ///         scope.spawn_fifo(move |_| _ = sum.fetch_add(number, Ordering::Relaxed));
    ///     }
    /// });
    /// assert_eq!(sum.into_inner(), 6);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `f` or a job panics; see [`scope`](crate::scope#panics).
    pub fn scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        scope::scope_fifo_on(self, f)
    }

    /// Calls `f` on the calling thread with a scope whose jobs run on this runtime; see
    /// [`in_place_scope`](crate::in_place_scope).
    ///
    /// # Panics
    ///
    /// Panics if `f` or a job panics; see [`scope`](crate::scope#panics).
    pub fn in_place_scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        scope::in_place_scope_on(self, f)
    }

    /// Calls `f` on the calling thread with a first-in, first-out scope whose jobs run on this
    /// runtime; see [`in_place_scope_fifo`](crate::in_place_scope_fifo).
    ///
    /// # Panics
    ///
    /// Panics if `f` or a job panics; see [`scope`](crate::scope#panics).
    pub fn in_place_scope_fifo<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        scope::in_place_scope_fifo_on(self, f)
    }

    /// Spawns a job on this runtime and returns a handle to it; see
    /// [`spawn_job`](crate::spawn_job).
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let sum = rt.handle().spawn_job(|| (1..=100).sum::<u32>());
    /// assert_eq!(sum.wait().unwrap(), 5050);
    /// ```
    #[track_caller]
    pub fn spawn_job<F, T>(&self, f: F) -> JobHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_job_on(self, f)
    }

    /// Spawns a job that cannot be waited for or cancelled.
    ///
    /// The job always runs: if the runtime is shutting down it still runs, and if the runtime has
    /// been shut down the global runtime runs it. If it panics, the panic hook is called and the
    /// panic is otherwise ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// rt.handle().spawn_detached(move || sender.send("done").unwrap());
    /// assert_eq!(receiver.recv(), Ok("done"));
    /// ```
    pub fn spawn_detached<F>(&self, f: F)
    where
        F: FnOnce() + Send + 'static,
    {
        // SAFETY: (J2) it borrows nothing.
        let job = unsafe { heap::new(Detached(f)) };
        with_here(|worker| match worker {
            Some(worker) if worker.is_of(self.scheduler()) && !worker.is_left_alone() => {
                deque_view::push(worker, job);
            }
            _ => submit(self, job),
        });
    }

    /// Returns the number of workers of this runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// assert_eq!(rt.handle().num_workers(), 2);
    /// ```
    pub fn num_workers(&self) -> usize {
        self.scheduler().workers()
    }

    /// Returns the index of the calling thread if it is a worker of this runtime; see
    /// [`current_thread_index`].
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let handle = rt.handle();
    /// assert!(handle.install(|| handle.current_thread_index()).is_some());
    /// assert_eq!(handle.current_thread_index(), None); // not on a worker
    /// ```
    pub fn current_thread_index(&self) -> Option<usize> {
        self.with_worker(Worker::index)
    }

    /// Returns the index of the calling worker thread; the old name of
    /// [`current_thread_index`](Self::current_thread_index).
    #[deprecated(note = "renamed to current_thread_index, as runtime::worker_index is something \
                         else")]
    pub fn current_worker_index(&self) -> Option<usize> {
        self.current_thread_index()
    }

    /// Returns whether the calling worker has jobs in its queue that no other worker has taken.
    ///
    /// Returns `None` if the calling thread is not a worker of this runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let handle = rt.handle();
    /// assert_eq!(handle.install(|| handle.has_pending_jobs()), Some(false));
    /// assert_eq!(handle.has_pending_jobs(), None);
    /// ```
    pub fn has_pending_jobs(&self) -> Option<bool> {
        self.with_worker(deque_view::has_jobs)
    }

    /// Runs one waiting job on the calling worker, and returns whether there was one.
    ///
    /// Returns `None` if the calling thread is not a worker of this runtime.
    ///
    /// This is for code that waits for something that a job will do, and for which neither
    /// [`join`](fn@crate::join) nor [`scope`](crate::scope) fits. The job may be any job, so do not
    /// hold a lock that it might need.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::Yield;
    ///
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let handle = rt.handle();
    /// handle.install(|| {
    ///     let job = heist::spawn_job(|| 6 * 7).detach();
    ///     while !job.is_finished() {
    ///         handle.yield_job(Yield::Any);
    ///     }
    /// });
    /// assert_eq!(handle.yield_job(Yield::Any), None); // not on a worker
    /// ```
    pub fn yield_job(&self, which: Yield) -> Option<bool> {
        self.with_worker(|worker| {
            let call = || worker.next_direct_job().map(|call| (call, Origin::Here));
            let job = deque_view::take_own(worker).or_else(call).or_else(|| match which {
                Yield::Own => None,
                Yield::Any => worker.scheduler().take_any_job(worker.index()),
            });
            job.map(|(job, origin)| run_unrelated(worker, job, origin)).is_some()
        })
    }

    fn is_here(&self) -> bool {
        self.with_worker(|_| ()).is_some()
    }

    fn with_worker<R>(&self, f: impl FnOnce(&Worker) -> R) -> Option<R> {
        with_here(|worker| worker.filter(|worker| worker.is_of(self.scheduler())).map(f))
    }
}
