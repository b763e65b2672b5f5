//! Scopes whose jobs run in the order in which they were spawned.

use super::base::ScopeBase;
use crate::forkjoin::broadcast::BroadcastContext;
use crate::forkjoin::heap::{self, Work};
use crate::forkjoin::outside::on_worker;
use crate::runtime::{Handle, current_or_global};
use crate::scheduler::{Header, Job, OfScope, Origin, VTable, Worker, with_here};
use std::collections::VecDeque;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Calls `f` with a scope like [`scope`](crate::scope), in which a worker runs the jobs that it has
/// spawned oldest first.
///
/// Jobs that different workers run have no defined order.
///
/// # Examples
///
/// ```
/// # let mut builder = heist::runtime::Builder::new_multi_thread();
/// # let rt = builder.worker_threads(1).stall_threshold(None).build().unwrap();
/// # let handle = rt.handle();
/// let order = std::sync::Mutex::new(Vec::new());
/// handle.install(|| {
///     heist::scope_fifo(|s| {
///         for n in 0..4 {
///             let order = &order;
///             s.spawn_fifo(move |_| order.lock().unwrap().push(n));
///         }
///     });
/// });
/// // On a runtime with one worker:
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3]);
/// ```
///
/// # Panics
///
/// Panics if `f` or a job panics; see [`scope`](crate::scope#panics).
pub fn scope_fifo<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    with_here(|worker| match worker {
        Some(worker) => scope_here(Handle::of_worker(worker), Some(worker), f),
        None => scope_fifo_on(&current_or_global(), f),
    })
}

/// Calls `f` on the calling thread like [`in_place_scope`](crate::in_place_scope), with the order
/// of [`scope_fifo`].
///
/// # Examples
///
/// ```
/// let mut squares = [1, 2, 3];
/// heist::in_place_scope_fifo(|s| {
///     for n in &mut squares {
///         s.spawn_fifo(move |_| *n *= *n);
///     }
/// });
/// assert_eq!(squares, [1, 4, 9]);
/// ```
///
/// # Panics
///
/// Panics if `f` or a job panics; see [`scope`](crate::scope#panics).
pub fn in_place_scope_fifo<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&ScopeFifo<'scope>) -> R,
{
    with_here(|worker| match worker {
        Some(worker) => scope_here(Handle::of_worker(worker), Some(worker), f),
        None => scope_here(current_or_global(), None, f),
    })
}

pub(in crate::forkjoin) fn scope_fifo_on<'scope, F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    with_here(|worker| match worker {
        Some(worker) if worker.is_of(handle.scheduler()) => {
            scope_here(handle.clone(), Some(worker), f)
        }
        _ => on_worker(handle, |worker| scope_here(handle.clone(), worker, f)),
    })
}

pub(in crate::forkjoin) fn in_place_scope_fifo_on<'scope, F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce(&ScopeFifo<'scope>) -> R,
{
    with_here(|worker| {
        let worker = worker.filter(|worker| worker.is_of(handle.scheduler()));
        scope_here(handle.clone(), worker, f)
    })
}

fn scope_here<'scope, F, R>(handle: Handle, worker: Option<&Worker>, f: F) -> R
where
    F: FnOnce(&ScopeFifo<'scope>) -> R,
{
    let scope = ScopeFifo {
        header: Header::new(&ScopeFifo::VTABLE),
        base: ScopeBase::new(handle, worker),
        list: Mutex::default(),
    };
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| f(&scope)));
    scope.base.wait(worker);
    scope.base.conclude(outcome)
}

/// A scope in which jobs run in the order in which they were spawned; see [`scope_fifo`].
///
/// # Examples
///
/// ```
/// use std::sync::Mutex;
///
/// let names = Mutex::new(Vec::new());
/// heist::scope_fifo(|s| {
///     for name in ["a", "b", "c"] {
///         let names = &names;
///         s.spawn_fifo(move |_| names.lock().unwrap().push(name));
///     }
/// });
/// assert_eq!(names.into_inner().unwrap().len(), 3);
/// ```
#[repr(C)]
pub struct ScopeFifo<'scope> {
    /// Of the one job that is pushed for each that is spawned: it runs the oldest of the list.
    header: Header,
    base: ScopeBase,
    list: Mutex<VecDeque<Spawned<'scope>>>,
}

type Spawned<'scope> = Box<dyn FnOnce(&ScopeFifo<'scope>) + Send + 'scope>;

impl<'scope> ScopeFifo<'scope> {
    const VTABLE: VTable = VTable {
        run: Self::run_oldest,
        refuse: None,
        is_stack_job: false,
        scope: Some(Self::of_scope),
        task: None,
    };

    /// Spawns a job, which runs on any worker before the scope ends and may spawn more jobs.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut text = String::new();
    /// heist::scope_fifo(|s| s.spawn_fifo(|_| text.push_str("done")));
    /// assert_eq!(text, "done");
    /// ```
    pub fn spawn_fifo<F>(&self, f: F)
    where
        F: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        self.list().push_back(Box::new(f));
        // SAFETY: (J1, J2) the scope is not left before as many jobs have ended as were pushed.
        let job = |_: Option<&Worker>| unsafe { Job::new(NonNull::from(self).cast()) };
        // SAFETY: (J2) as above.
        with_here(|worker| unsafe { self.base.spawn(worker, job) });
    }

    /// Has every worker of the scope's runtime call `f` once before the scope ends; see
    /// [`Scope::spawn_broadcast`](super::Scope::spawn_broadcast).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let calls = AtomicUsize::new(0);
    /// heist::scope_fifo(|scope| {
    ///     scope.spawn_broadcast(|_, _| _ = calls.fetch_add(1, Ordering::Relaxed));
    /// });
    /// assert_eq!(calls.into_inner(), heist::current_num_workers());
    /// ```
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let f = Arc::new(f);
        let call = |index, workers| {
            let f = Arc::clone(&f);
            let f =
                move |scope: &ScopeFifo<'scope>| f(scope, BroadcastContext::new(index, workers));
            // SAFETY: (J2) the scope is not left before the job has ended, and `f` outlives it.
            unsafe { heap::new(Part { scope: self, f }) }
        };
        // SAFETY: (J2) as above.
        unsafe { self.base.spawn_direct_jobs(call) };
    }

    /// Cancels the scope: jobs that have not started are dropped; see
    /// [`Scope::cancel`](super::Scope::cancel).
    ///
    /// # Examples
    ///
    /// ```
    /// let ran = heist::scope_fifo(|s| {
    ///     s.cancel();
    ///     s.spawn_fifo(|_| unreachable!("the scope is cancelled"));
    ///     s.is_cancelled()
    /// });
    /// assert!(ran);
    /// ```
    pub fn cancel(&self) {
        self.base.cancel();
    }

    /// Returns whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.base.is_cancelled()
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run_oldest(header: NonNull<Header>, worker: Option<&Worker>, _origin: Origin) {
        // SAFETY: (J2) the scope is not left before this job is done; the header is its first
        // field.
        let scope = unsafe { header.cast::<Self>().as_ref() };
        let oldest = scope.list().pop_front();
        scope.base.call(|| oldest.into_iter().for_each(|f| f(scope)));
        scope.base.done(worker);
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn of_scope(header: NonNull<Header>) -> Option<OfScope> {
        // SAFETY: (J2) as in run_oldest().
        unsafe { header.cast::<Self>().as_ref() }.base.of_scope()
    }

    fn list(&self) -> std::sync::MutexGuard<'_, VecDeque<Spawned<'scope>>> {
        // Nothing panics with the lock held.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One worker's part of a broadcast.
struct Part<'scope, F> {
    scope: *const ScopeFifo<'scope>,
    f: F,
}

// SAFETY: (J2) the scope is Sync, and alive.
unsafe impl<F: Send> Send for Part<'_, F> {}

impl<'scope, F: FnOnce(&ScopeFifo<'scope>) + Send> Work for Part<'scope, F> {
    const IS_MANDATORY: bool = true;

    fn run(self, worker: Option<&Worker>) {
        // SAFETY: (J2) the scope is not left before this job is done.
        let scope = unsafe { &*self.scope };
        scope.base.call(|| (self.f)(scope));
        scope.base.done(worker);
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo").field("is_cancelled", &self.is_cancelled()).finish()
    }
}
