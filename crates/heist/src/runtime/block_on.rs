//! Waiting for a future on a thread that is no worker.

use crate::env::Parker;
use crate::task::coop;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Wakes a thread that waits for a future.
pub(super) struct Unpark(Parker);

impl Unpark {
    pub(super) fn new() -> Self {
        Unpark(Parker::new())
    }

    pub(super) fn park(&self) {
        self.0.park();
    }

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

/// Polls `future` on this thread until it is ready, and sleeps in between.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let unpark = Arc::new(Unpark::new());
    let waker = Waker::from(Arc::clone(&unpark));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = coop::with_fresh_budget(|| future.as_mut().poll(&mut cx)) {
            return output;
        }
        unpark.park();
    }
}
