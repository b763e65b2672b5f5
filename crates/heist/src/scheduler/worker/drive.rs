//! A worker without a thread of its own: a thread that waits for a future runs it.

use super::seat::WokenAside;
use super::{Entered, Me, Worker, run_direct_job_aside, with_here};
use crate::scheduler::run_loop::Step;
use crate::scheduler::shared::Scheduler;
use crate::task::{Prompt, coop, prompt_waker};
use crate::trace::EventKind;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

/// A worker that one thread or another runs now and then, and what it is woken by. The waker is the
/// same each time: the waker of an earlier future causes one useless poll of the next one.
pub(crate) struct Driven {
    worker: Worker,
    woken: Arc<Woken>,
    waker: Waker,
}

impl Driven {
    pub(crate) fn new(worker: Worker) -> Self {
        let scheduler = worker.me.scheduler.clone();
        let woken = Arc::new(Woken { flag: AtomicBool::new(false), scheduler });
        Driven { worker, waker: prompt_waker(Arc::clone(&woken)), woken }
    }

    /// Runs tasks on this thread until `future` is ready.
    pub(crate) fn run<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        let _entered = Entered::new(&self.worker);
        let _recorded = SeatRecord::new(&self.worker.me);
        let _woken = WokenAside::by(&self.waker);
        let mut cx = Context::from_waker(&self.waker);
        let mut poll = || coop::with_fresh_budget(|| future.as_mut().poll(&mut cx));
        loop {
            // A worker of another runtime that has stepped aside for this has its part in
            // broadcasts (J5).
            while run_direct_job_aside() {}
            if let Poll::Ready(output) = poll() {
                return output;
            }
            self.step_until_woken();
        }
    }

    /// Leaves the worker's jobs to the threads that drop the leftovers. Called after the close.
    pub(crate) fn leave_jobs(&self) {
        self.worker.leave_jobs();
    }

    /// Runs tasks until the future is to be polled. It has its turn when there is nothing else to
    /// run, as far as is known without a search, and at the latest after a number of ticks; but at
    /// least one step comes first.
    fn step_until_woken(&self) {
        let worker = &self.worker;
        loop {
            for _ in 0..worker.me.scheduler.config.ticks_per_look {
                match worker.step_unless(|| self.woken.is_set()) {
                    Step::Ran | Step::Again => {}
                    Step::Idle | Step::Unseated | Step::Down => {
                        worker.park(|| self.woken.is_set());
                        break;
                    }
                }
            }
            if self.woken.take() {
                // It has found something, even if that is no task.
                worker.found();
                return worker.rest();
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
        // Acquire: pairs with the Release in wake().
        self.is_set() && self.flag.swap(false, Ordering::Acquire)
    }

    fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Whether this is the thread that runs the worker: it will look before it sleeps.
    fn is_here(&self) -> bool {
        with_here(|worker| worker.is_some_and(|worker| worker.is_of(&self.scheduler)))
    }
}

impl Prompt for Arc<Woken> {
    fn wake(&self) {
        // Release: pairs with the Acquire in take(), which sees what every waker did before. A
        // store would hide what earlier ones did.
        self.flag.swap(true, Ordering::Release);
        if !self.is_here() {
            self.scheduler.notify();
        }
    }
}

/// Records that the worker has its seat while a thread runs it.
struct SeatRecord<'a>(&'a Me);

impl<'a> SeatRecord<'a> {
    fn new(me: &'a Me) -> Self {
        me.record(|| EventKind::SeatTaken { seat: me.seat_index() as u16 });
        SeatRecord(me)
    }
}

impl Drop for SeatRecord<'_> {
    fn drop(&mut self) {
        self.0.record(|| EventKind::SeatLeft { seat: self.0.seat_index() as u16 });
    }
}
