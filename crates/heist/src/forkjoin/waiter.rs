//! Who waits for a job, and how that one is woken.

use super::latch::Latch;
use super::wait::{make_detour, wait_until};
use crate::env::Parker;
use crate::scheduler::{self, Job, Local, Origin, Scheduler, with_here, with_here_or_aside};
use std::sync::Arc;

/// A thread that waits for a job, as whoever runs the job sees it. It outlives the frame of the job.
#[derive(Clone)]
pub(super) enum Waiter {
    /// It sleeps here.
    Parked(Arc<Parker>),
    /// It is a worker of a runtime with fixed threads, and sleeps on its seat.
    Seated(Scheduler, usize),
}

impl Waiter {
    /// The worker of this thread.
    pub(super) fn of(local: &Local) -> Self {
        match local.is_fixed() {
            true => Waiter::Seated(local.scheduler().clone(), local.index()),
            false => Waiter::Parked(Arc::clone(local.waiter())),
        }
    }

    /// This thread, which waits for a job of a runtime that it is no worker of.
    pub(super) fn here() -> Self {
        thread_local! {
            static PARKER: Arc<Parker> = Arc::new(Parker::new());
        }
        let parker = || PARKER.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(Parker::new()));
        // Where a worker sleeps it is found by calls, too, also if it has stepped aside.
        with_here_or_aside(|local| local.map(Waiter::of))
            .unwrap_or_else(|| Waiter::Parked(parker()))
    }

    /// Where it sleeps, if not on a seat.
    pub(super) fn parker(&self) -> Option<&Parker> {
        match self {
            Waiter::Parked(parker) => Some(parker),
            Waiter::Seated(..) => None,
        }
    }

    /// For who has set the latch.
    pub(super) fn unpark(&self) {
        match self {
            Waiter::Parked(parker) => parker.unpark(),
            Waiter::Seated(scheduler, worker) => scheduler.wake_waiter(*worker),
        }
    }

    /// For the thread that is [`here`](Self::here): waits until the latch is set. A worker of another
    /// runtime lets others run in its place meanwhile, or else runs what there is. Its part of a broadcast it runs in any case: the
    /// sender may be what it waits for (J5).
    pub(super) fn wait(&self, latch: &Latch) {
        self.wait_and_help(latch, || None);
    }

    /// The same for who runs jobs itself, whenever it was unparked and `help` has found one.
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
                // (I7) A wait inside of this one may have consumed its wake-up, so the condition
                // decides.
                while !is_over() {
                    if let Some((job, origin)) = help() {
                        job.run(None, origin);
                    } else if !answer_call() {
                        parker.park();
                    }
                }
            }
            Waiter::Seated(..) => with_here(|local| {
                let local = local.expect("a worker with a seat does not step aside");
                wait_until(local, is_over, fall_asleep, |_is_last_look| help());
            }),
        }
    }
}

/// Runs a part of a broadcast that the worker of this thread is called for; whether there was one.
fn answer_call() -> bool {
    with_here_or_aside(|local| {
        let Some((local, call)) = local.and_then(|local| Some((local, local.next_call()?))) else {
            return false;
        };
        match with_here(|here| here.is_some_and(|here| std::ptr::eq(here, local))) {
            // It has not stepped aside, and what is left behind would come to its deque.
            true => make_detour(local, call, Origin::Here),
            false => scheduler::outside(|| call.run(None, Origin::Here)),
        }
        true
    })
}
