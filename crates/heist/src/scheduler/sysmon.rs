//! Sysmon: one thread that watches the workers' ticks, and takes the seat of a worker that is stuck
//! while work waits (L2). `seats/README.md` specifies how a seat changes hands, and
//! `sysmon/README.md` when sysmon acts.

mod alarm;
mod report;
#[cfg(all(test, not(loom)))]
mod tests;
mod watch;

pub(super) use alarm::Alarm;

use super::seats::Left;
use super::shared::{Scheduler, Shared};
use crate::env::{Activity, Clock};
use crate::trace::{self, EventKind};
use crate::tuning::{JOB_PATIENCE, RECHECK};
use std::time::Duration;
use watch::Watch;

/// A worker that has been in one poll for this long, while work waits, is stuck: the protocol
/// promises it (L2). So this is also the longest time between two looks.
pub(super) const STUCK_AFTER: Duration = Duration::from_millis(10);

/// The monitor of a runtime.
pub(crate) struct Sysmon {
    pub(super) scheduler: Scheduler,
    /// How long a worker may be in a poll, burning CPU, while something waits. `None`: stalls are
    /// not watched; then sysmon only cares for seats that no spare could be found for.
    threshold: Option<Duration>,
    watches: Vec<Watch>,
    /// Time until the next look.
    pause: Duration,
}

/// What a look at everything has found.
#[derive(Default)]
struct Looked {
    /// A worker has been in one poll since the last look, and it is too soon to call it stuck. A
    /// worker at a job does not count: a job may last, and each look takes from the core that it
    /// needs.
    is_anybody_suspect: bool,
    /// A worker has ended a poll since the last look, or begun one, or searches.
    does_anybody_move: bool,
    /// A worker is in a task.
    is_anybody_in_task: bool,
    does_work_wait: bool,
    /// Something else than jobs in deques waits. Those are no reason to take the seat of a worker
    /// that is at work on them.
    do_others_wait: bool,
}

impl Sysmon {
    pub(crate) fn new(scheduler: Scheduler) -> Self {
        let threshold = scheduler.config.stall.threshold;
        Sysmon { scheduler, threshold, watches: Vec::new(), pause: RECHECK }
    }

    /// Watches until the runtime goes down, and clears away then.
    pub(crate) fn run(mut self) {
        let _here = trace::enter(self.scheduler.recorder(), None);
        while !self.scheduler.is_down() {
            self.rest();
            let looked = self.look(Clock::now());
            self.pace(&looked);
        }
        self.clear_away();
    }

    /// Waits until the next look. A runtime that has done nothing for some looks is not looked at
    /// any more: it costs nothing (I5).
    fn rest(&mut self) {
        let limit = self.next_report(Clock::now());
        let may_sleep = || self.is_quiet() && !self.scheduler.is_down();
        let is_long_quiet = self.pause >= STUCK_AFTER && self.is_quiet();
        if is_long_quiet && self.scheduler.alarm.sleep(limit, may_sleep) {
            // A worker that has just begun cannot be stuck yet, and may need this core.
            self.doze(RECHECK);
            // It begins anew to count how long the runtime is quiet. Longer than the shortest
            // pause: if this look finds that work waits, pace() has another follow soon.
            self.pause = 2 * RECHECK;
        } else {
            self.doze(self.pause);
        }
    }

    /// Whether there is nothing to watch, and nothing left to report.
    fn is_quiet(&self) -> bool {
        let shared = &self.scheduler;
        if self.threshold.is_some() {
            return shared.idle.are_all_idle() && !self.has_stall_ended();
        }
        let is_any_unstaffed = shared.seats.iter().any(|seat| seat.is_unstaffed());
        let has_reactors = shared.config.reactors.is_some();
        !is_any_unstaffed
            && !shared.needs_borrower()
            && (!has_reactors || shared.idle.are_all_idle())
    }

    /// Sleeps. Events for vacant seats, or for those whose workers are at jobs, are delivered at
    /// once. The workers are not looked at before the time has come: between two looks they must
    /// have had the time to move.
    fn doze(&self, pause: Duration) {
        let (since, shared) = (Clock::now(), &self.scheduler);
        let mut left = Some(pause);
        while let Some(next) = left {
            let is_woken = shared.alarm.doze(next, |seat| self.is_left_alone(seat));
            self.turn_reactors();
            let passed = Clock::now().since(since);
            left = pause.checked_sub(passed).filter(|left| !left.is_zero() && !is_woken);
        }
    }

    fn is_left_alone(&self, seat: usize) -> bool {
        self.scheduler.seats[seat].ignores_tasks()
    }

    /// What they bring is work that waits (L3).
    fn turn_reactors(&self) {
        let reactors = self.scheduler.config.reactors.iter();
        let is_left_alone = |seat: usize| self.is_left_alone(seat);
        let call_later = |waker| self.scheduler.call_later(waker);
        reactors.for_each(|it| it.turn_neglected(RECHECK, is_left_alone, call_later));
    }

    /// While something waits, two looks follow each other soon: a worker that has not moved between
    /// them is stuck. Not while all are at jobs, and only other jobs of theirs wait: each look
    /// takes from the core that those need.
    fn pace(&mut self, looked: &Looked) {
        let is_urgent = looked.do_others_wait || looked.is_anybody_in_task;
        self.pause = match (looked.does_work_wait, looked.is_anybody_suspect) {
            (true, true) => RECHECK,
            (true, false) if is_urgent && self.pause > RECHECK => RECHECK,
            (true, false) => STUCK_AFTER,
            (false, _) => (self.pause * 2).min(STUCK_AFTER),
        };
    }

    fn look(&mut self, now: Clock) -> Looked {
        let do_others_wait = self.do_others_wait();
        let does_work_wait = do_others_wait || self.scheduler.has_work();
        let mut looked = Looked { does_work_wait, do_others_wait, ..Looked::default() };
        if let Some(threshold) = self.threshold {
            self.look_at_workers(now, threshold, &mut looked);
        }
        if self.scheduler.has_tasks() && !self.scheduler.idle.is_any_idle() {
            self.scheduler.lend_a_seat();
        }
        // Without work no spare is called: the seat is vacant again, and idle.
        if !looked.does_work_wait || !self.scheduler.idle.is_any_idle() {
            (0..self.scheduler.seats.len()).for_each(|seat| self.scheduler.try_to_staff(seat));
        }
        looked
    }

    fn look_at_workers(&mut self, now: Clock, threshold: Duration, looked: &mut Looked) {
        self.watch_all();
        self.end_stalls(now);
        let seats = 0..self.scheduler.seats.len();
        let stuck: Vec<_> = seats.filter_map(|seat| self.look_at(seat, now, looked)).collect();
        for (seat, worker) in stuck {
            self.deal_with(seat, worker, now, threshold, looked);
        }
        (0..self.scheduler.seats.len()).for_each(|seat| self.look_at_lender(seat, now, threshold));
        self.report_stalls(now, threshold);
    }

    /// How many workers there may be, each of which has a watch.
    pub(super) fn watch_all(&mut self) -> usize {
        let workers = self.scheduler.remotes.count();
        if self.watches.len() < workers {
            self.watches.resize_with(workers, Watch::default);
        }
        workers
    }

    /// Whether it does something, as far as can be seen, and does not leave its jobs alone.
    pub(super) fn is_at_work(&mut self, worker: usize, now: Clock) -> bool {
        let (remote, watch) = (&self.scheduler.remotes[worker], &mut self.watches[worker]);
        let is_stuck = watch.is_stuck(remote, now);
        let is_busy = watch.tick() % 2 == 0;
        let leaves_jobs = !remote.jobs.is_empty() && watch.leaves_jobs_for(now) >= STUCK_AFTER;
        is_busy && !(is_stuck && (leaves_jobs || watch.activity(remote, now) == Activity::Blocked))
    }

    fn do_others_wait(&self) -> bool {
        let shared = &self.scheduler;
        shared.has_work_but_in_deques() || shared.seats.iter().any(|seat| seat.is_recalled())
    }

    /// The worker that holds the seat, if it has been in one poll since the last look.
    fn look_at(&mut self, seat: usize, now: Clock, looked: &mut Looked) -> Option<(usize, usize)> {
        let worker = self.scheduler.seats[seat].holder()?;
        let remote = &self.scheduler.remotes[worker];
        let is_stuck = self.watches.get_mut(worker)?.is_stuck(remote, now);
        looked.does_anybody_move |= !is_stuck;
        let watch = &self.watches[worker];
        let is_at_job = self.scheduler.seats[seat].is_at_job();
        looked.is_anybody_in_task |= watch.tick() % 2 == 0 && !is_at_job;
        is_stuck.then_some((seat, worker))
    }

    /// A worker that has lent its seat for tasks is not seen on it. If it is stuck in its job, no
    /// worker takes its other jobs (J5).
    fn look_at_lender(&mut self, seat: usize, now: Clock, threshold: Duration) {
        let shared = &self.scheduler;
        let Some(worker) = shared.seats[seat].lender() else { return };
        let (remote, Some(watch)) = (&shared.remotes[worker], self.watches.get_mut(worker)) else {
            return;
        };
        if watch.is_stuck(remote, now) {
            let is_over = watch.duration(now) >= threshold.saturating_mul(JOB_PATIENCE);
            let activity = watch.activity(remote, now);
            if is_over || activity == Activity::Blocked {
                let report = report::new(shared, seat, worker, activity);
                shared.seats[seat].end_lending(worker);
                // Another worker holds it already.
                watch.report.get_or_insert(report).lost_seat = true;
            }
        }
    }

    fn deal_with(
        &mut self,
        seat: usize,
        worker: usize,
        now: Clock,
        threshold: Duration,
        looked: &mut Looked,
    ) {
        let shared = &self.scheduler;
        let (remote, watch) = (&shared.remotes[worker], &mut self.watches[worker]);
        // One more thread would not make jobs faster that wait for others that burn CPU. Tasks do
        // not wait for jobs, see lend_a_seat().
        let is_recalled = shared.seats[seat].is_recalled();
        let is_patient = shared.seats[seat].is_at_job() && !is_recalled;
        let patience = if is_patient { JOB_PATIENCE } else { 1 };
        let is_over = watch.duration(now) >= threshold.saturating_mul(patience);
        looked.is_anybody_suspect |= !is_over && !is_patient;
        let has_task = remote.own.lifo.has_task();
        let only_jobs_wait = !has_task && !looked.do_others_wait;
        let still = watch.leaves_jobs_for(now);
        if only_jobs_wait && (!looked.does_work_wait || still.is_zero()) {
            // Nothing waits for it, or it is at work on what does. What its thread does is read
            // from files, which costs as much as many looks.
            return;
        }
        let activity = watch.activity(remote, now);
        let is_blocked = activity == Activity::Blocked;
        let leaves_jobs = !remote.jobs.is_empty() && still >= threshold.saturating_mul(patience);
        if only_jobs_wait && !is_blocked && !leaves_jobs {
            return;
        }
        if has_task && (is_blocked || is_over) {
            // No worker is woken for it, and it waits behind the poll.
            shared.empty_slot(worker);
        }
        let does_nobody_take = || is_recalled || !looked.does_anybody_move || watch.is_left_alone();
        let is_any_idle = shared.idle.is_any_idle();
        if is_any_idle && !remote.stealer.is_empty() {
            // The worker may have called nobody for them, because it expected to be done soon.
            shared.notify();
        }
        // An idle seat is enough, because it has been woken; but not for a base worker that waits
        // for this one.
        let is_wanted = shared.config.staffing.lends_seats()
            && (is_recalled || !is_any_idle)
            && (is_blocked || is_over && does_nobody_take());
        // Before the seat is lent: what waits is gone at once then.
        let report = (is_wanted || is_over).then(|| report::new(shared, seat, worker, activity));
        let is_robbed = is_wanted && shared.rob_seat(seat, worker, watch.tick());
        if let Some(report) = report.filter(|_| is_robbed || is_over) {
            watch.report.get_or_insert(report).lost_seat |= is_robbed;
        }
        if is_robbed {
            remote.counters.seat_losses.add(1);
        }
    }
}

impl Scheduler {
    /// Takes the seat from a worker that has been in one poll since it had this tick, if it still
    /// is; whether it was.
    pub(super) fn rob_seat(&self, seat: usize, worker: usize, tick: u32) -> bool {
        let own = &self.remotes[worker].own;
        match self.seats[seat].rob(worker as u32, || own.is_stuck_since(tick)) {
            Left::Vacant => {
                self.reactor_left(seat);
                self.put_to_sleep(seat, false, || self.has_work());
            }
            // The seat's base worker or the lender already holds the seat. The lender is at its
            // job, so tasks that wait need another seat.
            Left::Handed if self.has_tasks() => self.lend_a_seat(),
            Left::Handed => {}
            Left::Kept | Left::Lost => return false,
        }
        self.record(|| EventKind::SeatRobbed { seat: seat as u16, from: worker as u16 });
        // The worker puts nothing into its slot any more that it would not take out again; what it
        // put there before is visible behind the barrier.
        if self.barrier.heavy() {
            self.empty_slot(worker);
        }
        true
    }

    /// Moves the task in the slot of a stuck worker to where others look for it.
    fn empty_slot(&self, worker: usize) {
        if let Some(task) = self.remotes[worker].own.empty_lifo() {
            self.inject(task);
        }
    }
}

impl Shared {
    /// Retries a seat for which no spare was found.
    pub(super) fn try_to_staff(&self, seat: usize) {
        if self.seats[seat].try_again() {
            self.reactor_left(seat);
            self.put_to_sleep(seat, false, || self.has_work());
        }
    }
}
