//! Fork-join from threads that are not workers: the closure goes to a worker, and its thread waits.

use super::frame::{Once, Outcome};
use super::latch::Latch;
use super::waiter::Waiter;
use crate::env::Backoff;
use crate::runtime::{Handle, RuntimeFlavor, global_handle};
use crate::scheduler::{Header, Job, Origin, VTable, Worker, with_here_or_aside};
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;

/// Calls `f` on a worker of this runtime, of which the calling thread is not one. If no worker can
/// take it, because the runtime shuts down or has no threads, `f` is called here and without one.
#[cold]
pub(super) fn on_worker<F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce(Option<&Worker>) -> R + Send,
    R: Send,
{
    if handle.runtime_flavor() == RuntimeFlavor::CurrentThread {
        return f(None);
    }
    let call = InjectedCall {
        header: Header::new(&InjectedCall::<F, R>::VTABLE),
        latch: Latch::new(),
        waiter: Waiter::here(),
        closure: Once::new(f),
        outcome: Outcome::new(),
    };
    // SAFETY: (J2) this frame is not left before the latch is set or the job has come back.
    let job = unsafe { Job::new(NonNull::from(&call).cast()) };
    let is_refused = match handle.scheduler().submit_job(job) {
        Ok(()) => {
            wait(&call.waiter, &call.latch);
            call.latch.is_refused()
        }
        Err(_job) => true,
    };
    if is_refused {
        // SAFETY: (J1) the job was not run, and will not be.
        return unsafe { call.closure.take() }(None);
    }
    // SAFETY: (J2) the latch is set, and the job was run.
    unsafe { call.outcome.take() }.unwrap_or_else(|panic| panic::resume_unwind(panic))
}

fn wait(waiter: &Waiter, latch: &Latch) {
    thread_local! {
        static BACKOFF: Backoff = Backoff::default();
    }
    // A worker of another runtime first lets others run in its place (J5, L5).
    let is_worker = with_here_or_aside(|worker| worker.is_some());
    let spin = |backoff: &Backoff| backoff.wait(|| latch.is_set());
    if is_worker || !BACKOFF.try_with(spin).unwrap_or(false) {
        waiter.wait(latch);
    }
}

/// Has a worker run a job from outside. If the runtime shuts down, that is a worker of the global
/// runtime, because the caller may go on to something that the job waits for (J5). On a runtime
/// without threads the job is run at once.
pub(super) fn submit(handle: &Handle, job: Job) {
    let submitted = match handle.runtime_flavor() {
        RuntimeFlavor::MultiThread => handle.scheduler().submit_job(job),
        RuntimeFlavor::CurrentThread => Err(job),
    };
    if let Err(job) = submitted {
        submit_elsewhere(handle, job);
    }
}

/// Like [`submit`], for a job that the runtime of `handle` has not taken. It must not be the job of
/// a join, which only its own runtime can run. If the global runtime cannot be started, the panic
/// hook reports that, and the job is run here. Does not unwind, because the job has been counted,
/// or its frame must be waited for (J2).
#[cold]
pub(super) fn submit_elsewhere(handle: &Handle, job: Job) {
    debug_assert!(!job.is_stack_job(), "its thief's number would mean another worker there");
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

/// A closure from outside, in the frame of the thread that waits for it.
#[repr(C)]
struct InjectedCall<F, R> {
    header: Header,
    latch: Latch,
    waiter: Waiter,
    closure: Once<F>,
    outcome: Outcome<R>,
}

impl<F: FnOnce(Option<&Worker>) -> R + Send, R: Send> InjectedCall<F, R> {
    const VTABLE: VTable = VTable {
        run: Self::run,
        refuse: Some(Self::refuse),
        is_stack_job: false,
        scope: None,
        task: None,
    };

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run(header: NonNull<Header>, worker: Option<&Worker>, _origin: Origin) {
        // SAFETY: (J2) the frame stays until the latch is set; the header is the first field.
        let call = unsafe { header.cast::<Self>().as_ref() };
        // SAFETY: (J1) this was the one right to run it.
        let closure = unsafe { call.closure.take() };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| closure(worker)));
        // SAFETY: (J2) no thread reads it before the latch is set.
        unsafe { call.outcome.put(outcome) };
        let waiter = call.waiter.clone();
        call.latch.set(|| waiter.unpark());
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn refuse(header: NonNull<Header>) {
        // SAFETY: (J2) as in run().
        let call = unsafe { header.cast::<Self>().as_ref() };
        let waiter = call.waiter.clone();
        call.latch.refuse(|| waiter.unpark());
    }
}
