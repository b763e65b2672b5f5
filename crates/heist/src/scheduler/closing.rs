//! Jobs that are under way when the runtime goes down. Who blocks in one may wait for another that lies in its own deque, or
//! in that of somebody who blocks as well (J5), and nobody sits down in its place any more. So sysmon has *closers* come:
//! spare workers without a seat, which run what they find in the deques, and end.

use super::shared::{Scheduler, Shared};
use super::sysmon::Sysmon;
use super::worker;
use crate::env::Clock;
use std::time::Duration;

/// From one look to the next while jobs are left. Guessed, as is the other.
const SOON: Duration = Duration::from_millis(1);
/// After so long at most, when none was: a poll that goes on may come to begin one.
const LATER: Duration = Duration::from_millis(100);

impl Sysmon {
    /// Drops what polls that are going on, and whoever wakes a task, leave behind: who left it may wait for that,
    /// or hold a lock that it needs (T6). They wake sysmon; so does each worker that ends.
    pub(super) fn clear_away(&mut self) {
        let mut pause = SOON;
        while !self.scheduler.is_all_over() {
            self.scheduler.cancel_queued_in_turn();
            pause = if self.look_at_jobs_left() { SOON } else { (pause * 2).min(LATER) };
            self.scheduler.alarm.wait(pause);
        }
    }

    /// Whether there are any. If fewer are at work on them than there were seats, one more comes.
    fn look_at_jobs_left(&mut self) -> bool {
        if !self.scheduler.has_jobs_to_share() {
            return false;
        }
        let now = Clock::now();
        let at_work = (0..self.watch_all()).filter(|worker| self.is_at_work(*worker, now)).count();
        if at_work < self.scheduler.seats.len() {
            self.scheduler.call_closer();
        }
        true
    }
}

impl Shared {
    /// Whether there are jobs that another worker could take.
    fn has_jobs_to_share(&self) -> bool {
        let has_any =
            || !self.jobs.is_empty() || self.remotes.active().any(|remote| !remote.jobs.is_empty());
        self.config.lends_seats() && has_any()
    }

    /// Unless one is on its way.
    fn call_closer(&self) {
        if let Some(scheduler) =
            Scheduler::upgrade(&self.me).filter(|_| !self.spares.is_late_one_coming())
        {
            // If no thread can be started, the next look tries again.
            worker::outside(|| (self.config.call_closer)(&scheduler));
        }
    }
}

/// A closer that is on its way, until it is dropped.
pub(crate) struct Coming(Scheduler);

impl Scheduler {
    /// A closer will come.
    pub(crate) fn expect_closer(&self) -> Coming {
        self.spares.expect_late_one(true);
        Coming(self.clone())
    }

    /// Runs, on the calling thread, what jobs are left, until it finds none.
    pub(crate) fn run_closer(&self, coming: Coming) {
        let taken = self.spares.take_late(self);
        drop(coming);
        if let Some((number, worker)) = taken {
            worker.finish_jobs_of_all();
            self.spares.put_back(self, number, worker);
        }
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.spares.expect_late_one(false);
    }
}
