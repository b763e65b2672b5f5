//! A worker without a thread of its own: it is run by whoever waits for a future.

use super::watched::SeatRecord;
use super::{Entered, Local, Step, Worker, with_here};
use crate::scheduler::shared::Scheduler;
use crate::task::coop;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// A worker that is run now and then, by one thread or another, and what it is woken by. The waker is the same each time: one of a
/// future that is long gone has the next one polled for nothing, once.
pub(crate) struct Driven {
    worker: Worker,
    woken: Arc<Woken>,
    waker: Waker,
}

impl Driven {
    pub(crate) fn new(worker: Worker) -> Self {
        let scheduler = worker.local.scheduler.clone();
        let woken = Arc::new(Woken { flag: AtomicBool::new(false), scheduler });
        Driven { worker, waker: Waker::from(Arc::clone(&woken)), woken }
    }

    /// Runs tasks on this thread until `future` is ready.
    pub(crate) fn run<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        let local = &self.worker.local;
        let _entered = Entered::new(local);
        let _recorded = SeatRecord::new(local);
        let mut cx = Context::from_waker(&self.waker);
        let mut poll = || coop::with_fresh_budget(|| future.as_mut().poll(&mut cx));
        loop {
            if let Poll::Ready(output) = poll() {
                return output;
            }
            self.step_until_woken();
        }
    }

    /// Until the future is to be polled: it has its turn when there is nothing else to run, as far as is known without
    /// a search, and after so many ticks at the latest; but for one step others come first.
    fn step_until_woken(&self) {
        let local = &self.worker.local;
        loop {
            for _ in 0..local.scheduler.config.ticks_per_look {
                let step = match local.step_here() {
                    None if self.woken.is_set() => break,
                    None => local.step_elsewhere(),
                    Some(step) => step,
                };
                if step != Step::Ran {
                    local.idle(|| self.woken.is_set());
                    break;
                }
            }
            if self.woken.take() {
                // It has found something, if no task.
                local.found();
                return local.rest();
            }
        }
    }
}

/// Wakes the future that a worker is run for, as if it were a task: by the idle protocol.
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

    /// Whether this is the thread that runs the worker: it will look before it sleeps.
    fn is_here(&self) -> bool {
        let is_it = |local: &Local| ptr::eq(local.scheduler.address(), self.scheduler.address());
        with_here(|local| local.is_some_and(is_it))
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: pairs with the Acquire in take(), which sees what each of those did who were first: a store would hide them.
        self.flag.swap(true, Ordering::Release);
        if !self.is_here() {
            self.scheduler.notify();
        }
    }
}
