//! Broadcasts: a closure that every worker calls once.

use super::frame::Outcome;
use super::heap::{self, Work};
use super::latch::Latch;
use super::outside::submit_elsewhere;
use super::wait::wait;
use super::waiter::Waiter;
use crate::env::quietly;
use crate::runtime::{Handle, RuntimeFlavor, current_or_global};
use crate::scheduler::{Header, Job, Origin, VTable, Worker, with_here};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread;

/// Has every worker of the current runtime call `f` once, and returns the results in the order of
/// the workers' indices.
///
/// Outside of a runtime the global one is used. A worker calls `f` when it has no jobs of its own
/// left, or while it waits for one. If a worker is in a long poll, `broadcast` waits for it.
///
/// # Examples
///
/// ```
/// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
/// let squares = rt.handle().install(|| heist::broadcast(|worker| worker.index().pow(2)));
/// assert_eq!(squares, [0, 1, 4]);
/// ```
///
/// # Panics
///
/// If `f` panics, `broadcast` waits for all workers and then resumes the panic, of the worker with
/// the lowest index if there are several. Also panics if the global runtime is needed and cannot be
/// started.
pub fn broadcast<F, R>(f: F) -> Vec<R>
where
    F: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let here = with_here(|worker| worker.map(Handle::of_worker));
    here.unwrap_or_else(current_or_global).broadcast(f)
}

/// Tells the closure of a [`broadcast`] which worker calls it.
///
/// # Examples
///
/// ```
/// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// let sums = rt.handle().broadcast(|worker| worker.index() * 10 + worker.num_workers());
/// assert_eq!(sums, [2, 12]);
/// ```
pub struct BroadcastContext<'a> {
    index: usize,
    workers: usize,
    _call: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    pub(super) fn new(index: usize, workers: usize) -> Self {
        BroadcastContext { index, workers, _call: PhantomData }
    }

    /// Returns the index of the worker that was asked to make this call, starting at 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of workers that were asked to call the closure.
    pub fn num_workers(&self) -> usize {
        self.workers
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index)
            .field("num_workers", &self.workers)
            .finish()
    }
}

impl Handle {
    /// Has every worker of this runtime call `f` once, and returns the results in the order of the
    /// workers' indices; see [`broadcast`].
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// let squares = rt.handle().broadcast(|worker| worker.index() * worker.index());
    /// assert_eq!(squares, [0, 1, 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `f` panics; see [`broadcast`](broadcast#panics).
    pub fn broadcast<F, R>(&self, f: F) -> Vec<R>
    where
        F: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        with_here(|worker| {
            let worker = worker.filter(|worker| worker.is_of(self.scheduler()));
            results_of(call_all(self, worker, &f))
        })
    }

    /// Has every worker of this runtime call `f` once, without waiting for the calls.
    ///
    /// If the runtime is shut down first, the remaining calls are made before it ends, or dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// rt.handle().spawn_broadcast(move |worker| sender.send(worker.index()).unwrap());
    /// let mut indices: Vec<_> = receiver.iter().collect();
    /// indices.sort();
    /// assert_eq!(indices, [0, 1]);
    /// ```
    pub fn spawn_broadcast<F>(&self, f: F)
    where
        F: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        let (f, workers) = (Arc::new(f), self.num_workers());
        for index in 0..workers {
            // SAFETY: (J2) it borrows nothing.
            let call = unsafe { heap::new(DetachedPart { f: Arc::clone(&f), index, workers }) };
            if let Err(call) = self.scheduler().send_direct_job(index, call) {
                // That worker has ended.
                submit_elsewhere(self, call);
            }
        }
    }
}

/// The first panic wins (J4).
fn results_of<R>(outcomes: Vec<thread::Result<R>>) -> Vec<R> {
    let (mut results, mut panic) = (Vec::with_capacity(outcomes.len()), None);
    for outcome in outcomes {
        match outcome {
            Ok(result) => results.push(result),
            Err(payload) if panic.is_none() => panic = Some(payload),
            Err(payload) => quietly(|| drop(payload)),
        }
    }
    if let Some(panic) = panic {
        results.into_iter().for_each(|result| quietly(|| drop(result)));
        panic::resume_unwind(panic);
    }
    results
}

/// Has all workers call `f`, and waits until all calls have ended. `worker` is this thread's,
/// if it is one of them.
fn call_all<F, R>(handle: &Handle, worker: Option<&Worker>, f: &F) -> Vec<thread::Result<R>>
where
    F: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let workers = handle.num_workers();
    let waiter = worker.map_or_else(Waiter::here, Waiter::of);
    let part = |index| Part::new(f, index, workers, waiter.clone());
    let parts: Vec<_> = (0..workers).map(part).collect();
    let has_threads = handle.runtime_flavor() == RuntimeFlavor::MultiThread;
    // A spare worker has no part.
    let mine = worker.map(Worker::index).filter(|index| *index < workers);
    for part in parts.iter().filter(|part| has_threads && mine != Some(part.index)) {
        // SAFETY: (J2) the frame is not left before the latches of all parts that were sent are
        // set.
        let call = unsafe { Job::new(NonNull::from(part).cast()) };
        if let Err(call) = handle.scheduler().send_direct_job(part.index, call) {
            // That worker has ended. Other parts may wait for this one (J5).
            submit_elsewhere(handle, call);
        }
    }
    let call_or_wait = |part: &Part<'_, F, R>| {
        if !has_threads {
            return part.call();
        }
        match worker {
            Some(worker) => wait(worker, &part.latch, |_is_last_look| None),
            None => waiter.wait(&part.latch),
        }
        // SAFETY: (J2) the latch is set.
        unsafe { part.outcome.take() }
    };
    // Its own part first: others may wait for it.
    let mut own = mine.map(|mine| (mine, parts[mine].call()));
    let outcome = |part: &Part<'_, F, R>| {
        let own = own.take_if(|(mine, _)| *mine == part.index);
        own.map_or_else(|| call_or_wait(part), |(_, outcome)| outcome)
    };
    parts.iter().map(outcome).collect()
}

/// One worker's part of a broadcast.
#[repr(C)]
struct Part<'a, F, R> {
    header: Header,
    latch: Latch,
    waiter: Waiter,
    f: &'a F,
    index: usize,
    workers: usize,
    outcome: Outcome<R>,
}

impl<'a, F: Fn(BroadcastContext<'_>) -> R + Sync, R: Send> Part<'a, F, R> {
    /// A worker that ends runs it all the same: others may wait for it (J5).
    const VTABLE: VTable =
        VTable { run: Self::run, refuse: None, is_stack_job: false, scope: None, task: None };

    fn new(f: &'a F, index: usize, workers: usize, waiter: Waiter) -> Self {
        let (header, outcome) = (Header::new(&Self::VTABLE), Outcome::new());
        Part { header, latch: Latch::new(), waiter, f, index, workers, outcome }
    }

    fn call(&self) -> thread::Result<R> {
        let context = BroadcastContext::new(self.index, self.workers);
        panic::catch_unwind(AssertUnwindSafe(|| (self.f)(context)))
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run(header: NonNull<Header>, _worker: Option<&Worker>, _origin: Origin) {
        // SAFETY: (J2) the frame stays until the latch is set; the header is the first field.
        let part = unsafe { header.cast::<Self>().as_ref() };
        let outcome = part.call();
        // SAFETY: (J2) no thread reads it before the latch is set.
        unsafe { part.outcome.put(outcome) };
        let waiter = part.waiter.clone();
        part.latch.set(|| waiter.unpark());
    }
}

/// A part that no thread waits for.
struct DetachedPart<F> {
    f: Arc<F>,
    index: usize,
    workers: usize,
}

impl<F: Fn(BroadcastContext<'_>) + Send + Sync> Work for DetachedPart<F> {
    const IS_MANDATORY: bool = true;

    fn run(self, _worker: Option<&Worker>) {
        let context = BroadcastContext::new(self.index, self.workers);
        // The panic hook has reported a panic, and no handle could return it.
        quietly(|| (self.f)(context));
    }
}
