//! A worker's jobs: its deque, and when jobs have their turn. What joins, scopes and broadcasts do
//! with them is in `forkjoin`.

use super::count_cache::CountCache;
use super::{Entered, Worker};
use crate::env::{Parker, turns};
use crate::memory::Arena;
use crate::scheduler::jobs::{Job, Origin};
use crate::scheduler::refused::Late;
use crate::scheduler::run_loop::Step;
use crate::trace::EventKind;
use crate::tuning::{FALSE_ALARMS, TICK_INTERVAL};
use heist_deque::deque::{self, Pushed};
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;

/// What a worker keeps of its jobs.
pub(in crate::scheduler) struct Jobs {
    deque: UnsafeCell<deque::Owner<Job>>,
    /// Memory for the jobs of scopes.
    arena: Arena,
    count_cache: CountCache,
    /// Number of pushes for which the bell has rung though no worker was free.
    false_alarms: Cell<u32>,
    /// Number of ticks until it is a job's turn.
    until_turn: Cell<u32>,
    /// Whether the worker runs one between two tasks.
    is_at_one: Cell<bool>,
    /// Whether its steps are part of a wait for a job, as on fixed threads.
    is_waiting: Cell<bool>,
}

impl Jobs {
    pub(super) fn new(deque: deque::Owner<Job>) -> Self {
        Jobs {
            deque: UnsafeCell::new(deque),
            arena: Arena::new(),
            count_cache: CountCache::new(),
            false_alarms: Cell::new(0),
            until_turn: Cell::new(TICK_INTERVAL),
            is_at_one: Cell::new(false),
            is_waiting: Cell::new(false),
        }
    }

    /// Whether a job goes before the tasks this time (F3). To be asked once a tick. It is rarely
    /// so: tasks are many and short, and the thread that waits for one wants it soon.
    #[inline]
    pub(in crate::scheduler) fn is_their_turn(&self) -> bool {
        let left = self.until_turn.get() - 1;
        self.until_turn.set(if left == 0 { TICK_INTERVAL } else { left });
        left == 0
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting.get()
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn is_at_one(&self) -> bool {
        self.is_at_one.get()
    }
}

/// The deque, for `forkjoin`.
impl Worker {
    /// A pointer to its deque, for joins.
    #[inline(always)]
    pub(crate) fn deque_ptr(&self) -> deque::OwnerPtr<Job> {
        // SAFETY: (W10) used by its own thread alone, and borrowed exclusively by with_deque()
        // only, which does not call this.
        unsafe { &*self.jobs.deque.get() }.owner_ptr()
    }

    /// `f` calls nothing that could come back here: what is in the deque are pointers.
    #[inline(always)]
    pub(crate) fn with_deque<R>(&self, f: impl FnOnce(&mut deque::Owner<Job>) -> R) -> R {
        // SAFETY: (W10) a worker is reached by its own thread alone, and no two calls of this
        // overlap.
        f(unsafe { &mut *self.jobs.deque.get() })
    }

    /// Does the rest of a push: a job was pushed, or has still to be.
    #[cold]
    #[inline(never)]
    pub(crate) fn finish_push(&self, pushed: Pushed<Job>) {
        match pushed {
            Pushed::Done => return,
            Pushed::Flagged => {}
            Pushed::Full(job) => self.with_deque(|deque| deque.push(job)),
        }
        if self.is_anybody_free_for_jobs() {
            // The worker that is woken finds the job public. Otherwise it would have to ask for it,
            // and if the owner does not answer, have the kernel interrupt it.
            self.with_deque(deque::Owner::share);
            self.me.scheduler.wake_for_job();
        }
    }

    /// A thief has asked, or the bell has rung for a push. Returns whether a worker is free to come
    /// for it. If none is, silences the bell when that pays.
    fn is_anybody_free_for_jobs(&self) -> bool {
        let is_bell = self.with_deque(|deque| deque.finish_push());
        if !is_bell {
            return false;
        }
        let silence = || {
            self.with_deque(|deque| {
                // Forgetting a nudge costs no kernel call.
                let pays = !deque.rings() || self.does_silence_pay();
                if pays {
                    deque.silence();
                }
                pays
            })
        };
        let ring = || _ = self.with_deque(|deque| deque.ring());
        self.me.scheduler.idle.is_anybody_free_for_bell(silence, ring)
    }

    /// The bell has rung while no worker was free. Returns whether it is to be silenced.
    fn does_silence_pay(&self) -> bool {
        let alarms = self.jobs.false_alarms.get();
        let pays = self.me.scheduler.idle.is_sleep_dear() || alarms >= FALSE_ALARMS;
        self.jobs.false_alarms.set(if pays { 0 } else { alarms + 1 });
        pays
    }

    /// Memory for the jobs that are pushed here.
    #[inline(always)]
    pub(crate) fn arena(&self) -> &Arena {
        &self.jobs.arena
    }

    /// Returns where it counts the jobs of this scope, if it does.
    #[inline(always)]
    pub(crate) fn count_cache_of(&self, scope: *const ()) -> Option<&CountCache> {
        if self.jobs.count_cache.is_of(scope) { Some(&self.jobs.count_cache) } else { None }
    }

    /// Takes back the newest job. The caller knows that the joins are over that have pushed what is
    /// here, or that the newest is newer than what one of them has.
    pub(super) fn pop_job(&self) -> Option<Job> {
        self.with_deque(deque::Owner::pop)
    }

    /// Where it sleeps while it waits for a job, if it gives its seat away for that.
    pub(crate) fn waiter(&self) -> &Arc<Parker> {
        &self.me.remote().waiter
    }

    /// Takes a job that is for this worker alone.
    pub(crate) fn next_direct_job(&self) -> Option<Job> {
        self.me.remote().direct_jobs.pop().map(|(job, _)| job)
    }

    /// Returns whether there is such a job.
    #[inline]
    pub(crate) fn has_direct_job(&self) -> bool {
        !self.me.remote().direct_jobs.is_empty()
    }
}

/// For a worker that runs a job, or waits for one.
impl Worker {
    /// Runs a job, perhaps in the middle of another one or of a poll.
    #[inline]
    pub(crate) fn run_job(&self, job: Job, origin: Origin) {
        self.me.counters.jobs.add(1);
        let is_timed = match origin {
            Origin::Stolen(victim) if victim != self.me.index => self.begin_stolen(&job, victim),
            _ => false,
        };
        if let Some(scribe) = &self.me.scribe {
            scribe.note(EventKind::JobStart { is_stolen: origin != Origin::Here });
        }
        job.run(Some(self), origin);
        if let Some(scribe) = &self.me.scribe {
            scribe.note(EventKind::JobEnd);
        }
        if is_timed {
            self.end_theft();
        }
    }

    /// Counts a job that was stolen. Returns whether it is timed, as those of joins are.
    fn begin_stolen(&self, job: &Job, victim: usize) -> bool {
        self.me.counters.stolen_jobs.add(1);
        // The job's waiter comes for what it divides into.
        self.with_deque(deque::Owner::share_next);
        if job.is_stack_job() {
            self.begin_theft(victim);
        }
        job.is_stack_job()
    }

    /// For a worker with fixed threads, which waits for a job: does one step of its ordinary work.
    /// Returns `None` if the runtime shuts down.
    pub(crate) fn step_while_waiting(&self) -> Option<Step> {
        // What runs now is part of the wait.
        if let Some(scribe) = &self.me.scribe {
            scribe.begin_pending();
        }
        let was_waiting = self.jobs.is_waiting.replace(true);
        let step = self.step();
        self.jobs.is_waiting.set(was_waiting);
        debug_assert!(step != Step::Unseated, "a seat is lent though threads are fixed");
        (step != Step::Down).then_some(step)
    }

    /// The worker continues with the job that it is at, after steps of ordinary work: it no longer
    /// searches.
    pub(crate) fn go_on(&self) {
        self.found();
        self.next_tick();
    }

    /// The worker continues with the job that it is at, after a wait without its seat.
    pub(super) fn offer_seat_again(&self) {
        if self.jobs.is_at_one.get() {
            self.offer_seat();
        }
    }
}

/// For a worker between two tasks.
impl Worker {
    /// Whether it runs jobs: not on a seat that is borrowed from a worker that is at one.
    #[inline]
    pub(super) fn takes_jobs(&self) -> bool {
        !self.is_borrower()
    }

    /// Takes a job that does not have to be stolen, if there is one (W1).
    pub(in crate::scheduler) fn find_job(&self) -> Option<(Job, Origin)> {
        if !self.takes_jobs() {
            return None;
        }
        // Mostly there is none.
        let own = if self.with_deque(|deque| deque.is_empty()) { None } else { self.pop_job() };
        let own = own.or_else(|| self.next_direct_job()).map(|job| (job, Origin::Here));
        own.or_else(|| self.me.scheduler.jobs.pop())
    }

    /// Takes a job though tasks wait. If there is none here, takes one from another worker, which
    /// may be stuck: while all have tasks, no worker searches (F3).
    pub(in crate::scheduler) fn find_job_in_turn(&self) -> Option<(Job, Origin)> {
        let found = self.find_job();
        if found.is_some() || !self.takes_jobs() || self.is_per_core() {
            return found;
        }
        let victim = self.any_with_jobs()?;
        Some((self.me.scheduler.steal_job_of(victim)?, Origin::Stolen(victim)))
    }

    /// Runs a job, and more as long as a new step would find more.
    pub(in crate::scheduler) fn run_between_tasks(&self, job: Job, first: Origin) {
        if self.is_spare() {
            turns::lengthen();
        }
        self.me.remote().own.running.clear();
        self.jobs.is_at_one.set(true);
        self.offer_seat();
        self.queues.leave_ring(&self.me);
        let mut next = Some((job, first));
        while let Some((job, origin)) = next {
            self.jobs.count_cache.begin(job.scope());
            self.run_job(job, origin);
            next = self.next_in_run(first);
        }
        self.jobs.count_cache.settle();
        self.jobs.is_at_one.set(false);
        if self.seat.is_aside() {
            self.come_back();
        }
    }

    /// Takes what a new step would come to next, if that is another job of its own, or of the
    /// worker that had the first one. So a seat that is offered stays offered, and is not taken
    /// back and offered again in between, which would cost more than a small job does. A worker
    /// that waits for something has to look after each job.
    fn next_in_run(&self, first: Origin) -> Option<(Job, Origin)> {
        let shared = &self.me.scheduler;
        let is_offered = self.lends_seats();
        if self.jobs.is_waiting.get() || !is_offered && !self.is_fixed() {
            return None;
        }
        self.next_tick();
        if is_offered && (self.seat.is_aside() || !self.me.seat().is_left_to(self.me.number())) {
            return None;
        }
        // Whatever comes before jobs, or would have been looked for in between, ends the run (W1,
        // F3).
        let left = self.seat.ticks_until_turn().checked_sub(1)?;
        if self.has_own() || shared.has_tasks() {
            return None;
        }
        self.seat.reactors_turned(left);
        if let Some(job) = self.pop_job() {
            return Some((job, Origin::Here));
        }
        match first {
            // What comes from outside goes before what others have.
            Origin::Stolen(victim) if shared.jobs.is_empty() => {
                self.steal_next_of(victim).map(|job| (job, first))
            }
            _ => None,
        }
    }

    /// While the worker is at a job, its seat can be borrowed for tasks: at once if some wait (F3).
    fn offer_seat(&self) {
        if !self.lends_seats() || !self.me.seat().begin_job(self.me.number()) {
            return;
        }
        self.queues.empty_slot(&self.me);
        // What came while it was at tasks, or searched, was left to it.
        if self.me.scheduler.has_tasks() {
            self.me.scheduler.lend_a_seat();
        }
    }
}

/// For a worker that ends.
impl Worker {
    /// The runtime shuts down. What is left is refused or, if a thread waits for it, run (J2).
    pub(in crate::scheduler) fn finish_jobs(&self) {
        self.me.scheduler.await_close();
        self.me.remote().direct_jobs.close().into_iter().for_each(Job::refuse);
        self.finish(|| {
            let own = self.next_direct_job().or_else(|| self.pop_job());
            let inbox = || if self.is_spare() { None } else { self.me.scheduler.jobs.pop() };
            own.map(|job| (job, Origin::Here)).or_else(inbox)
        });
    }

    /// The same for what is in other workers' deques: a worker that has pushed a job may block
    /// until that has been run (J5).
    pub(in crate::scheduler) fn finish_jobs_of_others(&self) {
        self.next_tick();
        self.finish(|| {
            let own = self.pop_job().map(|job| (job, Origin::Here));
            own.or_else(|| self.me.scheduler.take_any_job(self.me.index))
        });
    }

    /// Runs the jobs that must be run, and leaves the others to be dropped when all of the runtime
    /// is closed (T9).
    fn finish(&self, next: impl Fn() -> Option<(Job, Origin)>) {
        while let Some((job, origin)) = next() {
            if job.is_mandatory() {
                self.run_job(job, origin);
            } else {
                self.me.scheduler.leave(Late::Job(job));
            }
        }
    }

    /// Leaves all jobs to others, because the runtime shuts down and no thread drives this worker.
    pub(super) fn leave_jobs(&self) {
        while let Some(job) = self.pop_job() {
            if job.is_mandatory() {
                self.me.scheduler.jobs.leave(job, Origin::Here);
            } else {
                self.me.scheduler.leftovers.leave_others([Late::Job(job)].into_iter());
            }
        }
    }

    /// A closer, which has no seat, finishes what jobs it finds.
    pub(in crate::scheduler) fn finish_jobs_of_all(&self) {
        self.stand_at_first_seat();
        let entered = Entered::new(self);
        self.finish_jobs_of_others();
        self.rest();
        drop(entered);
    }

    /// Gives its jobs to all workers.
    pub(super) fn give_jobs_away(&self) {
        while let Some(job) = self.pop_job() {
            if let Err(job) = self.me.scheduler.submit_job(job) {
                turns::lengthen();
                self.run_job(job, Origin::Here);
            }
        }
    }

    /// A spare ends, until it is called again.
    pub(in crate::scheduler) fn leave_arena(&mut self) {
        self.jobs.arena.leave();
    }
}
