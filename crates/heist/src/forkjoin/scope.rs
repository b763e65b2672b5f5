//! Any number of closures that may run at the same time, and a scope that they do not outlive.

mod fifo;

pub use fifo::{ScopeFifo, in_place_scope_fifo, scope_fifo};
pub(super) use fifo::{in_place_scope_fifo_on, scope_fifo_on};

use super::broadcast::BroadcastContext;
use super::heap::{self, Work};
use super::outside::on_worker;
use super::tally::Tally;
use crate::runtime::{Handle, current_or_global};
use crate::scheduler::{Local, OfScope, with_here};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// Calls `f` with a scope in which it can spawn jobs, and returns when all of them have ended: so jobs may
/// borrow whatever outlives the call. `f` is called on a worker: on this thread if it is one, else on one of
/// the current runtime's or of the global one's.
///
/// The newest job is run first; see [`scope_fifo`]. Where it can be said what there is to do, [`join`](fn@crate::join)
/// costs less.
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
/// Jobs do not outlive what they borrow, and what lives in the scope's closure does not live long enough:
///
/// ```compile_fail,E0373
/// heist::scope(|s| {
///     let number = 1;
///     s.spawn(|_| println!("{number}"));
/// });
/// ```
///
/// ```compile_fail,E0521
/// let mut kept = None;
/// heist::scope(|s| kept = Some(s));
/// ```
///
/// # Panics
/// If `f` does, or a job, after all jobs have ended: with `f`'s panic if there is one, or with the first one's.
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    with_here(|local| match local {
        Some(local) => scope_here(Handle::of_worker(local), Some(local), f),
        None => scope_on(&current_or_global(), f),
    })
}

/// As [`scope`], but `f` is called by this thread, whichever it is, so it need not be `Send`. Jobs run on the workers of the
/// current runtime, or of the global one.
pub fn in_place_scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    with_here(|local| match local {
        Some(local) => scope_here(Handle::of_worker(local), Some(local), f),
        None => scope_here(current_or_global(), None, f),
    })
}

pub(super) fn scope_on<'scope, F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    with_here(|local| match local {
        Some(local) if local.is_of(handle.scheduler()) => {
            scope_here(handle.clone(), Some(local), f)
        }
        _ => on_worker(handle, |local| scope_here(handle.clone(), local, f)),
    })
}

pub(super) fn in_place_scope_on<'scope, F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    with_here(|local| {
        let local = local.filter(|local| local.is_of(handle.scheduler()));
        scope_here(handle.clone(), local, f)
    })
}

fn scope_here<'scope, F, R>(handle: Handle, local: Option<&Local>, f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let scope = Scope { tally: Tally::new(handle, local), _lifetime: PhantomData };
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| f(&scope)));
    scope.tally.wait(local);
    scope.tally.conclude(outcome)
}

/// Where jobs can be spawned; see [`scope`].
pub struct Scope<'scope> {
    tally: Tally,
    /// Neither longer nor shorter: jobs borrow for exactly this long.
    _lifetime: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl<'scope> Scope<'scope> {
    /// Spawns a job, which may spawn more. It runs some time before the scope ends, on any worker, perhaps on this one when the
    /// scope's closure has returned.
    #[inline]
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let job = |local: Option<&Local>| {
            let work = Spawned { scope: self, f };
            match local {
                // SAFETY: (J2) the scope is not left before the job has ended, and `f` outlives it.
                Some(local) => unsafe { heap::new_on(local, work) },
                // SAFETY: (J2) as above.
                None => unsafe { heap::new(work) },
            }
        };
        // SAFETY: (J2) as above.
        with_here(|local| unsafe { self.tally.spawn(local, job) });
    }

    /// Has every worker of the scope's runtime call `f` once, some time before the scope ends; see
    /// [`broadcast`](crate::broadcast).
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
        unsafe { self.tally.spawn_calls(call) };
    }

    /// No more jobs of this scope are begun: those that wait, or are spawned from now on, are dropped. Those that
    /// run are not disturbed; they can ask [`is_cancelled`](Self::is_cancelled).
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
        self.tally.cancel();
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.tally.is_cancelled()
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
        unsafe { &*self.scope }.tally.of_scope()
    }

    #[inline]
    fn run(self, worker: Option<&Local>) {
        // SAFETY: (J2) the scope is not left before this job is done.
        let scope = unsafe { &*self.scope };
        scope.tally.call(|| (self.f)(scope));
        scope.tally.done(worker);
    }
}
