//! What is left when the runtime goes down, and the thread that has it is stuck.
//!
//! A job that is under way may wait for another that lies in its own deque, or in that of a worker
//! that blocks as well (J5); and the drop of one task, closure or job may wait for that of another
//! (T9). Nobody sits down in place of a worker any more. So sysmon has *closers* come: spare
//! workers without a seat, which run the jobs that they find, drop what is left, and end. Sysmon
//! itself drops things only where no thread can be started: it must not get stuck.
//!
//! A runtime that has no sysmon gets one when something is left, and as long as there is something:
//! the threads of such a runtime may never end.

use super::refused::one_after_the_other;
use super::shared::{Scheduler, Shared};
use super::sysmon::{STUCK_AFTER, Sysmon};
use super::worker;
use crate::env::Clock;
use crate::tuning::RECHECK;

/// When the number of tasks and other things that have ended changed last.
struct Progress {
    ended: u64,
    at: Clock,
}

impl Sysmon {
    /// Sees to it that what polls that are going on, and wakers, leave behind is dropped: whoever
    /// left it may wait for that, or hold a lock that it needs (T6). They wake sysmon; so does each
    /// worker that ends.
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

    /// Returns whether there are any. If none was cancelled for as long as a poll may take (L2),
    /// one more thread comes.
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

    /// Whether there are any. If fewer are at work on them than there were seats, one more comes.
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
    /// How many tasks have ended, and what else was dropped since the close.
    fn ended_at_close(&self) -> u64 {
        self.ended() + self.leftovers.taken()
    }

    /// Whether there are jobs that another worker could take.
    fn has_jobs_to_share(&self) -> bool {
        let has_any =
            || !self.jobs.is_empty() || self.remotes.active().any(|remote| !remote.jobs.is_empty());
        self.config.staffing.lends_seats() && has_any()
    }

    /// Has one come, unless one is on its way; `false` if no thread can be started. The next look
    /// tries again.
    pub(super) fn call_closer(&self) -> bool {
        if self.spares.is_closer_coming() {
            return true;
        }
        let Some(scheduler) = Scheduler::upgrade(&self.me) else { return false };
        let coming = scheduler.expect_closer();
        scheduler.start_thread(move |scheduler| scheduler.run_closer(coming))
    }

    /// Something is left that another thread may wait for: sysmon looks at it. If there is none, a
    /// thread is started to be one.
    pub(super) fn tell_sysmon(&self) {
        match Watch::begin(self) {
            None => self.alarm.wake(),
            Some(watch) => {
                let scheduler = watch.0.clone();
                let begin = move |scheduler: &Scheduler| {
                    Sysmon::new(scheduler.clone()).clear_away_as(watch);
                };
                // If that fails, this thread may have to wait forever, or whoever ends next.
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

    /// There is a sysmon, from the start to the end.
    pub(crate) fn watched(&self) {
        self.leftovers.set_watched(true);
    }

    fn start_thread(&self, act: impl FnOnce(&Scheduler) + Send + 'static) -> bool {
        worker::outside(|| (self.config.start_thread)(self, Box::new(act)))
    }
}

/// Sysmon sees to what is left, or will, until this is dropped.
struct Watch(Scheduler);

impl Watch {
    /// Returns `None` if it does already.
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

    /// Runs what jobs are left and drops what tasks are, on the calling thread, until it finds
    /// none.
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
            // There are as many workers as there may be: jobs wait for one of them, what is to be
            // dropped needs none.
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
