//! A job in a block of its own.

use crate::env::quietly;
use crate::memory::{self, Arena};
use crate::scheduler::{Header, How, Job, Local, OfScope, Origin};
use std::alloc::Layout;
use std::ptr::NonNull;

/// What a heap job does.
pub(super) trait Work: Send {
    /// Whether it is run though the runtime goes down; else it is dropped then.
    const IS_MANDATORY: bool;

    /// The scope that it is of.
    fn scope(&self) -> Option<OfScope> {
        None
    }

    /// If it is of none: the number of the task that it is, or 0.
    fn loose(&self) -> Option<u64> {
        None
    }

    /// On this worker, if one runs it. Does not unwind.
    fn run(self, worker: Option<&Local>);
}

/// A closure that nobody waits for.
pub(super) struct Detached<F>(pub(super) F);

impl<F: FnOnce() + Send> Work for Detached<F> {
    const IS_MANDATORY: bool = true;

    fn loose(&self) -> Option<u64> {
        Some(0)
    }

    fn run(self, _worker: Option<&Local>) {
        // Its panic has been printed, and there is nobody to tell.
        quietly(self.0);
    }
}

#[repr(C)]
struct HeapJob<W> {
    header: Header,
    work: W,
}

/// A job of its own.
///
/// # Safety
/// What `work` borrows lives until it was run, or dropped.
pub(super) unsafe fn new<W: Work>(work: W) -> Job {
    let block = memory::allocate(Layout::new::<HeapJob<W>>()).cast::<HeapJob<W>>();
    // SAFETY: (J1) just allocated for it.
    unsafe { block.write(HeapJob { header: Header::new(&HeapJob::<W>::HOW), work }) };
    // SAFETY: (J1) the work is Send, lives as long as it must by the caller's promise, and is freed by who
    // runs or refuses it.
    unsafe { Job::new(block.cast()) }
}

/// The same for a job that this worker is about to push.
///
/// # Safety
/// Like [`new`].
#[inline]
pub(super) unsafe fn new_on<W: Work>(local: &Local, work: W) -> Job {
    const { assert!(W::IS_MANDATORY) };
    let layout = Layout::new::<HeapJob<W>>();
    if !Arena::has(layout) {
        // SAFETY: (J1) passed on to the caller.
        return unsafe { new(work) };
    }
    let block = local.arena().allocate(layout).cast::<HeapJob<W>>();
    // SAFETY: (J1) just allocated for it.
    unsafe { block.write(HeapJob { header: Header::new(&HeapJob::<W>::HOW_IN_ARENA), work }) };
    // SAFETY: (J1) as in new().
    unsafe { Job::new(block.cast()) }
}

impl<W: Work> HeapJob<W> {
    const HOW_IN_ARENA: How = How {
        run: Self::run_in_arena,
        refuse: |_| false,
        is_framed: false,
        scope: Some(Self::scope),
        loose: Some(Self::loose),
    };

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run_in_arena(header: NonNull<Header>, worker: Option<&Local>, _origin: Origin) {
        let job = header.cast::<Self>();
        // SAFETY: (J1) made by new_on(), and this was the one right to run it.
        let work = unsafe { job.read() }.work;
        // SAFETY: (J1) allocated for this layout, and empty now.
        unsafe { Arena::free(worker.map(Local::arena), job.cast(), Layout::new::<Self>()) };
        work.run(worker);
    }

    const HOW: How = How {
        run: Self::run,
        refuse: Self::refuse,
        is_framed: false,
        scope: Some(Self::scope),
        loose: Some(Self::loose),
    };

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run(header: NonNull<Header>, worker: Option<&Local>, _origin: Origin) {
        // SAFETY: (J1) made by new(), and this was the one right to run it.
        unsafe { Self::take(header) }.run(worker);
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn refuse(header: NonNull<Header>) -> bool {
        if !W::IS_MANDATORY {
            // SAFETY: (J1) made by new(), and nobody has run it.
            drop(unsafe { Self::take(header) });
        }
        !W::IS_MANDATORY
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn scope(header: NonNull<Header>) -> Option<OfScope> {
        // SAFETY: (J1) made by new() or new_on(), and nobody has run it.
        unsafe { header.cast::<Self>().as_ref() }.work.scope()
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn loose(header: NonNull<Header>) -> Option<u64> {
        // SAFETY: (J1) made by new() or new_on(), and nobody has run it.
        unsafe { header.cast::<Self>().as_ref() }.work.loose()
    }

    /// Moves the work out, and frees the block.
    ///
    /// # Safety
    /// By one, once, with what new() has made.
    unsafe fn take(header: NonNull<Header>) -> W {
        let job = header.cast::<Self>();
        // SAFETY: (J1) passed on to the caller.
        let work = unsafe { job.read() }.work;
        // SAFETY: (J1) allocated for this layout, and empty now.
        unsafe { memory::free(job.cast(), Layout::new::<Self>()) };
        work
    }
}
