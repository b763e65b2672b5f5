//! A job in a block of its own.

use crate::env::quietly;
use crate::memory::{self, Arena};
use crate::scheduler::{Header, Job, OfScope, Origin, VTable, Worker};
use std::alloc::Layout;
use std::ptr::NonNull;

/// What a heap job does.
pub(super) trait Work: Send {
    /// Whether it runs even if the runtime shuts down; otherwise it is dropped then.
    const IS_MANDATORY: bool;

    /// The scope that the job belongs to.
    fn scope(&self) -> Option<OfScope> {
        None
    }

    /// For a job of no scope: the number of its task, or 0 if it is detached.
    fn task(&self) -> Option<u64> {
        None
    }

    /// Runs the job, on `worker` if the thread has one. Does not unwind.
    fn run(self, worker: Option<&Worker>);
}

/// A closure that no thread waits for.
pub(super) struct Detached<F>(pub(super) F);

impl<F: FnOnce() + Send> Work for Detached<F> {
    const IS_MANDATORY: bool = true;

    fn task(&self) -> Option<u64> {
        Some(0)
    }

    fn run(self, _worker: Option<&Worker>) {
        // The panic hook has reported a panic, and no handle could return it.
        quietly(self.0);
    }
}

#[repr(C)]
struct HeapJob<W> {
    header: Header,
    work: W,
}

/// Makes a job in a block of its own.
///
/// # Safety
/// What `work` borrows lives until the work was run or dropped.
pub(super) unsafe fn new<W: Work>(work: W) -> Job {
    let block = memory::allocate(Layout::new::<HeapJob<W>>()).cast::<HeapJob<W>>();
    // SAFETY: (J1) just allocated for it.
    unsafe { block.write(HeapJob { header: Header::new(&HeapJob::<W>::VTABLE), work }) };
    // SAFETY: (J1) the work is Send, lives long enough as the caller promises, and is freed by the
    // thread that runs or refuses it.
    unsafe { Job::new(block.cast()) }
}

/// The same for a job that this worker is about to push, in the worker's arena.
///
/// # Safety
/// Like [`new`].
#[inline]
pub(super) unsafe fn new_on<W: Work>(worker: &Worker, work: W) -> Job {
    const { assert!(W::IS_MANDATORY) };
    let layout = Layout::new::<HeapJob<W>>();
    if !Arena::has(layout) {
        // SAFETY: (J1) passed on to the caller.
        return unsafe { new(work) };
    }
    let block = worker.arena().allocate(layout).cast::<HeapJob<W>>();
    // SAFETY: (J1) just allocated for it.
    unsafe { block.write(HeapJob { header: Header::new(&HeapJob::<W>::VTABLE_IN_ARENA), work }) };
    // SAFETY: (J1) as in new().
    unsafe { Job::new(block.cast()) }
}

impl<W: Work> HeapJob<W> {
    const VTABLE_IN_ARENA: VTable = VTable {
        run: Self::run_in_arena,
        refuse: None,
        is_stack_job: false,
        scope: Some(Self::scope),
        task: Some(Self::task),
    };

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run_in_arena(header: NonNull<Header>, worker: Option<&Worker>, _origin: Origin) {
        let job = header.cast::<Self>();
        // SAFETY: (J1) made by new_on(), and this was the one right to run it.
        let work = unsafe { job.read() }.work;
        // SAFETY: (J1) allocated for this layout, and empty now.
        unsafe { Arena::free(worker.map(Worker::arena), job.cast(), Layout::new::<Self>()) };
        work.run(worker);
    }

    const VTABLE: VTable = VTable {
        run: Self::run,
        refuse: if W::IS_MANDATORY { None } else { Some(Self::refuse) },
        is_stack_job: false,
        scope: Some(Self::scope),
        task: Some(Self::task),
    };

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run(header: NonNull<Header>, worker: Option<&Worker>, _origin: Origin) {
        // SAFETY: (J1) made by new(), and this was the one right to run it.
        unsafe { Self::take(header) }.run(worker);
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn refuse(header: NonNull<Header>) {
        // SAFETY: (J1) made by new(), and not run.
        drop(unsafe { Self::take(header) });
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn scope(header: NonNull<Header>) -> Option<OfScope> {
        // SAFETY: (J1) made by new() or new_on(), and not run.
        unsafe { header.cast::<Self>().as_ref() }.work.scope()
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn task(header: NonNull<Header>) -> Option<u64> {
        // SAFETY: (J1) made by new() or new_on(), and not run.
        unsafe { header.cast::<Self>().as_ref() }.work.task()
    }

    /// Moves the work out, and frees the block.
    ///
    /// # Safety
    /// Called once for a job made by `new`.
    unsafe fn take(header: NonNull<Header>) -> W {
        let job = header.cast::<Self>();
        // SAFETY: (J1) passed on to the caller.
        let work = unsafe { job.read() }.work;
        // SAFETY: (J1) allocated for this layout, and empty now.
        unsafe { memory::free(job.cast(), Layout::new::<Self>()) };
        work
    }
}
