//! What all workers of a runtime share.

use super::blocking::{self, Blocking};
use super::identity::Identity;
use super::idle::Idle;
use super::inject::{Closed, Inject};
use super::pinned::Lane;
use super::slot::Slot;
use super::waiting::Waiting;
use super::worker::{self, Worker};
use crate::env::Parker;
use crate::metrics::{HistogramConfiguration, Outside, WorkerCounters};
use crate::task::{Notified, Schedule, TaskRef};
use crossbeam_utils::CachePadded;
use heist_deque::ring;
use heist_sync::Barrier;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// Whether a runtime has threads of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// Tasks run on the thread that waits in `block_on`.
    CurrentThread,
    /// Tasks run on worker threads.
    MultiThread,
}

/// What a runtime's builder decides.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) identity: Identity,
    pub(crate) flavor: RuntimeFlavor,
    pub(crate) workers: usize,
    /// Every so many ticks a worker looks at the inject queue first; found by itself if not set.
    pub(crate) tick_interval: Option<u32>,
    /// After so many tasks a worker that `block_on` drives looks at the awaited future.
    pub(crate) ticks_per_look: u32,
    pub(crate) blocking: blocking::Config,
    /// How poll times are counted, if they are.
    pub(crate) poll_times: Option<HistogramConfiguration>,
    /// Whether every task is pinned: nobody takes another's.
    pub(crate) thread_per_core: bool,
    /// Drops a task that comes too late, as one that is in the runtime.
    pub(crate) refuse: fn(&Scheduler, Runnable),
}

/// A task that runs on this scheduler, and may be run.
pub(crate) type Runnable = Notified<Scheduler>;

/// A handle on the scheduler; what tasks have of it.
#[derive(Clone)]
pub(crate) struct Scheduler {
    shared: Arc<Shared>,
    /// Which worker the tasks that have this are pinned to (W8); or ANY.
    worker: u32,
}

const ANY: u32 = u32::MAX;

/// What all workers of a runtime share.
pub(crate) struct Shared {
    pub(super) remotes: Box<[CachePadded<Remote>]>,
    pub(super) inject: Inject<Scheduler>,
    pub(super) idle: Idle,
    pub(super) waiting: Waiting,
    pub(crate) blocking: Blocking,
    /// What threads that are no workers count.
    pub(crate) outside: Arc<Outside>,
    is_down: AtomicBool,
    /// Who gets the next pinned task that is spawned outside of the workers; counts on and on.
    pub(super) next_worker: AtomicUsize,
    pub(super) config: Config,
}

/// What others see of a worker.
pub(super) struct Remote {
    pub(super) stealer: ring::Stealer<Runnable>,
    /// The task woken last.
    pub(super) lifo: Slot,
    /// Counts the worker's steps; who sees it stand still knows that a poll is going on.
    pub(super) tick: AtomicU32,
    pub(super) parker: Parker,
    pub(super) counters: Arc<WorkerCounters>,
    pub(super) lane: Lane<Scheduler>,
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
        let rings: Vec<ring::Owner<Runnable>> =
            (0..config.workers).map(|_| ring::Owner::new()).collect();
        let barrier = Barrier::detect();
        let remote = |ring: &ring::Owner<Runnable>| {
            CachePadded::new(Remote {
                stealer: ring.stealer(),
                lifo: Slot::new(barrier),
                tick: AtomicU32::new(0),
                parker: Parker::new(),
                counters: Arc::new(WorkerCounters::new(config.poll_times.as_ref())),
                lane: Lane::new(),
            })
        };
        let shared = Arc::new(Shared {
            remotes: rings.iter().map(remote).collect(),
            inject: Inject::new(config.workers.next_power_of_two().min(MAX_SHARDS)),
            idle: Idle::new(config.workers, barrier),
            waiting: Waiting::new(),
            blocking: Blocking::new(config.blocking.clone()),
            outside: Arc::default(),
            is_down: AtomicBool::new(false),
            next_worker: AtomicUsize::new(0),
            config,
        });
        let scheduler = Scheduler { shared, worker: ANY };
        let workers = rings
            .into_iter()
            .enumerate()
            .map(|(index, ring)| Worker::new(scheduler.clone(), index, ring))
            .collect();
        (scheduler, workers)
    }

    /// The scheduler of tasks that are pinned to this worker.
    pub(super) fn pinned_to(&self, worker: usize) -> Scheduler {
        Scheduler { shared: Arc::clone(&self.shared), worker: worker as u32 }
    }

    /// A task from a spawn: to the worker that spawns, or to the inject queue (W2).
    #[inline]
    pub(crate) fn submit(&self, task: Runnable) {
        if self.config.thread_per_core {
            return self.submit_pinned(task);
        }
        if let Err(task) = worker::try_spawn(self, task) {
            self.injected(self.inject.spawn(producer(), task));
        }
    }

    /// As [`submit`](Self::submit) on one of this scheduler's workers; elsewhere the task comes back.
    #[inline]
    pub(crate) fn try_submit(&self, task: Runnable) -> Result<(), Runnable> {
        if self.config.thread_per_core { self.try_pin(task) } else { worker::try_spawn(self, task) }
    }

    fn wake_any(&self, task: Runnable) {
        if let Err(task) = worker::try_wake(self, task) {
            self.inject(task);
        }
    }

    #[inline]
    pub(super) fn is_same(&self, other: &Scheduler) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// A task that was woken by a thread that is no worker.
    fn inject(&self, task: Runnable) {
        self.injected(self.inject.push(producer(), task));
    }

    fn injected(&self, pushed: Result<(), Closed<Scheduler>>) {
        match pushed {
            Ok(()) => self.notify(),
            // Last: what a future does in its drop may be anything, also leaving this runtime.
            Err(Closed(task)) => (self.config.refuse)(self, task),
        }
    }
}

/// Guessed: beyond this many lists, looking at all of them costs more than their locks.
const MAX_SHARDS: usize = 8;

impl Shared {
    /// Something was made runnable where others can take it.
    #[inline]
    pub(super) fn notify(&self) {
        if let Some(sleeper) = self.idle.submitted() {
            self.unpark(sleeper);
        }
    }

    pub(super) fn unpark(&self, index: usize) {
        self.remotes[index].parker.unpark();
    }

    /// Whether there is anything that a worker could take, or has to do.
    pub(super) fn has_work(&self) -> bool {
        self.is_down()
            || !self.inject.is_empty()
            || self.remotes.iter().any(|remote| !remote.stealer.is_empty())
    }

    pub(super) fn is_down(&self) -> bool {
        // Acquire: pairs with the Release in shut_down().
        self.is_down.load(Ordering::Acquire)
    }

    /// Cancels everything that is not running, and tells the workers to end.
    pub(crate) fn shut_down(&self) {
        // Release: pairs with the Acquire in is_down().
        self.is_down.store(true, Ordering::Release);
        self.inject.close();
        self.waiting.close();
        self.blocking.close();
        self.wake_all();
    }

    pub(super) fn wake_all(&self) {
        self.idle.wake_all(|sleeper| self.unpark(sleeper));
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

impl Schedule for Scheduler {
    fn schedule(&self, task: Runnable) {
        match self.worker {
            ANY => self.wake_any(task),
            worker => self.wake_pinned(worker as usize, task),
        }
    }

    unsafe fn schedule_at(at: *const Self, task: Runnable) {
        // SAFETY: (T4) the task has not been handed on yet.
        let scheduler = unsafe { &*at };
        // A worker goes on with a reference of its own; others need one.
        match scheduler.worker {
            ANY => {
                if let Err(task) = worker::try_wake(scheduler, task) {
                    scheduler.clone().inject(task);
                }
            }
            worker => {
                if let Err(task) = scheduler.try_keep(worker as usize, task) {
                    scheduler.clone().wake_elsewhere(worker as usize, task);
                }
            }
        }
    }

    fn adopt(&self, task: TaskRef) -> Option<usize> {
        match self.worker {
            ANY => self.waiting.adopt(task),
            worker => self.remotes[worker as usize].lane.adopt(task),
        }
    }

    fn release(&self, key: usize) -> bool {
        match self.worker {
            ANY => self.waiting.release(key),
            worker => self.remotes[worker as usize].lane.release(key),
        }
    }
}

/// A number for the calling thread, that says which list of the inject queue is its own.
pub(super) fn producer() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: any distribution will do.
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.try_with(|number| *number).unwrap_or(0)
}
