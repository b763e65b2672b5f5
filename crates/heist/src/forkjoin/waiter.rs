//! The thread that waits for a job, and how it is woken.

use super::latch::Latch;
use super::wait::{run_unrelated, wait_until};
use crate::env::Parker;
use crate::scheduler::{self, Job, Origin, Scheduler, Worker, with_here, with_here_or_aside};
use std::sync::Arc;

/// How to wake a thread that waits for a job. It outlives the frame of the job.
#[derive(Clone)]
pub(super) enum Waiter {
    /// The thread parks here.
    Parked(Arc<Parker>),
    /// The worker with this number in a runtime with fixed threads, which sleeps on its seat.
    Seated(Scheduler, usize),
}

impl Waiter {
    /// For this thread, with its worker.
    pub(super) fn of(worker: &Worker) -> Self {
        match worker.is_fixed() {
            true => Waiter::Seated(worker.scheduler().clone(), worker.index()),
            false => Waiter::Parked(Arc::clone(worker.waiter())),
        }
    }

    /// For this thread, which is not a worker of the runtime whose job it waits for.
    pub(super) fn here() -> Self {
        thread_local! {
            static PARKER: Arc<Parker> = Arc::new(Parker::new());
        }
        let parker = || PARKER.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(Parker::new()));
        // A worker parks where direct jobs wake it too, even if it has stepped aside.
        with_here_or_aside(|worker| worker.map(Waiter::of))
            .unwrap_or_else(|| Waiter::Parked(parker()))
    }

    /// The parker, unless the thread sleeps on a seat.
    pub(super) fn parker(&self) -> Option<&Parker> {
        match self {
            Waiter::Parked(parker) => Some(parker),
            Waiter::Seated(..) => None,
        }
    }

    /// Wakes the thread, after the latch was set.
    pub(super) fn unpark(&self) {
        match self {
            Waiter::Parked(parker) => parker.unpark(),
            Waiter::Seated(scheduler, worker) => scheduler.wake_waiter(*worker),
        }
    }

    /// Waits until the latch is set, on the thread that is [`here`](Self::here). A worker of
    /// another runtime steps aside meanwhile; with fixed threads, it does its ordinary work. In
    /// both cases it runs direct jobs, because their sender may be what it waits for (J5).
    pub(super) fn wait(&self, latch: &Latch) {
        self.wait_and_help(latch, || None);
    }

    /// The same, and runs what `help` finds each time the thread is unparked.
    pub(super) fn wait_and_help(&self, latch: &Latch, help: impl Fn() -> Option<(Job, Origin)>) {
        self.wait_until(|| latch.is_set(), || latch.fall_asleep(), help);
    }

    /// Like [`wait_and_help`](Self::wait_and_help), until it `is_over`; see [`wait_until`].
    pub(super) fn wait_until(
        &self,
        is_over: impl Fn() -> bool,
        fall_asleep: impl Fn(),
        help: impl Fn() -> Option<(Job, Origin)>,
    ) {
        match self {
            Waiter::Parked(parker) => {
                let _aside = scheduler::step_aside().ok().flatten();
                fall_asleep();
                // (I7) A wait inside this one may have consumed its wake-up, so the condition
                // decides.
                while !is_over() {
                    if let Some((job, origin)) = help() {
                        job.run(None, origin);
                    } else if !run_direct_job() {
                        parker.park();
                    }
                }
            }
            Waiter::Seated(..) => with_here(|worker| {
                let worker = worker.expect("a worker with a seat does not step aside");
                wait_until(worker, is_over, fall_asleep, |_is_last_look| help());
            }),
        }
    }
}

/// Runs a direct job of this thread's worker. Returns whether there was one.
fn run_direct_job() -> bool {
    with_here_or_aside(|worker| {
        let Some(worker) = worker else { return false };
        if with_here(|here| here.is_none_or(|here| !std::ptr::eq(here, worker))) {
            return scheduler::run_direct_job_aside();
        }
        // It has not stepped aside, so what the job leaves behind comes to its deque.
        let job = worker.next_direct_job();
        job.map(|job| run_unrelated(worker, job, Origin::Here)).is_some()
    })
}
