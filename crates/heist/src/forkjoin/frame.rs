//! A job in the frame of the join that waits for it.

use super::deque_view::fill_position;
use super::join::FnContext;
use super::latch::Latch;
use crate::scheduler::{Header, Job, Origin, VTable, Worker};
use heist_deque::deque::Mark;
use heist_sync::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::thread;

/// The second closure of a join, in the frame of the join. It is pushed to the deque of the joining
/// worker: that worker pops it and calls the closure, and any other thread is a thief.
#[repr(C)]
pub(super) struct StackJob<F, R> {
    pub(super) head: Head,
    closure: Once<F>,
    outcome: Outcome<R>,
}

/// The part that does not depend on the closure.
#[repr(C)]
pub(super) struct Head {
    header: Header,
    pub(super) latch: Latch,
}

impl Head {
    /// Whether `job` is this one.
    #[inline(always)]
    pub(super) fn is_of(&self, job: &Job) -> bool {
        job.address() == NonNull::from(&self.header)
    }
}

impl<F: FnOnce(FnContext) -> R + Send, R: Send> StackJob<F, R> {
    const VTABLE: VTable =
        VTable { run: Self::run_stolen, refuse: None, is_stack_job: true, scope: None, task: None };

    /// For a job that will be pushed at `mark`.
    #[inline(always)]
    pub(super) fn new(mark: Mark, closure: F) -> Self {
        StackJob {
            head: Head { header: Header::new(&Self::VTABLE), latch: Latch::of(mark) },
            closure: Once::new(closure),
            outcome: Outcome::new(),
        }
    }

    /// Returns the right to run the job.
    ///
    /// # Safety
    /// The stack job stays in place until its latch is set, or until the job was popped or could
    /// not be pushed and the closure has been taken.
    #[inline(always)]
    pub(super) unsafe fn offer(&self) -> Job {
        // SAFETY: (J1) the closure and its result are Send, and the caller keeps the frame.
        unsafe { Job::new(NonNull::from(self).cast()) }
    }

    /// # Safety
    /// The job was popped or could not be pushed, so no other thread has it.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> F {
        // SAFETY: (J1) passed on to the caller.
        unsafe { self.closure.take() }
    }

    /// # Safety
    /// The latch is set.
    pub(super) unsafe fn outcome(&self) -> thread::Result<R> {
        // SAFETY: (J2) the latch is set, as the caller promises: the thief has written it.
        unsafe { self.outcome.take() }
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run_stolen(header: NonNull<Header>, thief: Option<&Worker>, origin: Origin) {
        let Some(thief) = thief else { unreachable!("it was in the deque of a worker") };
        // `Here`: its own worker runs it, in the middle of the first closure.
        let victim = match origin {
            Origin::Stolen(victim) => victim,
            Origin::Here => {
                fill_position(thief);
                thief.index()
            }
        };
        // SAFETY: (J2) the frame stays until the latch is set; the job begins with its head, which
        // begins with the header.
        let job = unsafe { header.cast::<Self>().as_ref() };
        job.head.latch.begin(thief.index());
        // SAFETY: (J1) this was the one right to run it.
        let closure = unsafe { job.closure.take() };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| closure(FnContext::new(true))));
        // SAFETY: (J2) no thread reads it before the latch is set.
        unsafe { job.outcome.put(outcome) };
        job.head.latch.set(|| thief.scheduler().wake_waiter(victim));
    }
}

/// A closure that is taken out once, by the thread that has the right to run the job.
pub(super) struct Once<F>(UnsafeCell<ManuallyDrop<F>>);

impl<F> Once<F> {
    #[inline(always)]
    pub(super) fn new(closure: F) -> Self {
        Once(UnsafeCell::new(ManuallyDrop::new(closure)))
    }

    /// # Safety
    /// Called once.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> F {
        self.0.with(|closure| {
            // SAFETY: (J1) valid, and read once as the caller promises.
            ManuallyDrop::into_inner(unsafe { closure.read() })
        })
    }
}

/// The result or panic of a closure: written by the thread that has called it, and read after the
/// latch is set.
pub(super) struct Outcome<R>(UnsafeCell<MaybeUninit<thread::Result<R>>>);

impl<R> Outcome<R> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Outcome(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// # Safety
    /// Called once, before the latch is set.
    pub(super) unsafe fn put(&self, outcome: thread::Result<R>) {
        self.0.with_mut(|place| {
            // SAFETY: (J2) valid, and no other thread reads it before the latch is set.
            unsafe { place.cast::<thread::Result<R>>().write(outcome) };
        });
    }

    /// # Safety
    /// Called once, after the thread that has called `put` has set the latch.
    pub(super) unsafe fn take(&self) -> thread::Result<R> {
        self.0.with(|place| {
            // SAFETY: (J2) written before the latch was set.
            unsafe { place.cast::<thread::Result<R>>().read() }
        })
    }
}
