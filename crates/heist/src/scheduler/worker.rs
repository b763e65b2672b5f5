//! A worker: one thread's queues, and what it does next.

mod count_cache;
mod drive;
mod here;
mod jobs;
mod pinned;
mod rest;
mod seated;
mod watched;

use super::pace::{LIFO_STREAK, Pace};
use super::producer::producer;
use super::refused::one_after_the_other;
use super::remotes::{Queues, Remote};
use super::shared::{Runnable, Scheduler, Shared};
use super::steal::{Found, Search};
use crate::canary;
use crate::env::{Backoff, Clock, this_thread};
use crate::metrics::{OnThread, WorkerCounters};
use crate::reactor::Sits;
use crate::task::{Notified, Ran, TaskList};
use crate::trace::{self, EventKind, PollSource, Scribe};
pub(crate) use count_cache::Settle;
pub(crate) use drive::Driven;
use heist_deque::ring::{self, Full};
pub(crate) use here::{deque_here, here, with_here};
use jobs::Jobs;
use pinned::Pinned;
#[cfg(all(test, not(loom)))]
use rest::Lying;
pub(crate) use seated::{
    Aside, answer_call_aside, outside, step_aside, waiter_aside, with_here_or_aside,
};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;
use watched::{Watch, watch};

#[cfg(all(test, not(loom)))]
mod tests;

/// A tick takes at most so many from the inject queue (W4).
const TICK_BATCH: usize = 32;

/// The memory of a task is asked for when there are so many before it. Guessed.
const TASKS_AHEAD: u32 = 2;

/// A worker, before it has a thread.
pub(crate) struct Worker {
    local: Local,
}

/// What a worker's thread keeps to itself. Tasks that it runs reach it through a thread-local, to
/// spawn and to wake; nothing that borrows it runs code of others.
pub(crate) struct Local {
    scheduler: Scheduler,
    /// The same, for tasks that are pinned to this worker.
    pinned: Scheduler,
    /// Which worker it is: whose queues are its own.
    index: usize,
    /// Where it sits, or sat last: what lets it run.
    seat: Cell<usize>,
    /// The number of the thread that it is on, or was; none is 0.
    thread: Cell<u64>,
    /// Changes with each step; what others see of it is in its remote.
    tick: Cell<u32>,
    /// After so many more ticks it looks at its reactor.
    until_turn: Cell<u32>,
    /// How long it waits awake before it parks.
    backoff: Backoff,
    /// Whether it counts as searching, if it is not away. Its tick is odd then.
    is_searching: Cell<bool>,
    /// Whether it has stepped aside in the poll that is going on.
    is_aside: Cell<bool>,
    core: RefCell<Core>,
    jobs: Jobs,
    counters: Arc<WorkerCounters>,
    /// Who writes down what it does, if anybody does.
    scribe: Option<Arc<Scribe>>,
    watch: Watch,
}

struct Core {
    ring: ring::Owner<Runnable>,
    pace: Pace,
    lifo_streak: u32,
    search: Search,
    pinned: Pinned,
}

/// What one step did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It ran a task.
    Ran,
    /// There was nothing to run.
    Idle,
    /// It has lost its seat: there is nothing that it may run.
    Unseated,
    /// The runtime is going down.
    Down,
}

/// Hands a new task to the worker of this thread, if it is one of the scheduler's that is at
/// `scheduler`; else gives it back. If the runtime goes down it is cancelled, perhaps at once.
#[inline]
pub(crate) fn try_spawn(scheduler: *const Shared, task: Runnable) -> Result<(), Runnable> {
    with_worker(scheduler, task, |local| !local.keeps_all(), Local::spawn)
}

/// The same where all tasks are pinned.
#[inline]
pub(crate) fn try_submit(scheduler: *const Shared, task: Runnable) -> Result<(), Runnable> {
    try_spawn(scheduler, task).or_else(|task| {
        with_worker(scheduler, task, |local| local.keeps_all(), Local::spawn_pinned)
    })
}

/// The same for a task that was woken.
#[inline]
pub(super) fn try_wake(scheduler: *const Shared, task: Runnable) -> Result<(), Runnable> {
    with_worker(scheduler, task, |_| true, Local::wake)
}

/// Hands `task` to the worker of this thread by `hand_over`, if it is one of `scheduler`'s and
/// `fits`; else gives it back.
#[inline(always)]
pub(super) fn with_worker(
    scheduler: *const Shared,
    task: Runnable,
    fits: impl FnOnce(&Local) -> bool,
    hand_over: impl FnOnce(&Local, Runnable),
) -> Result<(), Runnable> {
    with_here(|local| match local {
        Some(local) if ptr::eq(local.scheduler.address(), scheduler) && fits(local) => {
            hand_over(local, task);
            Ok(())
        }
        _ => Err(task),
    })
}

/// The number of the seat that this thread's worker sits on, if it is one and does.
pub(crate) fn worker_index() -> Option<usize> {
    with_here(|local| local.and_then(Local::seat_held))
}

impl Worker {
    pub(super) fn new(scheduler: Scheduler, index: usize, queues: Queues) -> Self {
        let search = Search::new(index as u64 + 1);
        let counters = Arc::clone(&scheduler.remotes[index].counters);
        let scribe = scheduler.remotes[index].scribe.clone();
        let pace = Pace::new(scheduler.config.tick_interval, Arc::clone(&counters));
        let core = Core { ring: queues.ring, pace, lifo_streak: 0, search, pinned: Pinned::new() };
        let pinned = scheduler.pinned_to(index);
        Worker {
            local: Local {
                scheduler,
                pinned,
                index,
                seat: Cell::new(index),
                thread: Cell::new(0),
                tick: Cell::new(1),
                until_turn: Cell::new(0),
                backoff: Backoff::default(),
                is_searching: Cell::new(false),
                is_aside: Cell::new(false),
                core: RefCell::new(core),
                jobs: Jobs::new(queues.jobs),
                watch: watch(scribe.as_ref(), &counters),
                scribe,
                counters,
            },
        }
    }

    /// Steps until the runtime goes down; calls `begin` before, and `end` after that.
    pub(crate) fn run(self, begin: impl FnOnce(), end: impl FnOnce()) {
        let local = &self.local;
        let entered = Entered::new(local);
        begin();
        while local.work() == Step::Unseated && local.come_home() {}
        local.finish_jobs();
        local.finish_jobs_of_others();
        end();
        local.rest();
        // What tasks do when they are dropped below finds no worker here, and a closed runtime.
        drop(entered);
        local.scheduler.wake_all();
    }

    /// Makes the worker that of this thread, to its end. What comes to it is run while the thread waits for a job,
    /// or yields to one.
    pub(crate) fn stay_here(self) {
        // The thread may use it as long as it lives, and there is no moment when it could be freed.
        let local = &Box::leak(Box::new(self)).local;
        std::mem::forget(Entered::new(local));
        local.next_tick();
    }
}

/// Cancels what is left in its queues, on this thread; also if it never ran.
impl Drop for Worker {
    fn drop(&mut self) {
        self.clear();
        if !self.local.is_spare() {
            self.local.scheduler.one_has_ended();
        }
    }
}

impl Worker {
    /// When the runtime goes down, and its thread has done with it.
    pub(super) fn clear(&self) {
        let mut drain = || one_after_the_other(|| self.local.drain());
        (self.local.scheduler.config.outside_of_tasks)(&mut drain);
    }
}

/// Makes a worker that of this thread, for as long as it lives. Another may be waiting for what this
/// one does.
struct Entered<'a> {
    local: &'a Local,
    outer: *const Local,
    _on_thread: OnThread<'a>,
    _here: trace::Here,
    _sits: Option<Sits<'a>>,
}

impl<'a> Entered<'a> {
    fn new(local: &'a Local) -> Self {
        // SAFETY: (W10) it is borrowed until the drop sets the one before.
        let outer = unsafe { here::replace(local) };
        let now = Clock::now();
        local.core.borrow_mut().pace.rested(now);
        local.come_to_thread();
        let reactors = local.scheduler.config.reactors.as_ref();
        Entered {
            local,
            outer,
            _on_thread: local.counters.run_here(now),
            _here: trace::enter(local.scheduler.recorder(), local.scribe.as_ref()),
            _sits: reactors.map(|reactors| reactors.sit(local.seat.get())),
        }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // SAFETY: (W10) it was here before, and its frame is further down.
        let local = unsafe { here::replace(self.outer) };
        debug_assert!(ptr::eq(local, self.local));
    }
}

impl Local {
    /// Says on which thread it is. Some come to the same again and again.
    fn come_to_thread(&self) {
        let thread = this_thread();
        if self.thread.replace(thread) != thread {
            self.remote().run_here();
            self.counters.run_by_this_thread();
        }
    }

    /// Whether all that is spawned here is pinned here.
    #[inline]
    fn keeps_all(&self) -> bool {
        self.scheduler.config.staffing.is_per_core()
    }

    /// Steps until there is no more to do here: it has lost its seat, or the runtime goes down.
    fn work(&self) -> Step {
        loop {
            match self.step() {
                Step::Ran => {}
                Step::Idle => self.idle(|| false),
                end => return end,
            }
        }
    }

    /// One tick: finds a task in the order of W1, and runs it. Never waits for long (W7).
    pub(crate) fn step(&self) -> Step {
        self.step_here().unwrap_or_else(|| self.step_elsewhere())
    }

    /// The first half of a tick. `None`: there is nothing that nobody has to be robbed for.
    #[inline(always)]
    fn step_here(&self) -> Option<Step> {
        if let Some(end) = self.begin_step() {
            return Some(end);
        }
        self.turn_reactor_in_time();
        // Before all tasks, pinned ones included, or these could keep jobs from ever having a turn
        // (F3).
        if self.is_turn_of_jobs() && self.step_job_in_turn() {
            return Some(Step::Ran);
        }
        if self.has_pinned() && self.step_pinned() {
            return Some(Step::Ran);
        }
        let mut task = self.next();
        if task.is_none() {
            if self.step_job() {
                return Some(Step::Ran);
            }
            if self.turn_reactor_when_dry() {
                task = self.take_own(&mut self.core.borrow_mut());
            }
        }
        let (task, source) = task?;
        self.run(task, source, &self.scheduler, Self::push);
        Some(Step::Ran)
    }

    /// The second half. There is nothing of its own: looks at the others.
    fn step_elsewhere(&self) -> Step {
        if let Some(end) = self.begin_rest() {
            return end;
        }
        // Before it counts as searching: nobody is disturbed meanwhile, and others can be woken.
        if !self.back_off_from_search() {
            // Back to what comes first (W1).
            return Step::Ran;
        }
        match self.search() {
            None => return Step::Idle,
            Some(Found::Task(task, source)) => self.run(task, source, &self.scheduler, Self::push),
            Some(Found::Job(job, origin)) => self.run_between_tasks(job, origin),
        }
        Step::Ran
    }

    /// Runs a task for its scheduler; one that was woken meanwhile is `put` back into a queue.
    #[inline(always)]
    fn run(
        &self,
        task: Runnable,
        source: PollSource,
        scheduler: &Scheduler,
        put: impl FnOnce(&Self, Runnable),
    ) {
        let counters = &self.counters;
        let running = &self.remote().own.running;
        running.set(&task);
        let ran = self.run_watched(task, source, scheduler);
        if self.is_aside.get() {
            self.come_back();
            running.clear();
        }
        match ran {
            Ran::Done => counters.done.add(1),
            Ran::Waits => counters.waits.add(1),
            Ran::Again(task) => {
                counters.again.add(1);
                put(self, task);
            }
        }
    }

    /// When it is time to, the inject queue comes first: nothing of one's own can keep it waiting
    /// (L4), but for a streak from the slot.
    fn next(&self) -> Option<(Runnable, PollSource)> {
        let core = &mut *self.core.borrow_mut();
        let lifo = &self.remote().own.lifo;
        let goes_on = || core.lifo_streak < LIFO_STREAK && lifo.has_task();
        let task = if core.pace.tick(goes_on) {
            self.look(core, TICK_BATCH).or_else(|| self.take_own(core))
        } else {
            self.take_own(core).or_else(|| self.look(core, usize::MAX))
        };
        task.inspect(|_| self.found())
    }

    /// At the inject queue: takes so many at most, and says when the next look is due.
    fn look(&self, core: &mut Core, most: usize) -> Option<(Runnable, PollSource)> {
        let task = self.take_injected(core, most);
        core.pace.looked(core.ring.len());
        if !self.scheduler.inject.is_empty() {
            core.pace.backlog();
        }
        task.map(|task| (task, PollSource::Inject))
    }

    /// The LIFO slot, then the ring. After a streak from the slot what is there goes to the end of
    /// the ring: tasks that keep waking each other wait for all others once in a while (W3, F2).
    fn take_own(&self, core: &mut Core) -> Option<(Runnable, PollSource)> {
        if let Some(task) = self.take_lifo() {
            core.lifo_streak += 1;
            if core.lifo_streak <= LIFO_STREAK {
                self.counters.lifo_hits.add(1);
                return Some((task, PollSource::LifoSlot));
            }
            core.lifo_streak = 0;
            return match Self::pop_ring(core) {
                None => {
                    self.counters.lifo_hits.add(1);
                    Some((task, PollSource::LifoSlot))
                }
                Some(first) => {
                    self.push_to(core, task);
                    Some((first, PollSource::Ring))
                }
            };
        }
        core.lifo_streak = 0;
        Self::pop_ring(core).map(|task| (task, PollSource::Ring))
    }

    /// Has the memory of a task further back come meanwhile: another worker may have written to it last, or it may have been
    /// waiting for long.
    #[inline(always)]
    fn pop_ring(core: &mut Core) -> Option<Runnable> {
        let task = core.ring.pop();
        if let Some(bits) = core.ring.glimpse(TASKS_AHEAD) {
            Notified::prefetch(bits);
        }
        task
    }

    fn take_lifo(&self) -> Option<Runnable> {
        let task = self.remote().own.lifo.take()?;
        // SAFETY: (T1) put there by to_slot(), and taken out here alone.
        Some(unsafe { Notified::from_ptr(task) })
    }

    fn remote(&self) -> &Remote {
        &self.scheduler.remotes[self.index]
    }

    /// Whether there are other workers that may have something.
    fn has_others(&self) -> bool {
        self.scheduler.remotes.count() > 1
    }

    /// A batch from the inject queue: the first to run, the others to the ring (W4).
    fn take_injected(&self, core: &mut Core, most: usize) -> Option<Runnable> {
        let inject = &self.scheduler.inject;
        if inject.is_empty() {
            return None;
        }
        let workers = self.scheduler.remotes.seats();
        let room = (core.ring.capacity() / 2).min(core.ring.capacity() - core.ring.len());
        let share = |len: usize| (len / workers + 1).min(most).min(room);
        let mut moved = 0;
        let task = inject.pop_batch(self.index, share, |rest| moved = core.ring.push_batch(rest));
        if task.is_some() {
            self.counters.injected.add(1 + moved as u64);
            self.record(|| EventKind::InjectBatch { tasks: 1 + moved as u32 });
        }
        if moved > 0 {
            self.scheduler.notify_from(self.seat.get());
        }
        task
    }

    /// Something was found. A searcher stops searching, and the last one has another begin (I2).
    #[inline]
    fn found(&self) {
        if self.is_searching.take() {
            self.next_tick();
            self.scheduler.stop_search();
        }
    }

    /// Looks at the others, if not enough others do that already.
    fn search(&self) -> Option<Found> {
        if self.scheduler.config.staffing.is_per_core() {
            return None;
        }
        if !self.is_searching.get() {
            if !self.scheduler.idle.start_search() {
                return None;
            }
            self.is_searching.set(true);
            self.scheduler.nudge();
        }
        let core = &mut *self.core.borrow_mut();
        let takes_jobs = self.takes_jobs();
        let found = core.search.search(&self.scheduler, self.index, &mut core.ring, takes_jobs);
        found.inspect(|_| self.found())
    }

    /// A task that this worker spawned.
    #[inline]
    fn spawn(&self, task: Runnable) {
        self.counters.spawned.add(1);
        self.record_spawn(&task);
        self.to_slot(task);
    }

    /// A task that this worker woke.
    #[inline]
    fn wake(&self, task: Runnable) {
        self.counters.woken.add(1);
        self.record_wake(&task);
        self.to_slot(task);
    }

    /// To the LIFO slot, and what was there to the ring (W3). Nobody is woken for the slot alone.
    #[inline]
    fn to_slot(&self, task: Runnable) {
        if let Some(previous) = self.remote().own.lifo.put(task.into_raw()) {
            // SAFETY: (T1) put there by this function, and taken out here alone.
            self.push(unsafe { Notified::from_ptr(previous) });
        }
        if !self.seat().is_undisturbed(self.number()) && !canary::SEAT_SLOT_FORGOTTEN.sings() {
            self.empty_slot_without_seat();
        }
    }

    /// To the end of the ring; what does not fit goes to the inject queue, with half of the ring
    /// (Q5).
    fn push(&self, task: Runnable) {
        self.push_to(&mut self.core.borrow_mut(), task);
    }

    fn push_to(&self, core: &mut Core, task: Runnable) {
        if let Err(Full(task)) = core.ring.push(task) {
            let mut overflow = TaskList::new();
            overflow.extend(core.ring.drain_half());
            overflow.push(task);
            self.counters.overflows.add(1);
            self.record(|| EventKind::Overflow { tasks: overflow.len() as u32 });
            self.give_away(overflow);
        }
        self.scheduler.notify_from(self.seat.get());
    }

    /// To the inject queue. If that is closed they are cancelled later, by others or in
    /// [`drain`](Self::drain): what futures do when they are dropped must find nothing borrowed here.
    fn give_away(&self, mut tasks: TaskList<Scheduler>) {
        self.scheduler.inject.push_batch(producer(), &mut tasks);
        if tasks.len() > 0 {
            self.scheduler.leftovers.leave_all(&mut tasks);
        }
    }

    /// Cancels what is left in this worker's queues.
    fn drain(&self) {
        self.finish_jobs();
        self.end_pinned();
        self.cancel_queued();
    }

    /// All but what is pinned; and then, with the others that end, what was left to all of them.
    fn cancel_queued(&self) {
        while let Some(task) = self.take_lifo().or_else(|| self.core.borrow_mut().ring.pop()) {
            drop(task);
            self.counters.drained.add(1);
        }
        while self.scheduler.cancel_next() {}
    }
}
