//! What all workers of a runtime share.

use super::blocking::{self, Blocking};
use super::identity::Identity;
use super::idle::{Idle, MAX_WORKERS};
use super::inject::{Closed, Inject};
use super::jobs::Inbox;
use super::refused::{Late, Leftovers, one_after_the_other};
use super::remotes::{Ends, Remotes};
use super::seats::Seat;
use super::spares::{NoSpares, Spares};
use super::sysmon::Alarm;
use super::waiting::Waiting;
use super::worker::{self, Worker};
use crate::canary;
use crate::env::companion::Companion;
use crate::env::{Address, Parker, log, this_thread};
use crate::metrics::{HistogramConfiguration, SharedCounter, Stalls};
use crate::reactor::Reactors;
use crate::stall::StallConfig;
use crate::task::tracker::Tracker;
use crate::task::{Notified, Schedule, TaskRef};
use crate::trace::{self, Recorder};
use crate::tuning::SHARDS;
use crossbeam_utils::CachePadded;
use heist_deque::Steal;
use heist_sync::Barrier;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// Whether a runtime has worker threads; see
/// [`Handle::runtime_flavor`](crate::runtime::Handle::runtime_flavor).
///
/// # Examples
///
/// ```
/// use heist::runtime::{Handle, RuntimeFlavor};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(Handle::current().runtime_flavor(), RuntimeFlavor::CurrentThread);
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// Tasks run on the thread that is in `block_on`.
    CurrentThread,
    /// Tasks run on worker threads.
    MultiThread,
}

/// What replaces a worker that blocks, is stuck, or waits for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Staffing {
    /// A spare worker takes the seat.
    Lending,
    /// Nothing: the worker threads are all there are. A worker that waits for a job does other work
    /// meanwhile.
    Fixed,
    /// Nothing: all tasks are pinned, and no worker takes anything from another.
    PerCore,
    /// Nothing: the thread in `block_on` is the only worker.
    CallerOnly,
}

impl Staffing {
    /// Whether another worker takes the seat of one that is stuck or steps aside.
    #[inline]
    pub(crate) fn lends_seats(self) -> bool {
        self == Staffing::Lending
    }

    /// Whether a worker that waits for a job does other work meanwhile.
    #[inline]
    pub(crate) fn is_fixed(self) -> bool {
        self == Staffing::Fixed
    }

    /// Whether all tasks are pinned.
    #[inline]
    pub(crate) fn is_per_core(self) -> bool {
        self == Staffing::PerCore
    }
}

/// What a runtime's builder decides.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) identity: Identity,
    pub(crate) flavor: RuntimeFlavor,
    pub(crate) workers: usize,
    /// Interval in ticks after which a worker looks at the inject queue first; tuned if not set.
    pub(crate) tick_interval: Option<u32>,
    /// Number of tasks after which a worker that `block_on` drives polls the awaited future.
    pub(crate) ticks_per_look: u32,
    pub(crate) blocking: blocking::Config,
    /// How poll times are counted, if they are.
    pub(crate) poll_times: Option<HistogramConfiguration>,
    pub(crate) staffing: Staffing,
    pub(crate) stall: StallConfig,
    /// Where the console listens, if there is one.
    pub(crate) console: Option<Address>,
    /// What watches its tasks for the console, one by one.
    pub(crate) tracker: Option<Arc<Tracker>>,
    /// What is recorded, if anything is.
    pub(crate) recorder: Option<Arc<Recorder>>,
    /// One a seat, if tasks may wait for I/O or time.
    pub(crate) reactors: Option<Arc<Reactors>>,
    /// Calls a closure as something that happens in the runtime.
    pub(crate) within: fn(&Scheduler, &mut dyn FnMut()),
    /// Calls a closure that drops tasks, on a thread that runs tasks otherwise.
    pub(crate) outside_of_tasks: fn(&mut dyn FnMut()),
    /// Has a thread run a spare worker for this seat.
    pub(crate) call_spare: fn(&Scheduler, usize) -> Result<(), blocking::NoThread>,
    /// Starts a thread of the runtime that calls this; `false` if none can be started.
    pub(crate) start_thread: fn(&Scheduler, ThreadBody) -> bool,
}

impl Config {
    /// Whether there is anything that sysmon could be needed for before the shutdown.
    pub(crate) fn needs_sysmon(&self) -> bool {
        let is_watched = self.stall.threshold.is_some();
        self.staffing.lends_seats() || is_watched && self.flavor == RuntimeFlavor::MultiThread
    }
}

/// What a thread does that is started when the runtime goes down.
pub(crate) type ThreadBody = Box<dyn FnOnce(&Scheduler) + Send>;

/// A task that runs on this scheduler, and may be run.
pub(crate) type Runnable = Notified<Scheduler>;

/// A handle on the scheduler; what tasks have of it.
#[derive(Clone)]
pub(crate) struct Scheduler {
    shared: Arc<Shared>,
    /// Which worker the tasks that have this are pinned to (W8); or ANY.
    worker: u16,
    /// Whether the end of each poll is recorded exactly. A copy, beside what each poll needs.
    is_exact: bool,
}

/// Layout of [`Place`]: no worker has this number.
const ANY: u16 = u16::MAX;

/// What all workers of a runtime share.
pub(crate) struct Shared {
    pub(super) me: Weak<Shared>,
    pub(super) remotes: Remotes,
    pub(super) seats: Box<[CachePadded<Seat>]>,
    pub(super) inject: Inject<Scheduler>,
    /// Jobs from outside.
    pub(super) jobs: Inbox,
    pub(super) idle: CachePadded<Idle>,
    pub(super) spares: Spares,
    pub(super) alarm: Alarm,
    /// Whether it was told that no spare worker was to be had.
    pub(super) shortage: log::Once,
    pub(super) barrier: Barrier,
    /// Tasks that were taken from the queues of workers when the runtime went down.
    pub(super) cancelled: SharedCounter,
    /// Tasks that were spawned when the runtime was down, and left to others to be cancelled.
    pub(super) late_spawns: SharedCounter,
    pub(super) waiting: Waiting,
    pub(super) leftovers: Leftovers,
    /// Number of threads that may leave tasks behind at shutdown: workers, spares that run, and the
    /// shutdown itself.
    at_work: AtomicUsize,
    pub(crate) blocking: Blocking,
    /// Polls that were cut short in `block_on`, on threads that are no workers.
    pub(crate) outside_budget_yields: SharedCounter,
    pub(crate) stalls: Stalls,
    pub(crate) companion: Companion,
    is_down: AtomicBool,
    /// Whether [`close`](Self::close) has closed everything.
    is_closed: AtomicBool,
    /// Decides which worker gets the next pinned task that is spawned outside of the workers;
    /// counts on.
    pub(super) next_worker: AtomicUsize,
    pub(super) config: Config,
}

impl Deref for Scheduler {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Scheduler {
    /// A scheduler, and its workers, each to be run by a thread.
    pub(crate) fn new(config: Config) -> (Scheduler, Vec<Worker>) {
        let ends: Vec<Ends> = (0..config.workers).map(|_| Ends::new()).collect();
        let barrier = Barrier::detect();
        let parker = |seat: usize| match &config.reactors {
            Some(reactors) => Arc::clone(reactors[seat].parker()),
            None => Arc::new(CachePadded::new(Parker::new())),
        };
        let seats = (0..config.workers)
            .map(|home| CachePadded::new(Seat::new(home, barrier, parker(home))))
            .collect();
        let watches = config.stall.threshold.is_some() || config.reactors.is_some();
        let shared = Arc::new_cyclic(|me| Shared {
            me: Weak::clone(me),
            remotes: Remotes::new(&ends, &config, barrier),
            seats,
            inject: Inject::new(config.workers.next_power_of_two().min(SHARDS)),
            jobs: Inbox::new(),
            idle: CachePadded::new(Idle::new(config.workers, barrier)),
            spares: Spares::new(),
            alarm: Alarm::new(watches, config.reactors.clone()),
            shortage: log::Once::default(),
            barrier,
            cancelled: SharedCounter::default(),
            late_spawns: SharedCounter::default(),
            waiting: Waiting::new(),
            leftovers: Leftovers::new(),
            at_work: AtomicUsize::new(config.workers + 1),
            blocking: Blocking::new(config.blocking.clone()),
            outside_budget_yields: SharedCounter::default(),
            stalls: Stalls::default(),
            companion: Default::default(),
            is_down: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            next_worker: AtomicUsize::new(0),
            config,
        });
        let scheduler = Scheduler::of(shared, ANY);
        let workers = ends
            .into_iter()
            .enumerate()
            .map(|(index, ends)| Worker::new(scheduler.clone(), index, ends))
            .collect();
        (scheduler, workers)
    }

    fn of(shared: Arc<Shared>, worker: u16) -> Scheduler {
        let is_exact = shared.config.recorder.as_ref().is_some_and(|recorder| recorder.is_exact());
        Scheduler { shared, worker, is_exact }
    }

    /// The scheduler of tasks that are pinned to this worker.
    pub(super) fn pinned_to(&self, worker: usize) -> Scheduler {
        Scheduler::of(Arc::clone(&self.shared), worker as u16)
    }

    /// Calls `act` as something that happens in the runtime. The thread may belong to another.
    pub(super) fn within(&self, act: impl FnOnce()) {
        let mut act = Some(act);
        (self.config.within)(self, &mut || act.take().into_iter().for_each(|act| act()));
    }

    /// A task from a spawn: to the worker that spawns, or to the inject queue (W2).
    #[inline]
    pub(crate) fn submit(&self, task: Runnable) {
        if let Err(task) = self.try_submit(task) {
            // Last: what a future does in its drop may be anything, also leaving this runtime.
            self.submit_late(task);
        }
    }

    /// The same; if the runtime is closed, the task comes back.
    #[inline]
    pub(super) fn try_submit(&self, task: Runnable) -> Result<(), Runnable> {
        if self.config.staffing.is_per_core() {
            return self.try_submit_pinned(task);
        }
        let Err(task) = worker::try_spawn(self.address(), task) else { return Ok(()) };
        self.record_spawn(&task);
        match self.inject.spawn(this_thread() as usize, task) {
            Ok(()) => self.notify(),
            Err(Closed(task)) => return Err(task),
        }
        Ok(())
    }

    /// A reference that does not keep it; see [`upgrade`](Self::upgrade).
    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }

    /// The scheduler of tasks that are not pinned, if it still exists.
    pub(crate) fn upgrade(shared: &Weak<Shared>) -> Option<Scheduler> {
        Some(Scheduler::of(shared.upgrade()?, ANY))
    }

    /// Which one it is.
    pub(crate) fn address(&self) -> *const Shared {
        &**self
    }

    /// A task that was woken by a thread that is no worker.
    pub(super) fn inject(&self, task: Runnable) {
        match self.inject.push(this_thread() as usize, task) {
            Ok(()) => self.notify(),
            Err(Closed(task)) => self.leave(Late::Task(task)),
        }
    }

    /// A task that was woken by a thread that is not its worker.
    #[inline(never)]
    fn schedule_elsewhere(&self, task: Runnable) {
        self.record_wake(&task);
        match self.worker {
            ANY => self.inject(task),
            worker => self.wake_elsewhere(usize::from(worker), task),
        }
    }
}

impl Shared {
    /// A worker has taken this seat, and its reactor goes with it (L3).
    pub(super) fn reactor_taken(&self, seat: usize) {
        let is_vacant = || self.seats[seat].holder().is_none();
        self.config.reactors.iter().for_each(|reactors| reactors.seat_taken(seat, is_vacant));
    }

    /// A worker has left this seat, which is put to sleep next.
    pub(super) fn reactor_left(&self, seat: usize) {
        let is_vacant = || self.seats[seat].holder().is_none();
        self.config.reactors.iter().for_each(|reactors| reactors.seat_left(seat, is_vacant));
    }

    /// No worker holds this seat any more, or its holder has nothing to do: puts it to sleep.
    /// Returns a seat that was woken because there is something to do after all.
    pub(super) fn put_to_sleep(
        &self,
        seat: usize,
        was_searching: bool,
        has_work: impl FnOnce() -> bool,
    ) -> Option<usize> {
        let woken = self.idle.sleep(seat, was_searching, || self.ring_bells(), has_work);
        // If no worker holds it, sysmon must watch its reactor.
        self.config.reactors.iter().for_each(|reactors| reactors.watch_if_vacant(seat));
        if let Some(seat) = woken {
            self.wake_seat(seat);
        }
        self.wake_owners(seat);
        if self.is_down() && !canary::IDLE_DOWN_UNSEEN.sings() {
            // The shutdown may have taken this seat's bit, before it was counted, for that of
            // another.
            self.wake_all();
        }
        woken
    }

    /// L7, in debug builds: a worker that has just sat down holds one seat.
    pub(super) fn check_seats_of(&self, worker: usize) {
        let held = || self.seats.iter().filter(|seat| seat.holder() == Some(worker)).count();
        debug_assert!(held() <= 1, "worker {worker} holds {} seats (L7)", held());
    }

    /// A worker that counted as searching does not search any more. The last one has another begin
    /// (I2).
    pub(super) fn stop_search(&self) {
        if self.config.staffing.is_per_core() {
            self.idle.stop_search_alone();
        } else if let Some(seat) = self.idle.stop_search(|| self.wants_help()) {
            self.wake_seat(seat);
        }
    }

    /// Whether there is anything for which a worker should be woken (I1).
    pub(super) fn wants_help(&self) -> bool {
        let wants = |worker: usize| {
            let (remote, tasks) = (&self.remotes[worker], self.remotes[worker].stealer.len());
            tasks > 0 && (!self.holds_back(worker) || remote.own.expected.is_long(tasks))
                || !remote.jobs.is_empty()
        };
        self.is_down()
            || !self.inject.is_empty()
            || !self.jobs.is_empty()
            || (0..self.remotes.count()).any(wants)
    }

    /// Whether a worker may leave tasks in its ring though others are free. Sysmon must watch it,
    /// and find somebody else for them if they wait for a poll that does not end.
    pub(super) fn may_hold_back(&self, worker: usize) -> bool {
        let is_base = worker < self.remotes.seats();
        is_base && self.config.staffing.lends_seats() && self.config.stall.threshold.is_some()
    }

    /// Whether it does, if it has any: it is on its seat, and at no job.
    fn holds_back(&self, worker: usize) -> bool {
        self.may_hold_back(worker) && self.seats[worker].is_undisturbed(worker as u32)
    }

    /// Whether there is anything that a worker could take, or has to do.
    pub(super) fn has_work(&self) -> bool {
        let can_steal = !self.config.staffing.is_per_core();
        self.has_work_but_in_deques()
            || can_steal && self.remotes.active().any(|remote| !remote.jobs.is_empty())
    }

    /// The same without the jobs that workers have in their deques.
    pub(super) fn has_work_but_in_deques(&self) -> bool {
        self.has_tasks() || !self.jobs.is_empty()
    }

    /// The same without any jobs.
    pub(super) fn has_tasks(&self) -> bool {
        self.is_down()
            || !self.inject.is_empty()
            || self.remotes.active().any(|remote| !remote.stealer.is_empty())
    }

    pub(crate) fn is_down(&self) -> bool {
        // Acquire: pairs with the Release in close().
        self.is_down.load(Ordering::Acquire)
    }

    /// Takes nothing more, and tells the workers to end. Whether this is the first time; to be
    /// followed by [`cancel_all`](Self::cancel_all).
    ///
    /// Runs no code of others: what is dropped may wait for anything, and gets an answer only from
    /// what is closed (T9). So what has not begun is left to be dropped later.
    #[must_use]
    pub(crate) fn close(&self) -> bool {
        // Release: pairs with the Acquire in is_down().
        let was_down = self.is_down.swap(true, Ordering::Release);
        // First: jobs that must run nevertheless are there when workers end.
        let jobs = self.jobs.close();
        let no_spares = self.spares.close();
        // A worker from whom the inject queue takes nothing more knows why.
        self.close_seats(no_spares);
        // From now on no worker has the seat of one that waits for a job, so that one does what
        // others would have done.
        self.remotes.all().for_each(|remote| remote.waiter.unpark());
        self.leftovers.leave_all(&mut self.inject.close());
        self.waiting.close();
        let closures = self.blocking.close();
        let wakers = self.config.reactors.as_ref().map(|reactors| reactors.close());
        self.leftovers.leave_others(jobs.into_iter().map(Late::Job));
        self.leftovers.leave_others(closures.map(Late::Closure));
        self.leftovers.leave_others(wakers.into_iter().flatten().map(Late::Waker));
        // Release: pairs with the Acquire in await_close(): what is dropped now finds all closed.
        self.is_closed.store(true, Ordering::Release);
        self.alarm.wake();
        self.wake_all();
        self.gather_queued();
        !was_down
    }

    /// Called before anything is dropped because the runtime shuts down. If that has begun, waits
    /// until everything is closed: a worker may see that it has to end before the shutdown has come
    /// to the blocking threads, and a drop would find them open (T9). The shutdown waits for nobody
    /// meanwhile.
    pub(super) fn await_close(&self) {
        // Acquire: pairs with the Release in close().
        while self.is_down() && !self.is_closed.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    /// Cancels everything that is not running. What is dropped may wait for other things, which
    /// somebody else drops then (T9).
    pub(crate) fn cancel_all(&self, is_first: bool) {
        if self.left_to_cancel() > 1 {
            self.tell_sysmon();
        }
        self.cancel_queued();
        if is_first {
            self.one_has_ended();
        }
    }

    /// No more spares come: one that ends because its seat is closed keeps that seat, and must not
    /// be called to another (L7).
    fn close_seats(&self, _: NoSpares) {
        self.seats.iter().for_each(|seat| seat.close());
    }

    /// Cancels what is in the workers' queues, after the seats were closed, and what was left
    /// elsewhere; a worker that is stuck may never come to do it. What is pinned to one has to wait
    /// for it.
    pub(super) fn cancel_queued(&self) {
        self.gather_queued();
        while self.cancel_next() {}
    }

    /// Moves what is in the workers' queues to the leftovers.
    pub(super) fn gather_queued(&self) {
        // What a worker has put into its slot without seeing that its seat is closed is visible
        // behind this. If it cannot be had, the worker itself will see to it.
        let has_barrier = self.barrier.heavy();
        // With the leftovers locked: a worker that finds its queue empty may be the last to end,
        // and looks there.
        self.leftovers.gather(|tasks| {
            for remote in self.remotes.all() {
                let stolen = std::iter::repeat_with(|| remote.stealer.steal());
                let queued = stolen.filter(|stolen| !stolen.is_retry()).map_while(Steal::success);
                tasks.extend(queued);
                tasks.extend(has_barrier.then(|| remote.own.empty_lifo()).flatten());
            }
        });
    }

    /// Ends one thing of those that are left; `false` if none is. Any number of threads may do so
    /// at the same time, so that a drop that waits keeps no others waiting (T9).
    pub(super) fn cancel_next(&self) -> bool {
        self.await_close();
        let Some(late) = self.leftovers.pop() else { return self.waiting.cancel_next() };
        let is_task = matches!(late, Late::Task(_));
        late.end();
        self.cancelled.add(u64::from(is_task));
        true
    }

    /// How much is left that nobody has begun to cancel.
    pub(super) fn left_to_cancel(&self) -> usize {
        self.leftovers.len() + self.waiting.left()
    }

    /// One of the threads that may leave tasks behind has ended. The last one drops what there is,
    /// and counts as at work until nothing is left: if a drop waits, others come (T9).
    pub(super) fn one_has_ended(&self) {
        // AcqRel: pairs with itself, and with the Acquire in is_all_over(): the last one finds what
        // all others have left.
        let leave = |at_work: usize| (at_work > 1).then(|| at_work - 1);
        while self.at_work.fetch_update(Ordering::AcqRel, Ordering::Acquire, leave).is_err() {
            self.cancel_queued_in_turn();
            if self.leftovers.close_if_empty() {
                // Another may have begun meanwhile, which ends next.
                if self.at_work.fetch_sub(1, Ordering::AcqRel) == 1 {
                    self.spares.end();
                }
                break;
            }
        }
        // Spares end all the time, and no thread waits for that before the shutdown. The last one
        // sees that the runtime shuts down, because the shutdown itself is one of those that end.
        if self.is_down() {
            self.alarm.wake();
        }
    }

    /// The same, by a thread that may be doing that already.
    pub(super) fn cancel_queued_in_turn(&self) {
        let mut cancel = || one_after_the_other(|| self.cancel_queued());
        (self.config.outside_of_tasks)(&mut cancel);
    }

    /// There is one more, a closer, unless all have ended.
    pub(super) fn one_more_has_begun(&self) -> bool {
        // AcqRel: as in one_has_ended().
        let begin = |at_work: usize| (at_work > 0).then_some(at_work + 1);
        self.at_work.fetch_update(Ordering::AcqRel, Ordering::Relaxed, begin).is_ok()
    }

    /// There is one more, a spare, while others are at work.
    pub(super) fn one_has_begun(&self) {
        // Relaxed: under the lock of the spares, which the shutdown closes before it has ended.
        self.at_work.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether all of them have ended.
    pub(super) fn is_all_over(&self) -> bool {
        // Acquire: pairs with the AcqRel in one_has_ended().
        self.at_work.load(Ordering::Acquire) == 0
    }

    /// The first steps of [`close`](Self::close), as far as workers see them.
    #[cfg(all(test, not(loom)))]
    pub(super) fn begin_close(&self) {
        self.is_down.store(true, Ordering::Release);
        self.leftovers.leave_all(&mut self.inject.close());
    }

    pub(super) fn wake_all(&self) {
        self.idle.wake_all(|seat| self.wake_seat(seat));
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn flavor(&self) -> RuntimeFlavor {
        self.config.flavor
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.config.identity
    }

    /// How many tasks wait in the inject queue.
    pub(crate) fn inject_depth(&self) -> usize {
        self.inject.len()
    }
}

/// The scheduler of a task that waits, and where the task is kept.
pub(crate) struct Link {
    shared: Arc<Shared>,
    place: Place,
}

/// | bits | field |
/// |---|---|
/// | 48..64 | the worker that the task is pinned to, or [`ANY`] |
/// | 0..48 | its key in the list of that worker, or of those that are not pinned |
#[derive(Clone, Copy)]
struct Place(u64);

// Layout: see the table.
const KEY_BITS: u32 = 48;
const _: () = assert!(MAX_WORKERS <= ANY as usize, "no worker has the number that stands for any");

impl Place {
    fn new(worker: u16, key: usize) -> Self {
        debug_assert!(key < 1 << KEY_BITS, "more tasks than fit into memory");
        Place(u64::from(worker) << KEY_BITS | key as u64)
    }

    fn worker(self) -> u16 {
        (self.0 >> KEY_BITS) as u16
    }

    fn key(self) -> usize {
        (self.0 & ((1 << KEY_BITS) - 1)) as usize
    }
}

impl Schedule for Scheduler {
    type Link = Link;

    fn adopt(&self, task: TaskRef) -> Option<Link> {
        let key = match self.worker {
            ANY => self.waiting.adopt(task),
            worker => self.remotes[usize::from(worker)].pinned.adopt(task),
        };
        Some(Link { shared: self.shared.clone(), place: Place::new(self.worker, key?) })
    }

    #[inline(always)]
    fn poll_returned(&self) {
        if self.is_exact {
            trace::poll_returned();
        }
    }

    fn release(link: Link) -> bool {
        let Link { shared, place } = link;
        match place.worker() {
            ANY => shared.waiting.release(place.key()),
            worker => shared.remotes[usize::from(worker)].pinned.release(place.key()),
        }
    }

    unsafe fn schedule(link: *const Link, task: Runnable) {
        // SAFETY: (T10) `link` is in the task, which has not been handed on yet.
        let Link { shared, place } = unsafe { &*link };
        let worker = place.worker();
        // A worker goes on with a reference of its own; others need one.
        let tried = match worker {
            ANY => worker::try_wake(Arc::as_ptr(shared), task),
            worker => shared.try_keep(usize::from(worker), task),
        };
        if let Err(task) = tried {
            Scheduler::of(shared.clone(), worker).schedule_elsewhere(task);
        }
    }
}
