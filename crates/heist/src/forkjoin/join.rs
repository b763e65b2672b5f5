//! `join`: two closures that may run in parallel.

use super::deque_view::{self, DequeView};
use super::frame::{Head, StackJob};
use super::outside::on_worker;
use super::wait::{leapfrog, try_requeue, wait};
use crate::env::{quietly, resume_without};
use crate::runtime::{Handle, RuntimeFlavor, current_or_global, global_handle};
use crate::scheduler::{Job, Origin, here, with_here};
use heist_deque::deque::Pushed;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

#[cfg(all(test, loom))]
mod loom_tests;

/// Calls two closures, potentially in parallel, and returns both results.
///
/// The calling thread runs the first closure. Meanwhile the second one is offered to all workers;
/// if none has taken it by then, the calling thread runs it too. Offering costs a few nanoseconds
/// more than two plain calls, so divide work as finely as is convenient and let the workers balance
/// it.
///
/// The closures may borrow from the caller, because `join` returns only after both have ended. A
/// closure may block, even until the other one has made progress, but then it keeps a thread.
///
/// If the calling thread is not a worker, both closures run on a worker of the current runtime, and
/// the thread waits. Outside of a runtime, or if the current one has been shut down, they run on
/// the global runtime. On a runtime without worker threads, or with
/// [`thread_per_core`](crate::runtime::Builder::thread_per_core), one runs after the other.
///
/// # Examples
///
/// ```
/// fn fib(n: u64) -> u64 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = heist::join(|| fib(n - 1), || fib(n - 2));
///     a + b
/// }
/// assert_eq!(fib(20), 6765);
/// ```
///
/// The borrow checker rejects closures that share data mutably:
///
/// ```compile_fail,E0499
/// let mut numbers = vec![1, 2, 3];
/// heist::join(|| numbers.push(4), || numbers.push(5));
/// ```
///
/// What the closures share must be `Sync`:
///
/// ```compile_fail,E0277
/// let number = std::rc::Rc::new(1);
/// heist::join(|| *number, || 2);
/// ```
///
/// Results must not outlive what they borrow:
///
/// ```compile_fail,E0597
/// let first = {
///     let text = String::from("fork and join");
///     heist::join(|| &text[..4], || ()).0
/// };
/// println!("{first}");
/// ```
///
/// # Panics
///
/// If a closure panics, `join` waits for the other one and then resumes the panic. If both panic,
/// the first closure's panic is resumed. Also panics if the global runtime is needed and cannot be
/// started.
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

/// Calls two closures like [`join`], and tells each whether it has migrated to another thread.
///
/// A closure that has migrated was stolen by an idle worker, which is a reason to divide the rest
/// of the work more finely.
///
/// # Examples
///
/// ```
/// let (a, b) = heist::join_context(|a| a.migrated(), |b| b.migrated());
/// // This thread is not a worker, so both closures were called on one.
/// assert_eq!((a, b), (true, true));
/// ```
///
/// # Panics
///
/// Panics if one of the closures panics; see [`join`](fn@join#panics).
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    // SAFETY: (W10) of this thread.
    unsafe { join_here(DequeView::here(), a, b, false) }
}

/// [`join_context`] on a worker of this runtime.
pub(super) fn join_on<A, B, RA, RB>(handle: &Handle, a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    with_here(|worker| match worker {
        // SAFETY: (W10) of this thread.
        Some(worker) if worker.is_of(handle.scheduler()) => unsafe {
            join_here(DequeView::of(worker), a, b, false)
        },
        _ => join_outside(handle, a, b),
    })
}

#[cold]
#[inline(never)]
fn join_outside<A, B, RA, RB>(handle: &Handle, a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    on_worker(handle, |worker| match worker {
        // SAFETY: (W10) of this thread.
        Some(worker) => unsafe { join_here(DequeView::of(worker), a, b, true) },
        None if handle.runtime_flavor() == RuntimeFlavor::CurrentThread => {
            one_after_the_other(a, b)
        }
        // The runtime shuts down, but the closures may wait for each other (J5).
        None => join_on(&global_handle(), a, b),
    })
}

/// `has_moved` says whether the caller of the join is on another thread.
///
/// # Safety
/// `deque` is the deque of this thread's worker, if there is one.
#[inline(always)]
unsafe fn join_here<A, B, RA, RB>(deque: DequeView, a: A, b: B, has_moved: bool) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    // SAFETY: (W10) passed on to the caller.
    let mark = unsafe { deque.mark() };
    let b = StackJob::new(mark, b);
    // SAFETY: (J2) nothing unwinds until join_pushed() has taken the job back or waited for it, or
    // the push has returned it, so this frame is not left before.
    let job = unsafe { b.offer() };
    // From here on other workers can take it (J5).
    // SAFETY: (W10) passed on to the caller; no push or pop came after mark().
    match unsafe { deque.push(mark, job) } {
        Pushed::Done => join_pushed(deque, &b, a, has_moved),
        pushed => finish_join(a, &b, pushed, has_moved),
    }
}

/// The rest of a join whose push needs more work, perhaps because this thread has no worker. It is
/// a function of its own so that [`join_here`] keeps nothing across a call that is made for this.
/// Its arguments are in the order in which the caller has them in registers.
#[cold]
#[inline(never)]
fn finish_join<A, B, RA, RB>(
    a: A,
    b: &StackJob<B, RB>,
    pushed: Pushed<Job>,
    has_moved: bool,
) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let is_pushed = with_here(|worker| {
        debug_assert!(
            worker.is_some() || matches!(pushed, Pushed::Full(_)),
            "pushed without a worker"
        );
        worker.map(|worker| worker.finish_push(pushed)).is_some()
    });
    if is_pushed {
        return join_pushed(DequeView::here(), b, a, has_moved);
    }
    // SAFETY: (J1) the push has returned the job, so no other thread has it.
    let b = unsafe { b.take() };
    join_outside(&current_or_global(), a, b)
}

/// The rest of a join. What is needed after the first closure lies in the frame, except for the
/// pointer to the deque: each function that is called saves every register that is kept across the
/// call, including functions that do not join. (The result of the first closure then needs that one
/// register, when the pointer does not.)
#[inline(always)]
fn join_pushed<A, B, RA, RB>(
    deque: DequeView,
    b: &StackJob<B, RB>,
    a: A,
    has_moved: bool,
) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    // Not a drop guard, which would call `b` on a thread that panics.
    let a = match panic::catch_unwind(AssertUnwindSafe(|| a(FnContext::new(has_moved)))) {
        Ok(a) => a,
        Err(panic) => end_and_resume(b, has_moved, panic),
    };
    // SAFETY: (W10) the closure has returned, so this thread has the worker that pushed the job.
    let is_back = unsafe { deque.take_back(b.head.latch.mark()) };
    if is_back || take_back_or_wait(&b.head) {
        // SAFETY: (J1) taken back, so no other thread has it.
        let b = unsafe { b.take() };
        return beside(a, || b(FnContext::new(has_moved)));
    }
    // SAFETY: (J2) not taken back, so it was waited for.
    match unsafe { b.outcome() } {
        Ok(b) => (a, b),
        Err(panic) => resume_without(a, panic),
    }
}

/// Calls the second closure, and returns its result with that of the first. If it panics, drops the
/// first result and resumes the panic (J4). A result that needs no drop costs nothing.
#[inline(always)]
fn beside<RA, RB>(a: RA, b: impl FnOnce() -> RB) -> (RA, RB) {
    if !mem::needs_drop::<RA>() {
        return (a, b());
    }
    match panic::catch_unwind(AssertUnwindSafe(b)) {
        Ok(b) => (a, b),
        Err(panic) => resume_without(a, panic),
    }
}

/// Calls the second closure or waits for it, after the first one has panicked. Drops the outcome of
/// the second and resumes the panic of the first (J4).
#[cold]
#[inline(never)]
fn end_and_resume<F, R>(job: &StackJob<F, R>, has_moved: bool, panic: Box<dyn Any + Send>) -> !
where
    F: FnOnce(FnContext) -> R + Send,
    R: Send,
{
    if take_back_or_wait(&job.head) {
        // SAFETY: (J1) taken back, so no other thread has it.
        let closure = unsafe { job.take() };
        quietly(|| drop(closure(FnContext::new(has_moved))));
        panic::resume_unwind(panic)
    }
    // SAFETY: (J2) not taken back, so it was waited for.
    let outcome = unsafe { job.outcome() };
    resume_without(outcome, panic)
}

/// Takes the job back, or waits until its thief has ended it. Returns whether it was taken back.
/// Requeues the jobs above it: all joins and scopes of the first closure are over, so this worker
/// does not wait for what it left behind (J3).
#[cold]
#[inline(never)]
fn take_back_or_wait(job: &Head) -> bool {
    // SAFETY: (W10) called by a join, on the worker that has pushed the job.
    let worker = unsafe { here() };
    while let Some(popped) = deque_view::pop(worker) {
        if job.is_of(&popped) {
            return true;
        }
        if let Err((left, origin)) = try_requeue(worker, popped, Origin::Here) {
            worker.run_job(left, origin);
        }
        if job.latch.is_set() {
            // This worker has run it itself, in the middle of the first closure. The jobs below
            // belong to outer joins.
            break;
        }
    }
    wait(worker, &job.latch, |is_last_look| leapfrog(worker, job, is_last_look));
    false
}

/// For runtimes without worker threads.
fn one_after_the_other<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA,
    B: FnOnce(FnContext) -> RB,
{
    let a = panic::catch_unwind(AssertUnwindSafe(|| a(FnContext::new(false))));
    let b = panic::catch_unwind(AssertUnwindSafe(|| b(FnContext::new(false))));
    // The first panic wins (J4).
    match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Ok(a), Err(panic)) => resume_without(a, panic),
        (Err(panic), b) => resume_without(b, panic),
    }
}

/// Tells a closure of [`join_context`] where it runs.
///
/// # Examples
///
/// ```
/// let (first_moved, _) = heist::join_context(|a| a.migrated(), |b| b.migrated());
/// let _ = first_moved; // Whether another thread ran the closure.
/// ```
#[derive(Clone, Copy)]
pub struct FnContext {
    has_migrated: bool,
    /// Not Send: it tells of this thread.
    _thread: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline(always)]
    pub(super) fn new(has_migrated: bool) -> Self {
        FnContext { has_migrated, _thread: PhantomData }
    }

    /// Returns whether the closure runs on another thread than the one that called
    /// [`join_context`].
    ///
    /// # Examples
    ///
    /// ```
    /// let (_, migrated) = heist::join_context(|_| (), |context| context.migrated());
    /// assert!(migrated); // from this thread to a worker
    /// ```
    #[inline]
    pub fn migrated(&self) -> bool {
        self.has_migrated
    }
}

impl fmt::Debug for FnContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnContext").field("migrated", &self.has_migrated).finish()
    }
}
