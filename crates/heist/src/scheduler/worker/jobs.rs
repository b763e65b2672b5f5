//! A worker's jobs: its deque, and when jobs have their turn.

use self::backoff::Backoff;
use super::count_cache::CountCache;
use super::{Entered, Local, Step, Worker};
use crate::env::{self, Parker, turns};
use crate::memory::Arena;
use crate::scheduler::jobs::{Job, Origin};
use crate::scheduler::shared::Scheduler;
use crate::trace::EventKind;
use heist_deque::deque::{self, Pushed};
use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::Arc;

mod backoff;

/// While both wait, a job comes after so many ticks (F3). Tasks are many and short, and who waits for one wants it soon.
const TASKS_PER_JOB: u32 = 60;

/// Where workers sleep so often that they do it by a fence, every so many pushes that find nobody free
/// silence the bell: together they cost about as much as the kernel call that rings it again. Does not
/// matter within a factor of four.
const FALSE_ALARMS: u32 = 512;

/// What a worker keeps of its jobs.
pub(super) struct Jobs {
    deque: UnsafeCell<deque::Owner<Job>>,
    /// Where those of them lie that are of scopes.
    arena: Arena,
    count_cache: CountCache,
    backoff: Backoff,
    /// For how many pushes the bell has rung for nobody.
    false_alarms: Cell<u32>,
    /// After so many more ticks it is a job's turn.
    until_turn: Cell<u32>,
    /// Whether one is run between two tasks.
    pub(super) is_at_one: Cell<bool>,
    /// Whether its steps are in the middle of what waits for a job, as on fixed threads.
    is_waiting: Cell<bool>,
}

impl Jobs {
    pub(super) fn new(deque: deque::Owner<Job>) -> Self {
        Jobs {
            deque: UnsafeCell::new(deque),
            arena: Arena::new(),
            count_cache: CountCache::new(),
            backoff: Backoff::new(),
            false_alarms: Cell::new(0),
            until_turn: Cell::new(TASKS_PER_JOB),
            is_at_one: Cell::new(false),
            is_waiting: Cell::new(false),
        }
    }
}

/// For who makes jobs.
impl Local {
    /// A pointer to its deque, for joins.
    #[inline(always)]
    pub(crate) fn deque_ptr(&self) -> deque::OwnerPtr<Job> {
        // SAFETY: (W10) used by its own thread alone, and borrowed exclusively by with_deque()
        // only, which does not call this.
        unsafe { &*self.jobs.deque.get() }.owner_ptr()
    }

    /// Offers a job to everybody: the newest of this worker's.
    #[inline(always)]
    pub(crate) fn push_job(&self, job: Job) {
        match self.with_deque(|deque| deque.push_fast(job)) {
            Pushed::Done => {}
            pushed => self.mind_pushed(pushed),
        }
    }

    /// A job was pushed, or has still to be: sees to the rest.
    #[cold]
    #[inline(never)]
    pub(crate) fn mind_pushed(&self, pushed: Pushed<Job>) {
        match pushed {
            Pushed::Done => return,
            Pushed::Flagged => {}
            Pushed::Full(job) => self.with_deque(|deque| deque.push(job)),
        }
        self.attend_jobs();
    }

    /// A thief has asked, or somebody may be free to come for what was pushed. Who is woken finds it laid out: else it would
    /// have to ask, and where its owner does not answer, to have the kernel interrupt it.
    fn attend_jobs(&self) {
        let is_rung = self.with_deque(|deque| {
            let hush = |deque: &deque::Owner<Job>| {
                // To forget a nudge costs nobody a call.
                let pays = !deque.rings() || self.does_silence_pay();
                if pays {
                    deque.silence();
                }
                pays
            };
            let idle = &self.scheduler.idle;
            deque.finish_push() && idle.is_rung_for(|| hush(deque), || _ = deque.ring())
        });
        if is_rung {
            self.with_deque(deque::Owner::share);
            self.scheduler.wake_for_job();
        }
    }

    /// The bell has rung for nobody. Whether it is to be silenced.
    fn does_silence_pay(&self) -> bool {
        let alarms = self.jobs.false_alarms.get();
        let pays = self.scheduler.idle.is_sleep_dear() || alarms >= FALSE_ALARMS;
        self.jobs.false_alarms.set(if pays { 0 } else { alarms + 1 });
        pays
    }

    /// Memory for the jobs that are pushed here.
    #[inline(always)]
    pub(crate) fn arena(&self) -> &Arena {
        &self.jobs.arena
    }

    /// Where it counts the jobs of this scope, if not there.
    #[inline(always)]
    pub(crate) fn count_cache_of(&self, scope: *const ()) -> Option<&CountCache> {
        if self.jobs.count_cache.is_of(scope) { Some(&self.jobs.count_cache) } else { None }
    }

    /// Takes back the newest. For who knows that the joins are over that have pushed what is here, or that it is newer
    /// than what one of them has.
    pub(crate) fn pop_job(&self) -> Option<Job> {
        self.with_deque(deque::Owner::pop)
    }

    /// The worker's index among all, spares included.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Whether somebody comes in the place of a worker of this runtime that waits.
    #[inline]
    pub(crate) fn lends_seats(&self) -> bool {
        self.scheduler.config.staffing.lends_seats()
    }

    /// Whether nobody stands in for a worker of this runtime that waits.
    #[inline]
    pub(crate) fn is_fixed(&self) -> bool {
        self.scheduler.config.staffing.is_fixed()
    }

    #[inline]
    pub(crate) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Whether it is one of this scheduler's.
    #[inline]
    pub(crate) fn is_of(&self, scheduler: &Scheduler) -> bool {
        ptr::eq(self.scheduler.address(), scheduler.address())
    }

    /// Where it sleeps while it waits for a job, if it gives its seat away for that.
    pub(crate) fn waiter(&self) -> &Arc<Parker> {
        &self.remote().waiter
    }

    /// `f` calls nothing that could come back here: what is in the deque are pointers.
    #[inline(always)]
    pub(crate) fn with_deque<R>(&self, f: impl FnOnce(&mut deque::Owner<Job>) -> R) -> R {
        // SAFETY: (W10) a worker is reached by its own thread alone, and no two calls of this overlap.
        f(unsafe { &mut *self.jobs.deque.get() })
    }
}

/// For a worker that runs a job, or waits for one.
impl Local {
    /// Runs a job, perhaps in the middle of another one or of a poll.
    #[inline]
    pub(crate) fn run_job(&self, job: Job, origin: Origin) {
        self.counters.jobs.add(1);
        let is_timed = match origin {
            Origin::Stolen(victim) if victim != self.index => self.begin_stolen(&job, victim),
            _ => false,
        };
        if let Some(scribe) = &self.scribe {
            scribe.note(EventKind::JobStart { is_stolen: origin != Origin::Here });
        }
        job.run(Some(self), origin);
        if let Some(scribe) = &self.scribe {
            scribe.note(EventKind::JobEnd);
        }
        if is_timed {
            self.jobs.backoff.end();
        }
    }

    /// Counts a job that was stolen. Returns whether it is timed, as those of joins are.
    fn begin_stolen(&self, job: &Job, victim: usize) -> bool {
        self.counters.stolen_jobs.add(1);
        // The job's waiter comes for what it divides into.
        self.with_deque(deque::Owner::share_next);
        if job.is_stack_job() {
            self.jobs.backoff.begin(self.scheduler.remotes[victim].jobs.is_empty());
        }
        job.is_stack_job()
    }

    /// Decides how long this worker spins before it sleeps.
    #[inline]
    pub(crate) fn backoff(&self) -> &env::Backoff {
        &self.backoff
    }

    /// Takes a job that is for this worker alone.
    pub(crate) fn next_direct_job(&self) -> Option<Job> {
        self.remote().direct_jobs.pop().map(|(call, _)| call)
    }

    /// Returns whether there is such a job.
    #[inline]
    pub(crate) fn has_direct_job(&self) -> bool {
        !self.remote().direct_jobs.is_empty()
    }

    /// The worker waits for a job: gives its seat away (L5) until the guard is dropped.
    pub(crate) fn leave_seat_to_wait(&self) -> Option<SeatLeft<'_>> {
        let lends = self.lends_seats() && self.tick.get() % 2 == 0;
        lends.then(|| {
            self.leave_seat_in_poll();
            SeatLeft(self)
        })
    }

    /// For a worker with fixed threads, which waits for a job: does one step of its ordinary work.
    /// Returns `None` if the runtime goes down.
    pub(crate) fn step_while_waiting(&self) -> Option<Step> {
        // What runs now is part of the wait.
        if let Some(scribe) = &self.scribe {
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
}

/// A worker that has given its seat away while it waits for a job. When this is dropped, it takes
/// the seat back if that is free.
pub(crate) struct SeatLeft<'a>(&'a Local);

impl Drop for SeatLeft<'_> {
    fn drop(&mut self) {
        let local = self.0;
        local.come_back();
        local.found();
        if local.jobs.is_at_one.get() {
            local.offer_seat();
        }
    }
}

/// For a worker between two tasks.
impl Local {
    /// Whether a job goes before the tasks this time (F3).
    #[inline]
    pub(super) fn is_turn_of_jobs(&self) -> bool {
        let left = self.jobs.until_turn.get().checked_sub(1);
        self.jobs.until_turn.set(left.unwrap_or(TASKS_PER_JOB));
        left.is_none()
    }

    /// Whether jobs are its business, too: not on a seat that is borrowed of one who is at jobs already.
    #[inline]
    pub(super) fn takes_jobs(&self) -> bool {
        !self.is_spare() || !self.seat().is_borrowed()
    }

    /// Runs a job that nobody has to be robbed for, if there is one (W1).
    pub(super) fn step_job(&self) -> bool {
        if !self.takes_jobs() {
            return false;
        }
        // Mostly there is none.
        let own = if self.with_deque(|deque| deque.is_empty()) { None } else { self.pop_job() };
        let own = own.or_else(|| self.next_direct_job()).map(|job| (job, Origin::Here));
        let Some((job, origin)) = own.or_else(|| self.scheduler.jobs.pop()) else { return false };
        self.found();
        self.run_between_tasks(job, origin);
        true
    }

    /// It is the turn of jobs, though tasks wait. If there is none here it takes one from another worker, who may be stuck:
    /// while all have tasks nobody searches (F3).
    pub(super) fn step_job_in_turn(&self) -> bool {
        if self.step_job() {
            return true;
        }
        let victim = {
            let search = &mut self.core.borrow_mut().search;
            search.anybody_with_jobs(self.index, &self.scheduler)
        };
        victim.is_some_and(|victim| self.step_job_of(victim))
    }

    fn step_job_of(&self, victim: usize) -> bool {
        let may_steal = self.takes_jobs() && !self.scheduler.config.staffing.is_per_core();
        if !may_steal || self.scheduler.remotes[victim].jobs.is_empty() {
            return false;
        }
        let Some(job) = self.scheduler.steal_job_of(victim) else { return false };
        self.found();
        self.run_between_tasks(job, Origin::Stolen(victim));
        true
    }

    pub(super) fn run_between_tasks(&self, job: Job, first: Origin) {
        if self.is_spare() {
            turns::lengthen();
        }
        self.remote().own.running.clear();
        self.jobs.is_at_one.set(true);
        self.offer_seat();
        let mut next = Some((job, first));
        while let Some((job, origin)) = next {
            self.jobs.count_cache.begin(job.scope());
            self.run_job(job, origin);
            next = self.next_in_run(first);
        }
        self.jobs.count_cache.settle();
        self.jobs.is_at_one.set(false);
        if self.is_aside.get() {
            self.come_back();
        }
    }

    /// What it would come to next if it began a new step: another job of its own, or of who had the first one. If its seat is offered, it is so
    /// all the time, and not taken back and offered again in between; that would cost more than a small job
    /// does. Who waits for something has to look after each.
    fn next_in_run(&self, first: Origin) -> Option<(Job, Origin)> {
        let is_offered = self.scheduler.config.staffing.lends_seats();
        if self.jobs.is_waiting.get() || !is_offered && !self.is_fixed() {
            return None;
        }
        self.next_tick();
        let is_left = || !self.is_aside.get() && self.seat().is_left_to(self.number());
        let is_undisturbed = !is_offered || is_left();
        // Whatever comes before jobs, or would have been looked for in between (W1, F3), ends the run.
        let left = self.until_turn.get().checked_sub(1).filter(|_| is_undisturbed)?;
        let has_own = self.remote().has_own() || self.remote().own.lifo.has_task();
        if has_own || self.scheduler.has_tasks() {
            return None;
        }
        self.until_turn.set(left);
        if let Some(job) = self.pop_job() {
            return Some((job, Origin::Here));
        }
        match first {
            // What comes from outside goes before what others have.
            Origin::Stolen(victim) if self.scheduler.jobs.is_empty() => {
                self.steal_next_of(victim).map(|job| (job, first))
            }
            _ => None,
        }
    }

    /// While it is at a job its seat can be had for tasks; at once if some wait (F3).
    fn offer_seat(&self) {
        if !self.scheduler.config.staffing.lends_seats() || !self.seat().begin_job(self.number()) {
            return;
        }
        self.empty_slot();
        // What came while it was at tasks, or searched, was left to it.
        if self.scheduler.has_tasks() {
            self.scheduler.relieve();
        }
    }

    /// The runtime goes down: what is left is run, as those who wait for it will not be let down (J2), or
    /// refused.
    pub(super) fn finish_jobs(&self) {
        self.remote().direct_jobs.close();
        let own =
            || self.next_direct_job().or_else(|| self.pop_job()).map(|job| (job, Origin::Here));
        let inbox = || if self.is_spare() { None } else { self.scheduler.jobs.pop() };
        while let Some((job, origin)) = own().or_else(inbox) {
            if let Some(job) = job.refuse() {
                self.run_job(job, origin);
            }
        }
    }

    /// What others have in their deques goes on: who has pushed it may block until it is run (J5).
    pub(super) fn finish_jobs_of_others(&self) {
        self.next_tick();
        let own = || self.pop_job().map(|job| (job, Origin::Here));
        while let Some((job, origin)) = own().or_else(|| self.scheduler.take_any_job(self.index)) {
            if let Some(job) = job.refuse() {
                self.run_job(job, origin);
            }
        }
    }
}

/// A spare worker that ends, until it is called again.
impl Worker {
    pub(in crate::scheduler) fn leave_arena(&mut self) {
        self.local.jobs.arena.leave();
    }
}

/// A closer: it sits nowhere.
impl Worker {
    /// Runs what jobs it finds.
    pub(in crate::scheduler) fn finish_jobs_of_all(&self) {
        let local = &self.local;
        // This is where it learns that the runtime goes down.
        local.seat.set(0);
        let entered = Entered::new(local);
        local.finish_jobs_of_others();
        local.rest();
        drop(entered);
    }
}
