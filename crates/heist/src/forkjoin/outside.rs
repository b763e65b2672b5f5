//! Fork-join from threads that are no workers: a closure goes to a worker, and its thread waits.

use super::frame::{Once, Outcome};
use super::latch::Latch;
use super::waiter::Waiter;
use crate::env::Clock;
use crate::runtime::{Handle, RuntimeFlavor, global_handle};
use crate::scheduler::{Header, How, Job, Local, Origin, with_here_or_aside};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::thread;
use std::time::Duration;

/// Calls `f` on a worker of this runtime, which this thread is none of. If the runtime has none that could
/// come, because it goes down or has no threads, it is called here and without one.
#[cold]
pub(super) fn on_worker<F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce(Option<&Local>) -> R + Send,
    R: Send,
{
    if handle.runtime_flavor() == RuntimeFlavor::CurrentThread {
        return f(None);
    }
    let visit = Visit {
        header: Header::new(&Visit::<F, R>::HOW),
        latch: Latch::new(),
        waiter: Waiter::here(),
        closure: Once::new(f),
        outcome: Outcome::new(),
    };
    // SAFETY: (J2) this frame is not left before the latch is set, or the job has come back.
    let job = unsafe { Job::new(NonNull::from(&visit).cast()) };
    let is_refused = match handle.scheduler().submit_job(job) {
        Ok(()) => {
            wait(&visit.waiter, &visit.latch);
            visit.latch.is_refused()
        }
        Err(_job) => true,
    };
    if is_refused {
        // SAFETY: (J1) nobody has run it, and nobody will.
        return unsafe { visit.closure.take() }(None);
    }
    // SAFETY: (J2) the latch is set, and the job was run.
    unsafe { visit.outcome.take() }.unwrap_or_else(|panic| panic::resume_unwind(panic))
}

/// So long who calls from outside waits before it sleeps, if its last call took no longer. Guessed: about what a sleep and a wake-up take. Calls one
/// after the other take about 0.6 times the time (`install_small`, `par_iter_small` of `rayon-bench`).
const LINGER: Duration = Duration::from_micros(20);

fn wait(waiter: &Waiter, latch: &Latch) {
    thread_local! {
        /// Whether the last call of this thread was that short.
        static WAS_SHORT: Cell<bool> = const { Cell::new(false) };
    }
    let begun = Clock::now();
    let is_soon = || Clock::now().since(begun) < LINGER;
    // A worker of another runtime has others to think of while it waits (J5, L5): it begins with that.
    let is_worker = || with_here_or_aside(|local| local.is_some());
    if WAS_SHORT.get() && !is_worker() {
        while !latch.is_set() && is_soon() {
            // The worker may have no other core to run on.
            thread::yield_now();
        }
    }
    if !latch.is_set() {
        waiter.wait(latch);
    }
    WAS_SHORT.set(is_soon());
}

/// Has a worker run a job from outside. Who calls may go on to something that the job waits for (J5): so where the runtime goes
/// down it is one of the global runtime's. On a runtime without threads it is run there and then.
pub(super) fn submit(handle: &Handle, job: Job) {
    let submitted = match handle.runtime_flavor() {
        RuntimeFlavor::MultiThread => handle.scheduler().submit_job(job),
        RuntimeFlavor::CurrentThread => Err(job),
    };
    if let Err(job) = submitted {
        submit_elsewhere(handle, job);
    }
}

/// Like [`submit`], for a job that the runtime of `handle` has not taken. It is none of a join: those have to be run where
/// they come from. Does not unwind: the job is counted by then, or a frame is waited for (J2). Where the global runtime
/// cannot be started, which is said, the job is run here.
#[cold]
pub(super) fn submit_elsewhere(handle: &Handle, job: Job) {
    debug_assert!(!job.is_framed(), "its thief has a number that means somebody else there");
    let global = match handle.runtime_flavor() {
        RuntimeFlavor::MultiThread => panic::catch_unwind(global_handle).ok(),
        RuntimeFlavor::CurrentThread => None,
    };
    let submitted = match global {
        Some(global) => global.scheduler().submit_job(job),
        None => Err(job),
    };
    if let Err(job) = submitted {
        job.run(None, Origin::Here);
    }
}

/// A closure from outside, in the frame of who waits for it.
#[repr(C)]
struct Visit<F, R> {
    header: Header,
    latch: Latch,
    waiter: Waiter,
    closure: Once<F>,
    outcome: Outcome<R>,
}

impl<F: FnOnce(Option<&Local>) -> R + Send, R: Send> Visit<F, R> {
    const HOW: How =
        How { run: Self::run, refuse: Self::refuse, is_framed: false, scope: None, loose: None };

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run(header: NonNull<Header>, worker: Option<&Local>, _origin: Origin) {
        // SAFETY: (J2) the frame stays until the latch is set; the header is the first field.
        let visit = unsafe { header.cast::<Self>().as_ref() };
        // SAFETY: (J1) this was the one right to run it.
        let closure = unsafe { visit.closure.take() };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| closure(worker)));
        // SAFETY: (J2) nobody reads it before the latch is set.
        unsafe { visit.outcome.put(outcome) };
        let waiter = visit.waiter.clone();
        visit.latch.set(|| waiter.unpark());
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn refuse(header: NonNull<Header>) -> bool {
        // SAFETY: (J2) as in run().
        let visit = unsafe { header.cast::<Self>().as_ref() };
        let waiter = visit.waiter.clone();
        visit.latch.refuse(|| waiter.unpark());
        true
    }
}
