//! Waiting for a future on a thread that is not a worker.

use crate::env::{Backoff, Parker, Wakeup};
use crate::scheduler::{run_direct_job_aside, waiter_aside};
use crate::task::{Prompt, coop, prompt_waker};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The waker of a thread that waits for a future.
pub(super) struct Unpark(Wakeup);

impl Unpark {
    pub(super) fn unpark(&self) {
        self.0.wake();
    }
}

impl Prompt for Arc<Unpark> {
    fn wake(&self) {
        self.unpark();
    }
}

/// A thread that waits for a future, and how it is woken. It is reused for the thread's next wait:
/// a waker that outlives its future causes one needless poll of a later one.
pub(super) struct Waiter {
    unpark: Arc<Unpark>,
    waker: Waker,
    backoff: Backoff,
}

thread_local! {
    /// The calling thread's, unless it is in use.
    static KEPT: Cell<Option<Waiter>> = const { Cell::new(None) };
}

impl Waiter {
    fn new(parker: Arc<Parker>) -> Self {
        let unpark = Arc::new(Unpark(Wakeup::new(parker)));
        Waiter { waker: prompt_waker(Arc::clone(&unpark)), unpark, backoff: Backoff::default() }
    }

    /// Calls `f` with the waiter of this thread, or with a new one if that is in use.
    pub(super) fn with<R>(f: impl FnOnce(&Waiter) -> R) -> R {
        if let Some(parker) = waiter_aside() {
            return f(&Waiter::new(parker));
        }
        // `None` if the polled future waits itself, or if the thread is ending.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let waiter = kept.unwrap_or_else(|| Waiter::new(Arc::new(Parker::new())));
        let result = f(&waiter);
        let _ = KEPT.try_with(|kept| kept.set(Some(waiter)));
        result
    }

    pub(super) fn context(&self) -> Context<'_> {
        Context::from_waker(&self.waker)
    }

    /// Sleeps until this wait is woken (I7). A worker that has stepped aside runs its parts of
    /// broadcasts meanwhile, also those of a future that is woken whenever it is polled (J5).
    pub(super) fn park(&self) {
        let wakeup = &self.unpark.0;
        loop {
            let has_answered = run_direct_job_aside();
            if wakeup.take() {
                return;
            }
            if !has_answered {
                self.backoff.wait(|| wakeup.ends_sleep());
                wakeup.sleep();
            }
        }
    }

    /// A handle that wakes it.
    pub(super) fn unpark(&self) -> &Arc<Unpark> {
        &self.unpark
    }
}

/// Polls `future` on this thread until it is ready, and sleeps in between.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    Waiter::with(|waiter| {
        let mut cx = waiter.context();
        loop {
            if let Poll::Ready(output) = coop::with_fresh_budget(|| future.as_mut().poll(&mut cx)) {
                return output;
            }
            waiter.park();
        }
    })
}
