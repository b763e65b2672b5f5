//! What a scope knows of its jobs, and how its owner waits for them.

use super::count::Count;
use super::deque_view;
use super::outside::{submit, submit_elsewhere};
use super::wait::{put_aside, wait_until};
use super::waiter::Waiter;
use crate::env::{quietly, resume_without};
use crate::runtime::{Handle, RuntimeFlavor};
use crate::scheduler::{Job, Local, OfScope, Origin};
use heist_deque::deque::Mark;
use heist_sync::{AtomicBool, Ordering};
use std::any::Any;
use std::panic;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// So many jobs a worker counts at once. Guessed: so few that the count does not run over, and so many that it does not matter.
const AHEAD: u64 = 256;

/// What a scope knows of its jobs. It lies in the frame of the scope's owner: whoever has ended the last job
/// touches it no more (J2).
pub(super) struct Tally {
    handle: Handle,
    /// The worker that opened the scope, and how deep its deque was; null if it was another thread.
    owner: *const Local,
    mark: Option<Mark>,
    count: Count,
    waiter: Waiter,
    is_cancelled: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: (J2) the count is told who is the owner, whose worker is compared with and never looked at; all
// else is Sync.
unsafe impl Sync for Tally {}
// SAFETY: (type) it is lent to jobs, never given away.
unsafe impl Send for Tally {}

impl Tally {
    /// For a scope that the calling thread opens, with jobs on this runtime. `local` is its worker there.
    pub(super) fn new(handle: Handle, local: Option<&Local>) -> Self {
        let waiter = local.map_or_else(Waiter::here, Waiter::of);
        Tally {
            handle,
            owner: local.map_or(ptr::null(), ptr::from_ref),
            mark: local.map(deque_view::mark),
            count: Count::new(),
            waiter,
            is_cancelled: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    /// Whether the calling thread, whose worker this is, has opened the scope. One that is no worker's may
    /// have, and counts as others do.
    #[inline(always)]
    fn is_owner(&self, local: Option<&Local>) -> bool {
        local.is_some_and(|local| ptr::eq(local, self.owner))
    }

    /// Spawns a job that calls [`done`](Self::done) when it ends: to the deque of this worker, which it is made for, if it is
    /// one of the scope's runtime, or to the inbox.
    ///
    /// # Safety
    /// Like [`Job::new`]; the scope may be used until it was run.
    #[inline]
    pub(super) unsafe fn spawn(
        &self,
        local: Option<&Local>,
        job: impl FnOnce(Option<&Local>) -> Job,
    ) {
        let local = local.filter(|local| local.is_of(self.handle.scheduler()));
        self.add(local);
        match local {
            Some(local) => local.push_job(job(Some(local))),
            None => submit(&self.handle, job(None)),
        }
    }

    #[inline]
    fn add(&self, local: Option<&Local>) {
        let is_owner = self.is_owner(local);
        match local.and_then(|local| local.credit_of(self.address())) {
            Some(credit) if !is_owner => {
                if !credit.take() {
                    self.count.add_ahead(AHEAD);
                    credit.put(AHEAD - 1);
                }
            }
            // SAFETY: (J2) on the owner's thread, if it says so.
            _ => unsafe { self.count.add(is_owner) },
        }
    }

    /// Spawns a job for each worker, that `call` makes of its number and how many there are.
    ///
    /// # Safety
    /// Like [`spawn`](Self::spawn).
    pub(super) unsafe fn spawn_calls(&self, call: impl Fn(usize, usize) -> Job) {
        let (scheduler, workers) = (self.handle.scheduler(), self.handle.num_workers());
        let has_threads = self.handle.runtime_flavor() == RuntimeFlavor::MultiThread;
        for index in 0..workers {
            // SAFETY: (J2) as others count, whoever this is.
            unsafe { self.count.add(false) };
            let call = call(index, workers);
            let called = if has_threads { scheduler.call_worker(index, call) } else { Err(call) };
            if let Err(call) = called {
                submit_elsewhere(&self.handle, call);
            }
        }
    }

    /// A job has ended, on this worker. The scope may be gone afterwards.
    #[inline]
    pub(super) fn done(&self, local: Option<&Local>) {
        let is_owner = self.is_owner(local);
        match local.and_then(|local| local.credit_of(self.address())) {
            Some(credit) if !is_owner => credit.put(1),
            // SAFETY: (J2) on the owner's thread, if it says so.
            _ if unsafe { self.count.done(is_owner) } => self.end(),
            _ => {}
        }
    }

    /// So many jobs of the scope at this address have ended. It may be gone afterwards.
    ///
    /// # Safety
    /// They were counted there, and have not been.
    unsafe fn settle(tally: *const (), jobs: u64) {
        // SAFETY: (J2) the scope is not left before they have.
        let tally = unsafe { &*tally.cast::<Tally>() };
        if tally.count.done_all(jobs) {
            tally.end();
        }
    }

    /// That was the last.
    #[cold]
    fn end(&self) {
        let waiter = self.waiter.clone();
        self.count.set(|| waiter.unpark());
    }

    /// Waits until all jobs have ended, on the thread that opened the scope. `local` is its worker.
    pub(super) fn wait(&self, local: Option<&Local>) {
        let Some(local) = local else {
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
            |is_last_look| self.run_newer(local).or_else(|| self.take_left_job(is_last_look));
        wait_until(local, is_over, fall_asleep, help);
    }

    /// Runs the scope's jobs that lie at the end of its owner's deque, one after another: as long as there is one it is not over,
    /// and nobody need look at what others have counted, who count all the time. Another job that has come since the
    /// scope was opened goes to others; where it cannot, it is left to the caller.
    fn run_newer(&self, local: &Local) -> Option<(Job, Origin)> {
        let mut has_run = false;
        // A call comes first; see wait_until().
        while !(has_run && local.is_called()) {
            // What lies deeper is none of the scope's (J3).
            let job = self.mark.and_then(|mark| deque_view::pop_since(local, mark))?;
            if self.is_own(&job) {
                if local.is_fixed() {
                    // It may have searched meanwhile.
                    local.go_on();
                }
                local.run_job(job, Origin::Here);
                has_run = true;
                continue;
            }
            // SAFETY: (J2) the owner's thread.
            if has_run && unsafe { self.count.is_over() } {
                // It is no longer waited for.
                local.push_job(job);
                break;
            }
            if let Some(found) = put_aside(local, job, Origin::Here) {
                return Some(found);
            }
        }
        None
    }

    /// One of its jobs that nobody may come for; see [`wait_until`].
    fn take_left_job(&self, is_last_look: bool) -> Option<(Job, Origin)> {
        self.handle.scheduler().take_left_job(is_last_look, |job| self.is_own(job))
    }

    fn is_own(&self, job: &Job) -> bool {
        job.scope().is_some_and(|scope| scope.tally == self.address())
    }

    /// What its jobs tell of it.
    pub(super) fn of_scope(&self) -> Option<OfScope> {
        let waiter = self.waiter.parker().map(NonNull::from);
        Some(OfScope { tally: self.address(), waiter, settle: Self::settle })
    }

    fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// No more jobs are begun.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        // Relaxed: a request; a job that does not see it is one that has begun.
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Calls what a job has to do, unless the scope was cancelled. The first panic is kept (J4).
    #[inline]
    pub(super) fn call(&self, f: impl FnOnce()) {
        let call = panic::AssertUnwindSafe(|| if self.is_cancelled() { drop(f) } else { f() });
        if let Err(panic) = panic::catch_unwind(call) {
            let later = match &mut *self.lock_panic() {
                first @ None => first.replace(panic),
                Some(_) => Some(panic),
            };
            // Its drop may panic once more, and nothing may keep the job from being counted (J2).
            quietly(|| drop(later));
        }
    }

    /// After all jobs have ended: what the scope's closure has returned, or the first panic, its own
    /// first (J4).
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
