//! The end of a shutdown: what is left is finished or dropped even if the thread that holds it is
//! stuck. `closing/README.md` specifies the protocol.
//!
//! A running job may wait for another one that lies in its own deque, or in the deque of a worker
//! that blocks as well (J5); and the drop of one task, closure or job may wait for that of another
//! (T9). No spare takes a seat any more. So sysmon calls *closers*: spare workers without a seat,
//! which run the jobs that they find, drop what is left, and end. Sysmon itself drops things only
//! if no thread can be started, because it must not get stuck.
//!
//! A runtime without a sysmon gets one for as long as something is left, because the threads of
//! such a runtime may never end.

use super::refused::one_after_the_other;
use super::shared::{Scheduler, Shared};
use super::sysmon::{STUCK_AFTER, Sysmon};
use super::worker;
use crate::env::Clock;
use crate::tuning::RECHECK;

/// The number of tasks and other things that have ended, and when it last changed.
struct Progress {
    ended: u64,
    at: Clock,
}

impl Sysmon {
    /// Has everything dropped that running polls and wakers leave behind: the thread that left
    /// something may wait for its drop, or hold a lock that the drop needs (T6). That thread wakes
    /// sysmon, and so does each worker that ends.
    pub(super) fn clear_away(self) {
        let watch = Watch(self.scheduler.clone());
        self.clear_away_as(watch);
    }

    fn clear_away_as(mut self, watch: Watch) {
        let mut watch = Some(watch);
        while let Some(watching) = watch {
            self.look_until_nothing_is_left();
            drop(watching);
            // A thread that has left something meanwhile has relied on it.
            self.scheduler.gather_queued();
            let is_needed = self.scheduler.left_to_cancel() > 0;
            watch = is_needed.then(|| Watch::begin(&self.scheduler)).flatten();
        }
    }

    fn look_until_nothing_is_left(&mut self) {
        let mut pause = RECHECK;
        let mut progress = Progress { ended: self.scheduler.ended_at_close(), at: Clock::now() };
        while !self.scheduler.is_all_over() {
            let has_tasks = self.look_at_tasks_left(&mut progress);
            let has_jobs = self.look_at_jobs_left();
            if !has_tasks && !self.scheduler.config.staffing.lends_seats() {
                return;
            }
            pause = if has_tasks || has_jobs { RECHECK } else { (pause * 2).min(STUCK_AFTER) };
            self.scheduler.alarm.wait(pause);
        }
    }

    /// Returns whether tasks are left. If none was cancelled for as long as a poll may take (L2),
    /// calls one more closer.
    fn look_at_tasks_left(&self, progress: &mut Progress) -> bool {
        self.scheduler.gather_queued();
        let (now, ended) = (Clock::now(), self.scheduler.ended_at_close());
        let has_tasks = self.scheduler.left_to_cancel() > 0;
        if !has_tasks || progress.ended != ended {
            *progress = Progress { ended, at: now };
        } else if now.since(progress.at) >= STUCK_AFTER {
            progress.at = now;
            if !self.scheduler.call_closer() {
                let mut cancel = || one_after_the_other(|| _ = self.scheduler.cancel_next());
                (self.scheduler.config.outside_of_tasks)(&mut cancel);
            }
        }
        has_tasks
    }

    /// Returns whether jobs are left. If fewer workers are at work on them than there were seats,
    /// calls one more closer.
    fn look_at_jobs_left(&mut self) -> bool {
        if !self.scheduler.has_jobs_to_share() {
            return false;
        }
        let now = Clock::now();
        let at_work = (0..self.watch_all()).filter(|worker| self.is_at_work(*worker, now)).count();
        if at_work < self.scheduler.seats.len() {
            let _ = self.scheduler.call_closer();
        }
        true
    }
}

impl Shared {
    /// The number of tasks that have ended, and of other things dropped since the close.
    fn ended_at_close(&self) -> u64 {
        self.ended() + self.leftovers.taken()
    }

    /// Whether there are jobs that another worker could take.
    fn has_jobs_to_share(&self) -> bool {
        let has_any =
            || !self.jobs.is_empty() || self.remotes.active().any(|remote| !remote.jobs.is_empty());
        self.config.staffing.lends_seats() && has_any()
    }

    /// Calls a closer, unless one is on its way. Returns `false` if no thread can be started; the
    /// next look tries again.
    pub(super) fn call_closer(&self) -> bool {
        if self.spares.is_closer_coming() {
            return true;
        }
        let Some(scheduler) = Scheduler::upgrade(&self.me) else { return false };
        let coming = scheduler.expect_closer();
        scheduler.start_thread(move |scheduler| scheduler.run_closer(coming))
    }

    /// Has sysmon look at something that is left, because another thread may wait for it. If there
    /// is no sysmon, starts a thread that acts as one.
    pub(super) fn tell_sysmon(&self) {
        match Watch::begin(self) {
            None => self.alarm.wake(),
            Some(watch) => {
                let scheduler = watch.0.clone();
                let begin = move |scheduler: &Scheduler| {
                    Sysmon::new(scheduler.clone()).clear_away_as(watch);
                };
                // If that fails, this thread may have to wait forever, or the one that ends next.
                let _ = scheduler.start_thread(begin);
            }
        }
    }
}

impl Scheduler {
    /// [`cancel_all`](Shared::cancel_all) on a thread of its own; if none can be started, here.
    pub(crate) fn cancel_all_elsewhere(&self, is_first: bool) {
        if !self.start_thread(move |scheduler| scheduler.cancel_all(is_first)) {
            self.cancel_all(is_first);
        }
    }

    /// Called by a runtime that has a sysmon from the start to the end.
    pub(crate) fn watched(&self) {
        self.leftovers.set_watched(true);
    }

    fn start_thread(&self, act: impl FnOnce(&Scheduler) + Send + 'static) -> bool {
        worker::outside(|| (self.config.start_thread)(self, Box::new(act)))
    }
}

/// While this exists, a sysmon looks at what is left, or is about to.
struct Watch(Scheduler);

impl Watch {
    /// Returns `None` if there is one already.
    fn begin(shared: &Shared) -> Option<Watch> {
        let is_watched = shared.leftovers.set_watched(true);
        if is_watched { None } else { Scheduler::upgrade(&shared.me).map(Watch) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.leftovers.set_watched(false);
    }
}

/// A closer that is on its way, until it is dropped.
struct Coming(Scheduler);

impl Scheduler {
    /// A closer will come.
    fn expect_closer(&self) -> Coming {
        self.spares.expect_closer(true);
        Coming(self.clone())
    }

    /// On the calling thread, runs the jobs and drops the tasks that are left, until it finds none.
    fn run_closer(&self, coming: Coming) {
        // Jobs on threads that were lent to the runtime are run nowhere else.
        let may_run_jobs = !self.config.staffing.is_fixed();
        let taken = may_run_jobs.then(|| self.spares.take_for_closer(self)).flatten();
        drop(coming);
        match taken {
            Some((number, worker)) => {
                worker.finish_jobs_of_all();
                self.spares.put_back(self, number, worker);
            }
            // There can be no more workers. Jobs wait for one of them; dropping needs none.
            None if self.one_more_has_begun() => {
                self.cancel_queued_in_turn();
                self.one_has_ended();
            }
            None => {}
        }
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.spares.expect_closer(false);
    }
}
