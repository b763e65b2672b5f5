//! What all workers of a runtime share.

use super::blocking::{self, Blocking};
use super::identity::Identity;
use super::idle::Idle;
use super::inject::{Closed, Inject};
use super::slot::Slot;
use super::waiting::Waiting;
use super::worker::{self, Worker};
use crate::env::Parker;
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
    /// Drops a task that comes too late, as one that is in the runtime.
    pub(crate) refuse: fn(&Scheduler, Runnable),
}

/// A task that runs on this scheduler, and may be run.
pub(crate) type Runnable = Notified<Scheduler>;

/// A handle on the scheduler; what tasks have of it.
#[derive(Clone)]
pub(crate) struct Scheduler(Arc<Shared>);

/// What all workers of a runtime share.
pub(crate) struct Shared {
    pub(super) remotes: Box<[CachePadded<Remote>]>,
    pub(super) inject: Inject<Scheduler>,
    pub(super) idle: Idle,
    waiting: Waiting,
    pub(crate) blocking: Blocking,
    is_down: AtomicBool,
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
}

impl Deref for Scheduler {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
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
            })
        };
        let scheduler = Scheduler(Arc::new(Shared {
            remotes: rings.iter().map(remote).collect(),
            inject: Inject::new(config.workers.next_power_of_two().min(MAX_SHARDS)),
            idle: Idle::new(config.workers, barrier),
            waiting: Waiting::new(),
            blocking: Blocking::new(config.blocking.clone()),
            is_down: AtomicBool::new(false),
            config,
        }));
        let workers = rings
            .into_iter()
            .enumerate()
            .map(|(index, ring)| Worker::new(scheduler.clone(), index, ring))
            .collect();
        (scheduler, workers)
    }

    /// A task from a spawn: to the worker that spawns, or to the inject queue (W2).
    #[inline]
    pub(crate) fn submit(&self, task: Runnable) {
        if let Err(task) = worker::try_wake(self, task) {
            self.inject(task);
        }
    }

    #[inline]
    pub(super) fn is_same(&self, other: &Scheduler) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn inject(&self, task: Runnable) {
        match self.inject.push(producer(), task) {
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
        self.submit(task);
    }

    unsafe fn schedule_at(at: *const Self, task: Runnable) {
        // SAFETY: (T4) the task has not been handed on yet.
        let scheduler = unsafe { &*at };
        // A worker goes on with a reference of its own; others need one.
        if let Err(task) = worker::try_wake(scheduler, task) {
            scheduler.clone().inject(task);
        }
    }

    fn adopt(&self, task: TaskRef) -> Option<usize> {
        self.waiting.adopt(task)
    }

    fn release(&self, key: usize) -> bool {
        self.waiting.release(key)
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
