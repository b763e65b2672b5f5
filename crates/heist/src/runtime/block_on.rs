//! Waiting for a future on a thread that is no worker.

use crate::env::Parker;
use crate::task::coop;
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Wakes a thread that waits for a future.
pub(super) struct Unpark(Parker);

impl Unpark {
    pub(super) fn unpark(&self) {
        self.0.unpark();
    }
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// A thread that waits for a future, and how it is woken. It is used again for the next: a waker of one that is long gone has
/// that one polled for nothing, once.
pub(super) struct Waiter {
    unpark: Arc<Unpark>,
    waker: Waker,
}

thread_local! {
    /// The calling thread's, unless it is in use.
    static KEPT: Cell<Option<Waiter>> = const { Cell::new(None) };
}

impl Waiter {
    fn new() -> Self {
        let unpark = Arc::new(Unpark(Parker::new()));
        Waiter { waker: Waker::from(Arc::clone(&unpark)), unpark }
    }

    /// Calls `f` with one that is this thread's.
    pub(super) fn with<R>(f: impl FnOnce(&Waiter) -> R) -> R {
        // One who waits may poll something that waits, too, or be ending.
        let waiter = KEPT.try_with(Cell::take).ok().flatten().unwrap_or_else(Waiter::new);
        let result = f(&waiter);
        let _ = KEPT.try_with(|kept| kept.set(Some(waiter)));
        result
    }

    pub(super) fn context(&self) -> Context<'_> {
        Context::from_waker(&self.waker)
    }

    pub(super) fn park(&self) {
        self.unpark.0.park();
    }

    /// For somebody else to wake it by.
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
