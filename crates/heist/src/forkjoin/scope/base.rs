//! The part that all kinds of scopes share: the count of their jobs, and how their owner waits.

use super::count::Count;
use crate::env::{quietly, resume_without};
use crate::forkjoin::deque_view;
use crate::forkjoin::outside::{submit, submit_elsewhere};
use crate::forkjoin::wait::{try_requeue, wait_until};
use crate::forkjoin::waiter::Waiter;
use crate::runtime::{Handle, RuntimeFlavor};
use crate::scheduler::{Job, OfScope, Origin, Worker};
use crate::tuning::COUNTER_BLOCK;
use heist_deque::deque::Mark;
use heist_sync::{AtomicBool, Ordering};
use std::any::Any;
use std::panic;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// A scope without its kind. It lies in the frame of the scope's owner, so the thread that has
/// ended the last job must not touch it afterwards (J2).
pub(super) struct ScopeBase {
    handle: Handle,
    /// The worker that opened the scope; null if the thread is not a worker.
    owner: *const Worker,
    /// Where the owner's deque ended when the scope was opened.
    mark: Option<Mark>,
    count: Count,
    waiter: Waiter,
    is_cancelled: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: (J2) the count is told whether the owner counts; the pointer to the owner's worker is
// only compared; everything else is Sync.
unsafe impl Sync for ScopeBase {}
// SAFETY: (type) it is lent to jobs and never moved to another thread.
unsafe impl Send for ScopeBase {}

impl ScopeBase {
    /// For a scope that the calling thread opens, with jobs on this runtime. `worker` is the
    /// thread's worker there.
    pub(super) fn new(handle: Handle, worker: Option<&Worker>) -> Self {
        let waiter = worker.map_or_else(Waiter::here, Waiter::of);
        ScopeBase {
            handle,
            owner: worker.map_or(ptr::null(), ptr::from_ref),
            mark: worker.map(deque_view::mark),
            count: Count::new(),
            waiter,
            is_cancelled: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    /// Whether the worker of the calling thread has opened the scope. A thread without a worker
    /// counts like other threads, even if it has opened the scope.
    #[inline(always)]
    fn is_owner(&self, worker: Option<&Worker>) -> bool {
        worker.is_some_and(|worker| ptr::eq(worker, self.owner))
    }

    /// Spawns a job that calls [`done`](Self::done) when it ends: to the deque of `worker` if that
    /// is a worker of the scope's runtime, otherwise to the inbox. `job` gets the worker for whose
    /// deque the job is.
    ///
    /// # Safety
    /// Like [`Job::new`]; the scope may be used until the job has been run.
    #[inline]
    pub(super) unsafe fn spawn(
        &self,
        worker: Option<&Worker>,
        job: impl FnOnce(Option<&Worker>) -> Job,
    ) {
        let worker = worker.filter(|worker| worker.is_of(self.handle.scheduler()));
        self.add(worker);
        match worker {
            Some(worker) => deque_view::push(worker, job(Some(worker))),
            None => submit(&self.handle, job(None)),
        }
    }

    #[inline]
    fn add(&self, worker: Option<&Worker>) {
        let is_owner = self.is_owner(worker);
        match worker.and_then(|worker| worker.count_cache_of(self.address())) {
            Some(cache) if !is_owner => {
                if !cache.take() {
                    self.count.add_ahead(COUNTER_BLOCK);
                    cache.put(COUNTER_BLOCK - 1);
                }
            }
            // SAFETY: (J2) `is_owner` only on the owner's thread.
            _ => unsafe { self.count.add(is_owner) },
        }
    }

    /// Sends a direct job to each worker. `job` makes it from the worker's number and the number of
    /// workers.
    ///
    /// # Safety
    /// Like [`spawn`](Self::spawn).
    pub(super) unsafe fn spawn_direct_jobs(&self, job: impl Fn(usize, usize) -> Job) {
        let (scheduler, workers) = (self.handle.scheduler(), self.handle.num_workers());
        let has_threads = self.handle.runtime_flavor() == RuntimeFlavor::MultiThread;
        for index in 0..workers {
            // SAFETY: (J2) any thread may count like one that is not the owner.
            unsafe { self.count.add(false) };
            let job = job(index, workers);
            let sent = if has_threads { scheduler.send_direct_job(index, job) } else { Err(job) };
            if let Err(job) = sent {
                submit_elsewhere(&self.handle, job);
            }
        }
    }

    /// Counts a job as ended, on this worker. The scope may be gone afterwards.
    #[inline]
    pub(super) fn done(&self, worker: Option<&Worker>) {
        let is_owner = self.is_owner(worker);
        match worker.and_then(|worker| worker.count_cache_of(self.address())) {
            Some(cache) if !is_owner => cache.put(1),
            // SAFETY: (J2) `is_owner` only on the owner's thread.
            _ if unsafe { self.count.done(is_owner) } => self.end(),
            _ => {}
        }
    }

    /// Counts jobs of the scope at this address as ended. The scope may be gone afterwards.
    ///
    /// # Safety
    /// The jobs were counted there, and not yet as ended.
    unsafe fn settle(scope: *const (), jobs: u64) {
        // SAFETY: (J2) the scope is not left before the jobs are counted as ended.
        let base = unsafe { &*scope.cast::<ScopeBase>() };
        if base.count.done_all(jobs) {
            base.end();
        }
    }

    /// The last job has ended.
    #[cold]
    fn end(&self) {
        let waiter = self.waiter.clone();
        self.count.set(|| waiter.unpark());
    }

    /// Waits until all jobs have ended, on the thread that opened the scope. `worker` is the
    /// thread's worker.
    pub(super) fn wait(&self, worker: Option<&Worker>) {
        let Some(worker) = worker else {
            // SAFETY: (J2) the thread that opened the scope.
            unsafe { self.count.merge() };
            return self.waiter.wait_and_help(self.count.latch(), || self.take_left_job(false));
        };
        let fall_asleep = || {
            // SAFETY: (J2) the owner's thread.
            unsafe { self.count.merge() };
            self.count.latch().fall_asleep();
        };
        // SAFETY: (J2) the owner's thread.
        let is_over = || unsafe { self.count.is_over() };
        let help =
            |is_last_look| self.run_newer(worker).or_else(|| self.take_left_job(is_last_look));
        wait_until(worker, is_over, fall_asleep, help);
    }

    /// Runs the scope's jobs at the end of its owner's deque, one after another. While there are
    /// any, the scope is not over, so this does not read the count, whose cache line other threads
    /// write. Requeues other jobs that were pushed since the scope was opened; returns such a job
    /// if it cannot.
    fn run_newer(&self, worker: &Worker) -> Option<(Job, Origin)> {
        let mut has_run = false;
        // A direct job comes first; see wait_until().
        while !(has_run && worker.has_direct_job()) {
            // Jobs below the mark do not belong to the scope (J3).
            let job = self.mark.and_then(|mark| deque_view::pop_since(worker, mark))?;
            if self.is_own(&job) {
                if worker.is_fixed() {
                    // It may be searching: a step of its ordinary work may have ended so.
                    worker.go_on();
                }
                worker.run_job(job, Origin::Here);
                has_run = true;
                continue;
            }
            // SAFETY: (J2) the owner's thread.
            if has_run && unsafe { self.count.is_over() } {
                // The wait is over, so the job stays for later.
                deque_view::push(worker, job);
                break;
            }
            if let Err(kept) = try_requeue(worker, job, Origin::Here) {
                return Some(kept);
            }
        }
        None
    }

    /// Takes one of the scope's jobs from the inbox, if perhaps no other worker does; see
    /// [`wait_until`].
    fn take_left_job(&self, is_last_look: bool) -> Option<(Job, Origin)> {
        self.handle.scheduler().take_left_job(is_last_look, |job| self.is_own(job))
    }

    fn is_own(&self, job: &Job) -> bool {
        job.scope().is_some_and(|scope| scope.address == self.address())
    }

    /// What the scheduler knows of the scope.
    pub(super) fn of_scope(&self) -> Option<OfScope> {
        let waiter = self.waiter.parker().map(NonNull::from);
        Some(OfScope { address: self.address(), waiter, settle: Self::settle })
    }

    fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// Has jobs dropped that have not begun.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        // Relaxed: a request. A job that does not see it counts as begun.
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Calls the closure of a job, or drops it if the scope was cancelled. Keeps the first panic
    /// (J4).
    #[inline]
    pub(super) fn call(&self, f: impl FnOnce()) {
        let call = panic::AssertUnwindSafe(|| if self.is_cancelled() { drop(f) } else { f() });
        if let Err(panic) = panic::catch_unwind(call) {
            let later = match &mut *self.lock_panic() {
                first @ None => first.replace(panic),
                Some(_) => Some(panic),
            };
            // The drop of a panic may panic, and the job must be counted as ended (J2).
            quietly(|| drop(later));
        }
    }

    /// Returns the result of the scope's closure after all jobs have ended. Resumes the closure's
    /// panic or, if it has none, the first one of a job (J4).
    pub(super) fn conclude<R>(&self, outcome: thread::Result<R>) -> R {
        let panicked = self.lock_panic().take();
        match (outcome, panicked) {
            (Ok(result), None) => result,
            (Ok(result), Some(panic)) => resume_without(result, panic),
            (Err(panic), panicked) => resume_without(panicked, panic),
        }
    }

    fn lock_panic(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
