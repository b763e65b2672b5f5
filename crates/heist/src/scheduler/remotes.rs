//! The part of each worker that other threads see. Base workers exist from the beginning; spare
//! workers are added when they are needed.

use super::help::Expected;
use super::idle::MAX_WORKERS;
use super::jobs::{Inbox, Job};
use super::pinned::PinnedInbox;
use super::shared::{Config, Runnable, Scheduler};
use super::slot::LifoSlot;
use crate::env::{Parker, Probe};
use crate::metrics::WorkerCounters;
use crate::task::{Id, Notified};
use crate::trace::Scribe;
use crossbeam_utils::CachePadded;
use heist_deque::{deque, ring};
use heist_sync::Barrier;
use std::ops::Index;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

/// The owner's ends of a worker's queues.
pub(super) struct Ends {
    pub(super) ring: ring::Owner<Runnable>,
    pub(super) jobs: deque::Owner<Job>,
}

impl Ends {
    pub(super) fn new() -> Self {
        let jobs = deque::Owner::new();
        // A worker may be asleep by now.
        jobs.ring();
        Ends { ring: ring::Owner::new(), jobs }
    }
}

/// What others see of a worker.
pub(super) struct Remote {
    pub(super) stealer: ring::Stealer<Runnable>,
    pub(super) jobs: deque::Stealer<Job>,
    /// What the worker writes in each step has lines of its own: a thief that looks for the queues
    /// above and below does not take them away.
    pub(super) own: CachePadded<Own>,
    pub(super) counters: Arc<WorkerCounters>,
    /// The record of what it does, if there is one.
    pub(super) scribe: Option<Arc<Scribe>>,
    pub(super) pinned: PinnedInbox<Scheduler>,
    /// Jobs for this worker alone.
    pub(super) direct_jobs: Inbox,
    /// Counts when it begins something in the middle of a job that has nothing to do with it, and
    /// when it is done with that.
    pub(super) unrelated_seq: AtomicU32,
    /// Where it sleeps while it waits for a job.
    pub(super) waiter: Arc<Parker>,
    /// Wakes the thread if it drives another runtime while the worker has stepped aside.
    driving: Mutex<Option<Waker>>,
    /// The thread that the worker is on, or was.
    probe: Mutex<Option<Probe>>,
}

/// What a worker itself writes, and others look at when they find nothing else.
pub(super) struct Own {
    /// The task woken last.
    pub(super) lifo: LifoSlot,
    /// Changes with each of the worker's steps. Odd while it has nothing to run; if it is even and
    /// stands still, a poll is going on.
    pub(super) tick: AtomicU32,
    pub(super) running: Running,
    pub(super) expected: Expected,
}

/// The task that a worker runs, or ran last: copies, as the task itself may be gone at any time.
/// Two plain stores a poll, measured as nothing (`yield_many`), for reports that name the stuck
/// task.
pub(super) struct Running {
    id: AtomicU64,
    spawned_at: AtomicPtr<Location<'static>>,
}

impl Running {
    fn new() -> Self {
        Running { id: AtomicU64::new(0), spawned_at: AtomicPtr::new(ptr::null_mut()) }
    }

    /// By the worker alone.
    #[inline]
    pub(super) fn set(&self, task: &Runnable) {
        self.id.store(task.id().number().get(), Ordering::Relaxed);
        self.spawned_at.store(ptr::from_ref(task.spawned_at()).cast_mut(), Ordering::Relaxed);
    }

    /// What it runs is no task, if anything.
    #[inline]
    pub(super) fn clear(&self) {
        self.id.store(0, Ordering::Relaxed);
    }

    /// If the worker has been in one poll for a while. Else it may be of two tasks, one after the
    /// other.
    pub(super) fn get(&self) -> Option<(Id, &'static Location<'static>)> {
        let id = Id::from_number(self.id.load(Ordering::Relaxed))?;
        let spawned_at = self.spawned_at.load(Ordering::Relaxed);
        // SAFETY: (type) set() stores references that live for ever, and nothing else.
        Some((id, unsafe { spawned_at.as_ref() }?))
    }
}

impl Own {
    /// Takes the task out of the slot of a worker that will not take it soon, or never. A thief
    /// that is at the slot may be after a task that is gone by now; therefore this retries until
    /// the slot is empty.
    pub(super) fn empty_lifo(&self) -> Option<Runnable> {
        while self.lifo.has_task() {
            let stolen = self.steal_lifo();
            if stolen.is_some() {
                return stolen;
            }
            std::thread::yield_now();
        }
        None
    }

    /// Takes the task out of the worker's slot, unless another thread is at it.
    pub(super) fn steal_lifo(&self) -> Option<Runnable> {
        let task = self.lifo.steal()?;
        // SAFETY: (T1) put there by the slot's owner, and taken out here alone.
        Some(unsafe { Notified::from_ptr(task) })
    }

    /// Whether the worker has been in one poll since it had this tick.
    pub(super) fn is_stuck_since(&self, tick: u32) -> bool {
        tick % 2 == 0 && self.tick.load(Ordering::Relaxed) == tick
    }
}

/// All workers, by number: the base workers first.
pub(super) struct Remotes {
    base: Box<[Arc<Remote>]>,
    spares: Box<[OnceLock<Arc<Remote>>]>,
    /// Number of spares, from the first on, that may have something in their queues.
    active_spares: AtomicUsize,
    barrier: Barrier,
}

impl Remotes {
    /// Of base workers with these queues.
    pub(super) fn new(ends: &[Ends], config: &Config, barrier: Barrier) -> Self {
        let spares = if config.staffing.lends_seats() {
            config.blocking.limits.threads.min(MAX_WORKERS)
        } else {
            0
        };
        let remote = |ends| Arc::new(Remote::new(ends, config, barrier, false));
        let base = ends.iter().map(remote);
        Remotes {
            base: base.collect(),
            spares: (0..spares).map(|_| OnceLock::new()).collect(),
            active_spares: AtomicUsize::new(0),
            barrier,
        }
    }

    /// Adds what others see of a spare worker that there was not before.
    pub(super) fn add_spare(&self, spare: usize, ends: &Ends, config: &Config) {
        let remote = Arc::new(Remote::new(ends, config, self.barrier, true));
        let is_new = self.spares[spare].set(remote).is_ok();
        debug_assert!(is_new, "a spare worker is made once");
    }

    /// From now on other workers look at the first `count` spares.
    pub(super) fn show_spares(&self, count: usize) {
        // Release: pairs with the Acquire in count().
        self.active_spares.store(count, Ordering::Release);
    }

    /// How many spare workers there may be at once.
    pub(super) fn most_spares(&self) -> usize {
        self.spares.len()
    }

    /// How many base workers there are, and seats.
    pub(super) fn seats(&self) -> usize {
        self.base.len()
    }

    /// How many workers may have something in their queues.
    #[inline]
    pub(super) fn count(&self) -> usize {
        // Acquire: pairs with the Release in show_spares().
        self.base.len() + self.active_spares.load(Ordering::Acquire)
    }

    /// Base workers.
    pub(super) fn base(&self) -> impl Iterator<Item = &Remote> {
        self.base.iter().map(|remote| &**remote)
    }

    /// Workers that may have something in their queues.
    #[inline]
    pub(super) fn active(&self) -> impl Iterator<Item = &Remote> {
        let spares = &self.spares[..self.count() - self.base.len()];
        self.base().chain(spares.iter().filter_map(|spare| spare.get().map(|remote| &**remote)))
    }

    /// All workers there have ever been.
    pub(super) fn all(&self) -> impl Iterator<Item = &Remote> {
        self.base().chain(self.spares.iter().map_while(|spare| spare.get().map(|remote| &**remote)))
    }
}

impl Index<usize> for Remotes {
    type Output = Arc<Remote>;

    #[inline]
    fn index(&self, worker: usize) -> &Arc<Remote> {
        match self.base.get(worker) {
            Some(remote) => remote,
            None => self.spare(worker - self.base.len()),
        }
    }
}

impl Remotes {
    #[cold]
    fn spare(&self, spare: usize) -> &Arc<Remote> {
        self.spares[spare].get().expect("a worker has its number from add_spare()")
    }
}

impl Remote {
    fn new(ends: &Ends, config: &Config, barrier: Barrier, is_spare: bool) -> Self {
        Remote {
            stealer: ends.ring.stealer(),
            jobs: ends.jobs.stealer(),
            own: CachePadded::new(Own {
                lifo: LifoSlot::new(barrier),
                tick: AtomicU32::new(1),
                running: Running::new(),
                expected: Expected::new(),
            }),
            counters: Arc::new(WorkerCounters::new(config.poll_times.as_ref())),
            scribe: config.recorder.as_ref().map(|recorder| recorder.scribe(is_spare)),
            pinned: PinnedInbox::new(),
            direct_jobs: Inbox::new(),
            unrelated_seq: AtomicU32::new(0),
            waiter: Arc::new(Parker::new()),
            driving: Mutex::new(None),
            probe: Mutex::new(None),
        }
    }

    /// Whether there may be something that only this worker can run.
    #[inline]
    pub(super) fn has_own(&self) -> bool {
        self.pinned.has_tasks() || !self.direct_jobs.is_empty()
    }

    /// The calling thread runs the worker.
    pub(super) fn run_here(&self) {
        *self.lock_probe() = Some(Probe::of_this_thread());
    }

    /// The thread that the worker is on, or was.
    pub(super) fn probe(&self) -> Option<Probe> {
        self.lock_probe().clone()
    }

    /// Sets what wakes the thread while it drives another runtime. Returns what did before.
    pub(super) fn set_driving(&self, waker: Option<Waker>) -> Option<Waker> {
        std::mem::replace(&mut *self.lock_driving(), waker)
    }

    /// Something has come that only this worker can run, while it waits. The lock is taken after
    /// that, and by the worker before it looks: so the worker sees what has come, or is woken.
    pub(super) fn wake_waiting(&self) {
        self.waiter.unpark();
        let waker = self.lock_driving().clone();
        waker.iter().for_each(Waker::wake_by_ref);
    }

    fn lock_driving(&self) -> MutexGuard<'_, Option<Waker>> {
        // Nothing panics with the lock held: the wakers are heist's.
        self.driving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_probe(&self) -> MutexGuard<'_, Option<Probe>> {
        // Nothing panics with the lock held.
        self.probe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
