//! A worker's jobs: its deque, and when jobs have their turn.

use self::backoff::Backoff;
use super::credit::Credit;
use super::{Entered, Local, Step, Worker};
use crate::env::{Parker, turns};
use crate::scheduler::arena::Arena;
use crate::scheduler::jobs::{self, Job, Origin};
use crate::scheduler::shared::{Scheduler, Shared};
use heist_deque::Steal;
use heist_deque::deque::{self, Mark, Pushed};
use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::Arc;

mod backoff;
mod waiting;

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
    credit: Credit,
    backoff: Backoff,
    /// For how many pushes the bell has rung for nobody.
    false_alarms: Cell<u32>,
    /// After so many more ticks it is a job's turn.
    until_turn: Cell<u32>,
    /// Whether one is run between two tasks.
    pub(super) is_at_one: Cell<bool>,
    /// Whether its steps are in the middle of what waits for a job, as on fixed threads.
    is_waiting: Cell<bool>,
    /// Whether it runs one in the middle of another that has nothing to do with it.
    is_on_detour: Cell<bool>,
}

impl Jobs {
    pub(super) fn new(deque: deque::Owner<Job>) -> Self {
        Jobs {
            deque: UnsafeCell::new(deque),
            arena: Arena::new(),
            credit: Credit::new(),
            backoff: Backoff::new(),
            false_alarms: Cell::new(0),
            until_turn: Cell::new(TASKS_PER_JOB),
            is_at_one: Cell::new(false),
            is_waiting: Cell::new(false),
            is_on_detour: Cell::new(false),
        }
    }
}

/// Pushes to the job deque of this thread's worker, and takes back from it. It is one pointer, null on
/// a thread without a worker, so that a join need not load the worker first.
#[derive(Clone, Copy)]
pub(crate) struct Hand(Option<deque::Hand<Job>>);

impl Hand {
    /// For a thread without a worker: what is pushed comes back.
    pub(super) const NONE: Hand = Hand(None);

    /// Where the next job will be.
    ///
    /// # Safety
    /// The worker is that of this thread and has not stepped aside, or there is none.
    #[inline(always)]
    pub(crate) unsafe fn mark_jobs(self) -> Mark {
        match self.0 {
            // SAFETY: (W10) the worker is alive, is reached by its own thread alone, and no two uses of its deque overlap.
            Some(hand) => unsafe { hand.mark() },
            // Nothing is pushed there, so nothing looks for it.
            None => Mark::at(0),
        }
    }

    /// Offers a job to everybody: the newest of this worker's. The worker has to [mind](Local::mind_pushed) what comes of it; if there is none, it was not pushed.
    ///
    /// # Safety
    /// As for [`mark_jobs`](Self::mark_jobs), which has told `mark` just now.
    #[inline(always)]
    pub(crate) unsafe fn push_job(self, mark: Mark, job: Job) -> Pushed<Job> {
        match self.0 {
            // SAFETY: (W10) as in mark_jobs().
            Some(hand) => unsafe { hand.push_lazily(mark, job) },
            None => Pushed::Not(job),
        }
    }

    /// Takes back the job that was pushed there, if it is the newest and thieves cannot reach it; whether it was.
    ///
    /// # Safety
    /// As for [`mark_jobs`](Self::mark_jobs), and there is a worker: it has pushed the job.
    #[inline(always)]
    pub(crate) unsafe fn take_job_back(self, mark: Mark) -> bool {
        debug_assert!(self.0.is_some());
        // SAFETY: (W10) there is a worker, as the caller promises.
        let hand = unsafe { self.0.unwrap_unchecked() };
        // SAFETY: (W10) as in mark_jobs().
        unsafe { hand.take_back(mark) }
    }
}

/// For who makes jobs.
impl Local {
    /// What it pushes jobs with.
    #[inline(always)]
    pub(crate) fn hand(&self) -> Hand {
        // SAFETY: (W10) reached by its own thread alone, and borrowed exclusively by with_deque() only, in which nothing comes here.
        Hand(Some(unsafe { &*self.jobs.deque.get() }.hand()))
    }

    /// Offers a job to everybody: the newest of this worker's.
    #[inline(always)]
    pub(crate) fn push_job(&self, job: Job) {
        match self.with_deque(|deque| deque.push_lazily(job)) {
            Pushed::Calmly => {}
            pushed => self.mind_pushed(pushed),
        }
    }

    /// A job was pushed, or has still to be: sees to the rest.
    #[cold]
    #[inline(never)]
    pub(crate) fn mind_pushed(&self, pushed: Pushed<Job>) {
        match pushed {
            Pushed::Calmly => return,
            Pushed::Noted => {}
            Pushed::Not(job) => self.with_deque(|deque| deque.push(job)),
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
                    deque.hush();
                }
                pays
            };
            let idle = &self.scheduler.idle;
            deque.attend() && idle.is_rung_for(|| hush(deque), || _ = deque.ring())
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
    pub(crate) fn credit_of(&self, scope: *const ()) -> Option<&Credit> {
        Some(&self.jobs.credit).filter(|credit| credit.is_of(scope))
    }

    /// Takes back the newest. For who knows that the joins are over that have pushed what is here, or that it is newer
    /// than what one of them has.
    pub(crate) fn pop_job(&self) -> Option<Job> {
        self.with_deque(deque::Owner::pop)
    }

    /// Which jobs there are now.
    pub(crate) fn mark_jobs(&self) -> Mark {
        self.with_deque(|deque| deque.mark())
    }

    /// Takes back the newest, if it has come since then and no join will look for it in its place.
    pub(crate) fn pop_job_since(&self, mark: Mark) -> Option<Job> {
        let popped = self.with_deque(|deque| deque.pop_newer(mark));
        self.leave_framed(popped)
    }

    /// One of its own, for who may be in the middle of a join: the newest, or else the oldest, as a thief takes it.
    pub(crate) fn take_own_job(&self) -> Option<(Job, Origin)> {
        let newest = self.leave_framed(self.pop_job()).map(|job| (job, Origin::Here));
        let oldest = || Some((self.steal_job_of(self.index)?, Origin::Stolen(self.index)));
        newest.or_else(oldest)
    }

    /// What a join has pushed goes back to its place: another job that came there would be taken for it (J1). What is
    /// stolen leaves no place. On fixed threads it is run all the same, and its place is held.
    fn leave_framed(&self, popped: Option<Job>) -> Option<Job> {
        let job = popped?;
        if job.is_framed() && !self.is_fixed() {
            self.push_job(job);
            return None;
        }
        Some(job)
    }

    /// Where nobody could come to run a job in its place: one of its own, if that which was pushed there is among
    /// them, or one from outside. (Where the runtime goes down a closer comes.)
    pub(crate) fn find_job_alone(&self, mark: Option<Mark>) -> Option<(Job, Origin)> {
        if self.lends_seats() {
            return None;
        }
        let is_here = mark.is_some_and(|mark| self.with_deque(|deque| deque.has(mark)));
        let own = is_here.then(|| self.take_own_job()).flatten();
        own.or_else(|| self.scheduler.jobs.pop())
    }

    /// As [`Shared::take_left_job`].
    pub(crate) fn take_left_job(
        &self,
        is_last_look: bool,
        is_it: impl Fn(&Job) -> bool,
    ) -> Option<(Job, Origin)> {
        self.scheduler.take_left_job(is_last_look, is_it)
    }

    /// Whether its seat is lent to nobody any more.
    pub(crate) fn is_going_down(&self) -> bool {
        self.seat().is_closed()
    }

    pub(crate) fn has_own_jobs(&self) -> bool {
        self.with_deque(|deque| !deque.is_empty())
    }

    /// The oldest job of another worker.
    pub(crate) fn steal_job_of(&self, victim: usize) -> Option<Job> {
        let stealer = &self.scheduler.remotes[victim].jobs;
        loop {
            match stealer.steal() {
                Steal::Success(job) => return Some(job),
                Steal::Empty => return None,
                // Somebody else has got one (Q6).
                Steal::Retry => std::hint::spin_loop(),
            }
        }
    }

    /// Any job there is but for one worker alone, and where it was.
    pub(crate) fn find_job(&self) -> Option<(Job, Origin)> {
        let shared = &self.scheduler;
        self.take_own_job().or_else(|| shared.jobs.pop()).or_else(|| {
            let count = if shared.config.thread_per_core { 0 } else { shared.remotes.count() };
            let victims = (1..count).map(|offset| (self.index + offset) % count);
            let steal = |victim| self.steal_job_of(victim).map(|job| (job, Origin::Stolen(victim)));
            victims.filter(|victim| *victim != self.index).find_map(steal)
        })
    }

    /// The worker's number among all, spares included.
    #[inline]
    pub(crate) fn number_of_all(&self) -> usize {
        self.index
    }

    /// How many seats there are.
    pub(crate) fn num_workers(&self) -> usize {
        self.scheduler.remotes.seats()
    }

    /// Its number, if calls can come to it.
    pub(crate) fn number_for_calls(&self) -> Option<usize> {
        (!self.is_spare()).then_some(self.index)
    }

    /// Whether somebody comes in the place of a worker of this runtime that waits.
    #[inline]
    pub(crate) fn lends_seats(&self) -> bool {
        self.scheduler.config.lends_seats()
    }

    /// Whether nobody stands in for a worker of this runtime that waits.
    #[inline]
    pub(crate) fn is_fixed(&self) -> bool {
        self.scheduler.config.is_fixed
    }

    /// Its scheduler, to be kept.
    pub(crate) fn scheduler(&self) -> Scheduler {
        self.scheduler.clone()
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

    /// The worker of this number waits for a job, and sleeps: that has ended.
    pub(crate) fn wake_waiter(&self, number: usize) {
        self.scheduler.wake_waiter(number);
    }

    /// `f` calls nothing that could come back here: what is in the deque are pointers.
    #[inline(always)]
    pub(super) fn with_deque<R>(&self, f: impl FnOnce(&mut deque::Owner<Job>) -> R) -> R {
        // SAFETY: (W10) a worker is reached by its own thread alone, and no two calls of this overlap.
        f(unsafe { &mut *self.jobs.deque.get() })
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
        let own = if self.has_own_jobs() { self.pop_job() } else { None };
        let own = own.or_else(|| self.next_call()).map(|job| (job, Origin::Here));
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
        let may_steal = self.takes_jobs() && !self.scheduler.config.thread_per_core;
        if !may_steal || self.scheduler.remotes[victim].jobs.is_empty() {
            return false;
        }
        let Some(job) = self.steal_job_of(victim) else { return false };
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
            self.jobs.credit.begin(job.scope());
            self.run_job(job, origin);
            next = self.next_in_run(first);
        }
        self.jobs.credit.settle();
        self.jobs.is_at_one.set(false);
        if self.is_aside.get() {
            self.come_back();
        }
    }

    /// What it would come to next if it began a new step: another job of its own, or of who had the first one. If its seat is offered, it is so
    /// all the time, and not taken back and offered again in between; that would cost more than a small job
    /// does. Who waits for something has to look after each.
    fn next_in_run(&self, first: Origin) -> Option<(Job, Origin)> {
        let is_offered = self.scheduler.config.lends_seats();
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
        if !self.scheduler.config.lends_seats() || !self.seat().begin_job(self.number()) {
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
        self.remote().calls.close();
        let own = || self.next_call().or_else(|| self.pop_job()).map(|job| (job, Origin::Here));
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
        while let Some((job, origin)) = self.find_job() {
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

impl Shared {
    /// As [`Local::wake_waiter`], from anywhere.
    pub(crate) fn wake_waiter(&self, worker: usize) {
        if self.config.is_fixed {
            // It sleeps on its seat, where a call finds it. If it does not take any more, it is awake.
            drop(self.call_worker(worker, jobs::nothing()));
        } else {
            self.remotes[worker].waiter.unpark();
        }
    }

    /// When the runtime goes down, or before who waits for it gives its seat away: one of those that have come from
    /// outside, or were passed on. Workers run them, but perhaps each of them waits for one, and no other is to be had.
    /// It looks at all of them: not what to do often.
    pub(crate) fn take_left_job(
        &self,
        is_last_look: bool,
        is_it: impl Fn(&Job) -> bool,
    ) -> Option<(Job, Origin)> {
        if self.jobs.is_empty() || !is_last_look && !self.is_down() {
            return None;
        }
        self.jobs.take(|(job, _)| is_it(job))
    }

    /// A job from outside; it comes back when the runtime goes down.
    pub(crate) fn submit_job(&self, job: Job) -> Result<(), Job> {
        self.jobs.push(job, Origin::Here)?;
        self.notify_of_outside_job();
        Ok(())
    }

    /// A job for this worker alone; it comes back when that has ended, or will.
    pub(crate) fn call_worker(&self, worker: usize, job: Job) -> Result<(), Job> {
        let remote = &self.remotes[worker];
        remote.calls.push(job, Origin::Here)?;
        self.notify_worker(worker);
        remote.waiter.unpark();
        Ok(())
    }
}
