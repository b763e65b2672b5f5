//! A worker that waits for a job that others have.

use super::{Local, Step};
use crate::scheduler::jobs::{self, Job, Origin};
use crate::trace::EventKind;
use heist_deque::deque;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// For a worker that waits for a job.
impl Local {
    /// Runs a job, in the middle of another or of a poll perhaps.
    pub(crate) fn run_job(&self, job: Job, origin: Origin) {
        if origin == Origin::Here && job.is_framed() {
            self.hold_place();
        }
        self.counters.jobs.add(1);
        let victim = origin.victim().filter(|victim| *victim != self.index);
        let timed = victim.filter(|_| job.is_framed());
        if victim.is_some() {
            self.counters.stolen_jobs.add(1);
            // Who waits for it will come for what it divides into.
            self.with_deque(deque::Owner::share_next);
            if let Some(victim) = timed {
                self.jobs.backoff.begin(self.scheduler.remotes[victim].jobs.is_empty());
            }
        }
        let scribe = self.scribe.as_ref();
        scribe.inspect(|scribe| {
            scribe.note(EventKind::JobStart { is_stolen: origin != Origin::Here });
        });
        job.run(Some(self), origin);
        scribe.inspect(|scribe| scribe.note(EventKind::JobEnd));
        if timed.is_some() {
            self.jobs.backoff.end();
        }
    }

    /// A job of a frame further down on this worker's own stack was taken out of the deque, not by its frame.
    /// That must not take what comes to the same place next for its own: so something lies there, and on
    /// top of that.
    #[cold]
    fn hold_place(&self) {
        self.with_deque(|deque| (0..2).for_each(|_| deque.push(jobs::nothing())));
    }

    /// A job for this worker alone.
    pub(crate) fn next_call(&self) -> Option<Job> {
        self.remote().calls.pop().map(|(call, _)| call)
    }

    /// Whether there is such a job.
    #[inline]
    pub(crate) fn is_called(&self) -> bool {
        !self.remote().calls.is_empty()
    }

    /// Runs one of its own jobs that belongs to what it waits for.
    pub(crate) fn run_help(&self, job: Job) {
        if self.is_fixed() {
            // It may have searched meanwhile.
            self.go_on();
        }
        self.run_job(job, Origin::Here);
    }

    /// Offers a job that it has taken to all others; it comes back when the runtime goes down.
    pub(crate) fn offer(&self, job: Job, origin: Origin) -> Result<(), Job> {
        self.scheduler.jobs.push(job, origin)?;
        self.scheduler.notify_of_outside_job();
        Ok(())
    }

    /// Leaves a job of a join, which it has stolen, where the worker that has pushed it looks for it; for when the runtime goes down,
    /// and nobody is offered anything. If that worker does not come to wait for it, a closer finds it there.
    pub(crate) fn leave_to_owner(&self, job: Job, origin: Origin) {
        debug_assert!(job.is_framed(), "nobody need be left who waits for it");
        self.scheduler.jobs.leave(job, origin);
        if let Origin::Stolen(owner) = origin {
            self.wake_waiter(owner);
        }
    }

    /// It begins something that has nothing to do with what it is in the middle of; whether that is the first.
    pub(crate) fn begin_detour(&self) -> bool {
        let is_first = !self.jobs.is_on_detour.replace(true);
        if is_first {
            // Relaxed: who steals a job that is pushed from now on sees this, as what was done before the push (Q7).
            self.remote().detours.fetch_add(1, Ordering::Relaxed);
        }
        is_first
    }

    /// It is done with that, and nothing of it is in its deque.
    pub(crate) fn end_detour(&self) {
        self.jobs.is_on_detour.set(false);
        // Release: pairs with the Acquire in detours_of(): who sees this finds nothing of it in the deque.
        self.remote().detours.fetch_add(1, Ordering::Release);
    }

    /// How many beginnings and ends of detours there have been on this worker. `None` if it is on one: then what is in its
    /// deque may be none of what it is in the middle of (J3).
    pub(crate) fn detours_of(&self, worker: usize) -> Option<u32> {
        // Acquire: pairs with the Release in end_detour().
        let detours = self.scheduler.remotes[worker].detours.load(Ordering::Acquire);
        (detours % 2 == 0).then_some(detours)
    }

    /// Sleeps on its seat, unless it `is_over`, for about so long or until it is unparked by
    /// [`wake_waiter`](Self::wake_waiter).
    pub(crate) fn nap(&self, duration: Duration, is_over: impl Fn() -> bool) {
        if !is_over() && !self.is_called() {
            self.remote().waiter.park_lightly(Some(duration));
        }
    }

    /// Gives the seat away (L5), and sleeps until `is_over`, or there is a call, or the runtime goes down and did not when the
    /// caller looked for jobs; or `help` has found one, whenever it is unparked: nobody may have come in its place. To be unparked
    /// by [`wake_waiter`](Self::wake_waiter).
    pub(crate) fn sleep_aside(
        &self,
        was_going_down: bool,
        is_over: impl Fn() -> bool,
        help: impl Fn() -> Option<(Job, Origin)>,
    ) -> Option<(Job, Origin)> {
        let lends = self.lends_seats() && self.tick.get() % 2 == 0;
        if lends {
            self.leave_seat();
        }
        let is_disturbed =
            || is_over() || self.is_called() || self.is_going_down() != was_going_down;
        let found = loop {
            let found = help();
            // After that: it may have slept meanwhile, and been unparked for this.
            if found.is_some() || is_disturbed() {
                break found;
            }
            self.remote().waiter.park();
        };
        if lends {
            self.come_back();
            self.found();
            if self.jobs.is_at_one.get() {
                self.offer_seat();
            }
        }
        found
    }
}

/// For a worker that waits for a job, on a runtime where nobody stands in for it.
impl Local {
    /// Does one step of its ordinary work; `None` if the runtime goes down.
    pub(crate) fn step_while_waiting(&self) -> Option<Step> {
        // What runs now is in the middle of what waits.
        self.scribe.iter().for_each(|scribe| scribe.begin_pending());
        let was_waiting = self.jobs.is_waiting.replace(true);
        let step = self.step();
        self.jobs.is_waiting.set(was_waiting);
        debug_assert!(step != Step::Unseated, "a seat is lent though threads are fixed");
        (step != Step::Down).then_some(step)
    }

    /// Sleeps on its seat until there is something to do, or until it is woken by
    /// [`wake_waiter`](Self::wake_waiter) because it `is_over`.
    pub(crate) fn sleep_while_waiting(&self, is_over: impl Fn() -> bool) {
        self.idle(is_over);
    }

    /// It goes on with what it does: whoever looks for work is not this worker.
    pub(crate) fn go_on(&self) {
        self.found();
        self.next_tick();
    }
}
