//! What a worker does next: this file shows all of it. The parts of a worker that it calls are in
//! `worker/`.

use super::jobs::{Job, Origin};
use super::shared::Runnable;
use super::worker::{Entered, Found, Worker};
use crate::env::turns;
use crate::trace::PollSource;

/// What one step did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It ran a task or a job.
    Ran,
    /// It ran nothing, but something has come that goes before a search: the next step finds it.
    Again,
    /// There was nothing to run.
    Idle,
    /// The worker has lost its seat, so it may run nothing.
    Unseated,
    /// The runtime shuts down.
    Down,
}

/// What a step runs.
enum Work {
    Task(Runnable, PollSource),
    Pinned(Runnable),
    Job(Job, Origin),
}

impl Worker {
    /// Runs a base worker on the calling thread until the runtime shuts down. Calls `begin` before,
    /// and `end` afterwards.
    pub(crate) fn run(self, begin: impl FnOnce(), end: impl FnOnce()) {
        let entered = Entered::new(&self);
        begin();
        loop {
            match self.step() {
                Step::Ran | Step::Again => {}
                Step::Idle => self.park(|| false),
                Step::Unseated => {
                    if !self.come_home() {
                        break;
                    }
                }
                Step::Down => break,
            }
        }
        self.finish_jobs();
        self.finish_jobs_of_others();
        end();
        self.rest();
        // What tasks do when they are dropped below finds no worker here, and a closed runtime.
        drop(entered);
        self.me.scheduler.wake_all();
    }

    /// Runs a spare on this seat until it has nothing to do, loses the seat or the runtime shuts
    /// down. What is left in its queues then is given to others, or cancelled when it is dropped.
    pub(super) fn run_on(&self, seat: usize) {
        if !self.sit_down(seat) {
            return;
        }
        if self.is_borrower() {
            // The cores are busy with jobs. The thread keeps its short time slices when it leaves:
            // the next call may be of the same kind.
            turns::shorten();
        } else {
            turns::lengthen();
        }
        let entered = Entered::new(self);
        let is_down = loop {
            match self.step() {
                Step::Ran | Step::Again => {}
                Step::Idle if self.finds_while_waiting() => {}
                // The thread may be needed elsewhere, so it does not sleep on the seat.
                Step::Idle => _ = self.leave_seat(),
                Step::Unseated => break false,
                Step::Down => break true,
            }
        };
        if is_down {
            turns::lengthen();
            self.finish_jobs();
            self.finish_jobs_of_others();
            self.rest();
        }
        drop(entered);
        if is_down {
            self.me.scheduler.wake_all();
        } else {
            self.give_all_away();
        }
    }

    /// One tick: finds something to run, in the order of W1, and runs it. A step never sleeps (W7).
    pub(crate) fn step(&self) -> Step {
        self.step_unless(|| false)
    }

    /// The same; but if there is something `else_to_do`, the worker does not steal.
    #[inline(always)]
    pub(super) fn step_unless(&self, else_to_do: impl FnOnce() -> bool) -> Step {
        let work = match self.find(else_to_do) {
            Ok(work) => work,
            Err(step) => return step,
        };
        self.found();
        match work {
            Work::Task(task, source) => self.poll(task, source, &self.me.scheduler, Self::push),
            Work::Pinned(task) => self.poll(task, PollSource::Pinned, &self.me.pinned, Self::pin),
            Work::Job(job, origin) => self.run_between_tasks(job, origin),
        }
        Step::Ran
    }

    /// What the worker runs next. If there is nothing, the error says why.
    #[inline(always)]
    fn find(&self, else_to_do: impl FnOnce() -> bool) -> Result<Work, Step> {
        self.begin_step()?;
        self.queues.begin_step(&self.me);
        // 1. Now and then: the reactors, and the neighbour (F3, L3).
        self.turn_reactors_in_time();
        // 2. Now and then: a job, before all tasks, or these could keep jobs waiting forever (F3).
        if self.jobs.is_their_turn() {
            if let Some((job, origin)) = self.find_job_in_turn() {
                return Ok(Work::Job(job, origin));
            }
        }
        // 3. Its own tasks: the LIFO slot; then the ring, in turns with the pinned queue; then the
        //    inject queue, which goes first when its turn has come (L4, W5).
        if let Some(task) = self.queues.next_pinned(&self.me) {
            return Ok(Work::Pinned(task));
        }
        if let Some((task, source)) = self.queues.next(&self.me) {
            return Ok(Work::Task(task, source));
        }
        // 4. Its own jobs, and those from outside the workers.
        if let Some((job, origin)) = self.find_job() {
            return Ok(Work::Job(job, origin));
        }
        // 5. The reactors: what they bring is in its own queues then.
        if let Some((task, source)) = self.next_from_reactors() {
            return Ok(Work::Task(task, source));
        }
        if else_to_do() {
            return Err(Step::Idle);
        }
        // 6. Other workers, and once more the queues that all share (W6). From now on this worker
        //    is not stuck, however long it takes.
        self.begin_rest()?;
        // A pause comes before it counts as searching: meanwhile no worker is disturbed, and others
        // can be woken.
        if !self.pause_before_search() {
            return Err(Step::Again);
        }
        match self.search_others() {
            Some(Found::Task(task, source)) => Ok(Work::Task(task, source)),
            Some(Found::Job(job, origin)) => Ok(Work::Job(job, origin)),
            None => Err(Step::Idle),
        }
    }
}
