//! A worker without a thread of its own: it is run by whoever waits for a future.

use super::watched::Driven;
use super::{Entered, Step, Worker};
use crate::scheduler::shared::Scheduler;
use crate::task::coop;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

impl Worker {
    /// Runs tasks on this thread until `future` is ready.
    pub(crate) fn drive<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        let local = &self.local;
        let _entered = Entered::new(local);
        let _driven = Driven::new(local);
        let woken =
            Arc::new(Woken { flag: AtomicBool::new(true), scheduler: local.scheduler.clone() });
        let waker = Waker::from(woken.clone());
        let mut cx = Context::from_waker(&waker);
        loop {
            if woken.take() {
                if let Poll::Ready(output) =
                    coop::with_fresh_budget(|| future.as_mut().poll(&mut cx))
                {
                    return output;
                }
            }
            for _ in 0..local.scheduler.config.ticks_per_look {
                if local.step() != Step::Ran {
                    local.idle(|| woken.is_set());
                    break;
                }
            }
        }
    }
}

/// Wakes the future that a worker waits for, as if it were a task: by the idle protocol.
struct Woken {
    flag: AtomicBool,
    scheduler: Scheduler,
}

impl Woken {
    fn take(&self) -> bool {
        // Acquire: pairs with the Release in wake_by_ref().
        self.is_set() && self.flag.swap(false, Ordering::Acquire)
    }

    fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: pairs with the Acquire in take().
        self.flag.store(true, Ordering::Release);
        self.scheduler.notify();
    }
}
