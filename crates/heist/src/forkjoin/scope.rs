//! Scopes: any number of jobs that may run in parallel, and that end before the scope does.

mod base;
mod count;
mod fifo;

pub use fifo::{ScopeFifo, in_place_scope_fifo, scope_fifo};
pub(super) use fifo::{in_place_scope_fifo_on, scope_fifo_on};

use super::broadcast::BroadcastContext;
use super::heap::{self, Work};
use super::outside::on_worker;
use crate::runtime::{Handle, current_or_global};
use crate::scheduler::{OfScope, Worker, with_here};
use base::ScopeBase;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// Calls `f` with a scope in which it can spawn jobs, and returns when all of them have ended.
///
/// Jobs may borrow anything that outlives the call. `f` runs on a worker: on the calling thread if
/// that is one, otherwise on a worker of the current runtime, or of the global one outside of a
/// runtime.
///
/// A worker runs the jobs that it has spawned newest first; see [`scope_fifo`] for the other order.
/// [`join`](fn@crate::join) is cheaper where the number of jobs is known.
///
/// # Examples
///
/// ```
/// let words = ["fork", "and", "join"];
/// let mut lengths = [0; 3];
/// heist::scope(|s| {
///     for (word, length) in words.iter().zip(&mut lengths) {
///         s.spawn(move |_| *length = word.len());
///     }
/// });
/// assert_eq!(lengths, [4, 3, 4]);
/// ```
///
/// Jobs must not borrow variables of the scope's own closure, which returns before they end:
///
/// ```compile_fail,E0373
/// heist::scope(|s| {
///     let number = 1;
///     s.spawn(|_| println!("{number}"));
/// });
/// ```
///
/// The scope cannot be kept:
///
/// ```compile_fail,E0521
/// let mut kept = None;
/// heist::scope(|s| kept = Some(s));
/// ```
///
/// # Panics
///
/// If `f` or a job panics, `scope` waits for all jobs and then resumes the panic: that of `f` if
/// there is one, otherwise that of the job that panicked first. Also panics if the global runtime
/// is needed and cannot be started.
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    with_here(|worker| match worker {
        Some(worker) => scope_here(Handle::of_worker(worker), Some(worker), f),
        None => scope_on(&current_or_global(), f),
    })
}

/// Calls `f` on the calling thread with a scope whose jobs run on workers.
///
/// Unlike in [`scope`], `f` does not move to a worker, so it need not be `Send`. Jobs run on the
/// current runtime, or on the global one outside of a runtime.
///
/// # Examples
///
/// ```
/// use std::rc::Rc;
///
/// let count = Rc::new(3); // not Send
/// let mut squares = vec![0; *count];
/// heist::in_place_scope(|s| {
///     assert_eq!(*count, 3); // on this thread
///     for (n, square) in squares.iter_mut().enumerate() {
///         s.spawn(move |_| *square = n * n);
///     }
/// });
/// assert_eq!(squares, [0, 1, 4]);
/// ```
///
/// # Panics
///
/// Panics if `f` or a job panics; see [`scope`](scope#panics).
pub fn in_place_scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    with_here(|worker| match worker {
        Some(worker) => scope_here(Handle::of_worker(worker), Some(worker), f),
        None => scope_here(current_or_global(), None, f),
    })
}

pub(super) fn scope_on<'scope, F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    with_here(|worker| match worker {
        Some(worker) if worker.is_of(handle.scheduler()) => {
            scope_here(handle.clone(), Some(worker), f)
        }
        _ => on_worker(handle, |worker| scope_here(handle.clone(), worker, f)),
    })
}

pub(super) fn in_place_scope_on<'scope, F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    with_here(|worker| {
        let worker = worker.filter(|worker| worker.is_of(handle.scheduler()));
        scope_here(handle.clone(), worker, f)
    })
}

fn scope_here<'scope, F, R>(handle: Handle, worker: Option<&Worker>, f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let scope = Scope { base: ScopeBase::new(handle, worker), _lifetime: PhantomData };
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| f(&scope)));
    scope.base.wait(worker);
    scope.base.conclude(outcome)
}

/// A scope in which jobs can be spawned; see [`scope`].
///
/// # Examples
///
/// Jobs get the scope as an argument, and can spawn more:
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// fn count_down<'scope>(s: &heist::Scope<'scope>, n: usize, calls: &'scope AtomicUsize) {
///     calls.fetch_add(1, Ordering::Relaxed);
///     if n > 0 {
///         s.spawn(move |s| count_down(s, n - 1, calls));
///     }
/// }
///
/// let calls = AtomicUsize::new(0);
/// heist::scope(|s| count_down(s, 10, &calls));
/// assert_eq!(calls.into_inner(), 11);
/// ```
pub struct Scope<'scope> {
    base: ScopeBase,
    /// Neither longer nor shorter: jobs borrow for exactly this long.
    _lifetime: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    /// Spawns a job, which runs on any worker before the scope ends and may spawn more jobs.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut left, mut right) = (0, 0);
    /// heist::scope(|s| {
    ///     s.spawn(|_| left = 1);
    ///     s.spawn(|_| right = 2);
    /// });
    /// assert_eq!((left, right), (1, 2));
    /// ```
    #[inline]
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let job = |worker: Option<&Worker>| {
            let work = Spawned { scope: self, f };
            match worker {
                // SAFETY: (J2) the scope is not left before the job has ended, and `f` outlives it.
                Some(worker) => unsafe { heap::new_on(worker, work) },
                // SAFETY: (J2) as above.
                None => unsafe { heap::new(work) },
            }
        };
        // SAFETY: (J2) as above.
        with_here(|worker| unsafe { self.base.spawn(worker, job) });
    }

    /// Has every worker of the scope's runtime call `f` once before the scope ends; see
    /// [`broadcast`](crate::broadcast).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let calls = AtomicUsize::new(0);
    /// heist::scope(|s| s.spawn_broadcast(|_, _| _ = calls.fetch_add(1, Ordering::Relaxed)));
    /// assert_eq!(calls.into_inner(), heist::current_num_workers());
    /// ```
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let f = Arc::new(f);
        let call = |index, workers| {
            let f = Arc::clone(&f);
            let f = move |scope: &Scope<'scope>| f(scope, BroadcastContext::new(index, workers));
            // SAFETY: (J2) as in spawn().
            unsafe { heap::new(Spawned { scope: self, f }) }
        };
        // SAFETY: (J2) as in spawn().
        unsafe { self.base.spawn_direct_jobs(call) };
    }

    /// Cancels the scope: jobs that have not started are dropped, including those spawned from now
    /// on.
    ///
    /// Jobs that are running continue; they can check [`is_cancelled`](Self::is_cancelled).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let found = AtomicUsize::new(0);
    /// heist::scope(|s| {
    ///     for n in 0..1000 {
    ///         let found = &found;
    ///         s.spawn(move |s| {
    ///             if n % 97 == 96 {
    ///                 found.store(n, Ordering::Relaxed);
    ///                 s.cancel();
    ///             }
    ///         });
    ///     }
    /// });
    /// assert_eq!(found.into_inner() % 97, 96);
    /// ```
    pub fn cancel(&self) {
        self.base.cancel();
    }

    /// Returns whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.base.is_cancelled()
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("is_cancelled", &self.is_cancelled()).finish()
    }
}

/// A job of a scope.
struct Spawned<'scope, F> {
    scope: *const Scope<'scope>,
    f: F,
}

// SAFETY: (J2) the scope is Sync, and alive.
unsafe impl<F: Send> Send for Spawned<'_, F> {}

impl<'scope, F: FnOnce(&Scope<'scope>) + Send> Work for Spawned<'scope, F> {
    const IS_MANDATORY: bool = true;

    fn scope(&self) -> Option<OfScope> {
        // SAFETY: (J2) the scope is not left before this job is done.
        unsafe { &*self.scope }.base.of_scope()
    }

    #[inline]
    fn run(self, worker: Option<&Worker>) {
        // SAFETY: (J2) the scope is not left before this job is done.
        let scope = unsafe { &*self.scope };
        scope.base.call(|| (self.f)(scope));
        scope.base.done(worker);
    }
}
