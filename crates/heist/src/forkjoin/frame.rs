//! A job in the frame of who waits for it.

use super::deque_view::hold_place;
use super::join::FnContext;
use super::latch::Latch;
use crate::scheduler::{Header, How, Job, Local, Origin};
use heist_deque::deque::Mark;
use heist_sync::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::thread;

/// The second closure of a join. It lies in the frame of the join, and is pushed to the deque of the
/// worker that joins: whoever pops it there runs it itself, and all others are thieves.
#[repr(C)]
pub(super) struct StackJob<F, R> {
    pub(super) head: Head,
    closure: Once<F>,
    outcome: Outcome<R>,
}

/// What it has whatever its closure is.
#[repr(C)]
pub(super) struct Head {
    header: Header,
    pub(super) latch: Latch,
}

impl Head {
    /// Whether this is its job.
    #[inline(always)]
    pub(super) fn is_of(&self, job: &Job) -> bool {
        job.address() == NonNull::from(&self.header)
    }
}

impl<F: FnOnce(FnContext) -> R + Send, R: Send> StackJob<F, R> {
    const HOW: How =
        How { run: Self::run_stolen, refuse: |_| false, is_framed: true, scope: None, loose: None };

    /// To be pushed there.
    #[inline(always)]
    pub(super) fn new(mark: Mark, closure: F) -> Self {
        StackJob {
            head: Head { header: Header::new(&Self::HOW), latch: Latch::of(mark) },
            closure: Once::new(closure),
            outcome: Outcome::new(),
        }
    }

    /// The right to run it.
    ///
    /// # Safety
    /// It stays where it is until the job was popped again, or could not be pushed, and its closure is taken, or the latch is set.
    #[inline(always)]
    pub(super) unsafe fn offer(&self) -> Job {
        // SAFETY: (J1) the closure and its result are Send, and the caller keeps the frame.
        unsafe { Job::new(NonNull::from(self).cast()) }
    }

    /// # Safety
    /// The job was popped, or could not be pushed, so that nobody else has it.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> F {
        // SAFETY: (J1) passed on to the caller.
        unsafe { self.closure.take() }
    }

    /// # Safety
    /// The latch is set.
    pub(super) unsafe fn outcome(&self) -> thread::Result<R> {
        // SAFETY: (J2) passed on to the caller: the thief has written it before.
        unsafe { self.outcome.take() }
    }

    /// # Safety
    /// Like [`Job::new`] was promised.
    unsafe fn run_stolen(header: NonNull<Header>, thief: Option<&Local>, origin: Origin) {
        let Some(thief) = thief else { unreachable!("it was in the deque of a worker") };
        // Its own worker runs it in the middle of the first closure, perhaps.
        let victim = match origin {
            Origin::Stolen(victim) => victim,
            Origin::Here => {
                hold_place(thief);
                thief.index()
            }
        };
        // SAFETY: (J2) the frame stays until the latch is set; the job begins with its head, and that with the header.
        let job = unsafe { header.cast::<Self>().as_ref() };
        job.head.latch.begin(thief.index());
        // SAFETY: (J1) this was the one right to run it.
        let closure = unsafe { job.closure.take() };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| closure(FnContext::new(true))));
        // SAFETY: (J2) nobody reads it before the latch is set.
        unsafe { job.outcome.put(outcome) };
        job.head.latch.set(|| thief.scheduler().wake_waiter(victim));
    }
}

/// A closure that is taken out once, by whoever has the right to.
pub(super) struct Once<F>(UnsafeCell<ManuallyDrop<F>>);

impl<F> Once<F> {
    #[inline(always)]
    pub(super) fn new(closure: F) -> Self {
        Once(UnsafeCell::new(ManuallyDrop::new(closure)))
    }

    /// # Safety
    /// By one, once.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> F {
        self.0.with(|closure| {
            // SAFETY: (J1) valid, and read once as the caller promises.
            ManuallyDrop::into_inner(unsafe { closure.read() })
        })
    }
}

/// What has become of a closure: written by who has run it, and read when the latch is set.
pub(super) struct Outcome<R>(UnsafeCell<MaybeUninit<thread::Result<R>>>);

impl<R> Outcome<R> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Outcome(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// # Safety
    /// By one, once, before the latch is set.
    pub(super) unsafe fn put(&self, outcome: thread::Result<R>) {
        self.0.with_mut(|place| {
            // SAFETY: (J2) valid, and nobody else looks at it yet.
            unsafe { place.cast::<thread::Result<R>>().write(outcome) };
        });
    }

    /// # Safety
    /// By one, once, after the latch was set by who has put it.
    pub(super) unsafe fn take(&self) -> thread::Result<R> {
        self.0.with(|place| {
            // SAFETY: (J2) written before the latch was set.
            unsafe { place.cast::<thread::Result<R>>().read() }
        })
    }
}
