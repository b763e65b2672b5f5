//! Jobs as the scheduler sees them: something that a worker runs, once. What they are, and who waits for
//! them, is the business of `forkjoin`; the protocol is told in `../forkjoin/README.md`.

use super::shared::Shared;
use super::worker::{Local, Settle};
use crate::env::Parker;
use heist_deque::Steal;
use heist_sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// What a job begins with: how it is run, and how it is turned away.
pub(crate) struct Header {
    how: &'static How,
}

pub(crate) struct How {
    /// Whether it lies in the frame of a join, which is to take it back, and may not find another in its place.
    pub(crate) is_framed: bool,
    /// The scope that it is of. None for most: a call in vain is one more page of code, which takes its time where that has not run for long.
    pub(crate) scope: Option<unsafe fn(NonNull<Header>) -> Option<OfScope>>,
    /// Of a job of no join and no scope: the number of its task, for whose handle somebody may wait, or 0.
    pub(crate) loose: Option<unsafe fn(NonNull<Header>) -> Option<u64>>,
    /// Runs it, on this worker if it is run by one, and never unwinds. Afterwards nobody may touch it.
    pub(crate) run: unsafe fn(NonNull<Header>, Option<&Local>, Origin),
    /// The runtime goes down, and nobody else has run it. `false` if it has to be run all the same.
    pub(crate) refuse: unsafe fn(NonNull<Header>) -> bool,
}

/// Which scope a job is of.
pub(crate) struct OfScope {
    /// Where it keeps its count.
    pub(crate) tally: *const (),
    /// Where who has opened it sleeps, if not on a seat: all seats are woken when the runtime goes down. Alive as long as
    /// the job has not ended.
    pub(crate) waiter: Option<NonNull<Parker>>,
    /// Tells it what was counted by a worker alone.
    pub(crate) settle: Settle,
}

/// Where a job was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The worker's own deque, or a queue that all share.
    Here,
    /// The deque of this worker.
    Stolen(usize),
}

impl Header {
    #[inline(always)]
    pub(crate) const fn new(how: &'static How) -> Self {
        Header { how }
    }
}

/// The right to run a job (J1). There is one for each, or as many as it may be run.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a job must be run or refused"]
pub(crate) struct Job(NonNull<Header>);

// SAFETY: (J1) whoever makes a job promises that any thread may run it.
unsafe impl Send for Job {}

impl Job {
    /// # Safety
    /// What begins with `header` may be run by any thread, and lives until it has been run or refused, as
    /// often as this is called. The pointer was made of all of it, not of the header alone: who runs it gets at the rest by it.
    #[inline(always)]
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        Job(header)
    }

    /// Where it is.
    #[inline(always)]
    pub(crate) fn address(&self) -> NonNull<Header> {
        self.0
    }

    /// Runs it on the calling thread, whose worker this is, if it has one.
    pub(crate) fn run(self, worker: Option<&Local>, origin: Origin) {
        // SAFETY: (J1) alive until it has been run, which this right is for.
        let how = unsafe { self.0.as_ref() }.how;
        // SAFETY: (J1) as above.
        unsafe { (how.run)(self.0, worker, origin) };
    }

    /// Whether only the join that has pushed it may take it back.
    pub(crate) fn is_framed(&self) -> bool {
        // SAFETY: (J1) alive until it has been run or refused.
        unsafe { self.0.as_ref() }.how.is_framed
    }

    /// The scope that it is of.
    #[inline]
    pub(crate) fn scope(&self) -> Option<OfScope> {
        // SAFETY: (J1) alive until it has been run or refused.
        let how = unsafe { self.0.as_ref() }.how;
        // SAFETY: (J1) as above.
        how.scope.and_then(|scope| unsafe { scope(self.0) })
    }

    /// Whether it is the one of this task; see [`JobHandle`](crate::JobHandle).
    pub(crate) fn is_of_task(&self, number: u64) -> bool {
        self.loose() == Some(number)
    }

    /// Whether nobody can wait for it.
    pub(crate) fn is_detached(&self) -> bool {
        self.loose() == Some(0)
    }

    fn loose(&self) -> Option<u64> {
        // SAFETY: (J1) alive until it has been run or refused.
        let how = unsafe { self.0.as_ref() }.how;
        // SAFETY: (J1) as above.
        how.loose.and_then(|loose| unsafe { loose(self.0) })
    }

    /// Comes back if it has to be run all the same.
    pub(crate) fn refuse(self) -> Option<Job> {
        // SAFETY: (J1) alive until it has been run or refused.
        let how = unsafe { self.0.as_ref() }.how;
        // SAFETY: (J1) as above.
        (!unsafe { (how.refuse)(self.0) }).then_some(self)
    }
}

/// A job that does nothing: it makes the worker that it is for look around.
pub(crate) fn idle_job() -> Job {
    static HOW: How =
        How { run: |_, _, _| {}, refuse: |_| true, is_framed: false, scope: None, loose: None };
    static NOTHING: Header = Header { how: &HOW };
    // SAFETY: (J1) it lives for ever, and nothing is all it does, as often as one likes.
    unsafe { Job::new(NonNull::from(&NOTHING)) }
}

/// What fork-join does with the queues of a runtime.
impl Shared {
    /// Submits a job from outside. It comes back when the runtime goes down.
    pub(crate) fn submit_job(&self, job: Job) -> Result<(), Job> {
        self.offer_job(job, Origin::Here)
    }

    /// Offers a job that was taken from there to all workers. It comes back when the runtime goes
    /// down.
    pub(crate) fn offer_job(&self, job: Job, origin: Origin) -> Result<(), Job> {
        self.jobs.push(job, origin)?;
        self.notify_of_outside_job();
        Ok(())
    }

    /// Leaves a stolen job of a join where the worker that has pushed it looks for it, when the
    /// runtime goes down and nothing can be offered. If that worker does not come to wait for it, a
    /// closer finds it there.
    pub(crate) fn leave_job_to_owner(&self, job: Job, origin: Origin) {
        debug_assert!(job.is_framed(), "a job without a frame may have no waiter left");
        self.jobs.leave(job, origin);
        if let Origin::Stolen(owner) = origin {
            self.wake_waiter(owner);
        }
    }

    /// Submits a job for this worker alone. It comes back when that worker has ended, or will.
    pub(crate) fn call_worker(&self, worker: usize, job: Job) -> Result<(), Job> {
        let remote = &self.remotes[worker];
        remote.calls.push(job, Origin::Here)?;
        self.notify_worker(worker);
        remote.waiter.unpark();
        Ok(())
    }

    /// Wakes a worker that sleeps until a job has ended.
    pub(crate) fn wake_waiter(&self, worker: usize) {
        if self.config.staffing.is_fixed() {
            // It sleeps on its seat, where a call finds it. A worker that takes no more calls is
            // awake.
            drop(self.call_worker(worker, idle_job()));
        } else {
            self.remotes[worker].waiter.unpark();
        }
    }

    /// Takes a job that has come from outside, or that another worker has offered.
    pub(crate) fn take_job_from_outside(&self) -> Option<(Job, Origin)> {
        self.jobs.pop()
    }

    /// The same for a job that `is_it`, while the runtime goes down, or if `is_last_look`: the
    /// caller gives its seat away next. Workers run such jobs, but perhaps each of them waits for
    /// one and no other thread is to be had. This looks at all of them, so it must not be called
    /// often.
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

    /// Steals the oldest job of a worker.
    pub(crate) fn steal_job_of(&self, victim: usize) -> Option<Job> {
        loop {
            match self.remotes[victim].jobs.steal() {
                Steal::Success(job) => return Some(job),
                Steal::Empty => return None,
                // Another thief has got one (Q6).
                Steal::Retry => std::hint::spin_loop(),
            }
        }
    }

    /// Takes a job from outside, or steals one, for the worker with this index.
    pub(crate) fn take_any_job(&self, thief: usize) -> Option<(Job, Origin)> {
        if let Some(found) = self.jobs.pop() {
            return Some(found);
        }
        let count = if self.config.staffing.is_per_core() { 0 } else { self.remotes.count() };
        let victims = (1..count).map(|offset| (thief + offset) % count);
        let steal = |victim| Some((self.steal_job_of(victim)?, Origin::Stolen(victim)));
        victims.filter(|victim| *victim != thief).find_map(steal)
    }

    /// Counts how often a worker has begun or ended a detour; see `forkjoin::wait`.
    pub(crate) fn detours_of(&self, worker: usize) -> &AtomicU32 {
        &self.remotes[worker].detours
    }
}

/// A queue of jobs behind a lock: that of all workers, for what comes from outside, or that of one.
pub(super) struct Inbox {
    /// How many there are, to be read without the lock. Written with it.
    len: AtomicUsize,
    list: Mutex<List>,
}

struct List {
    jobs: VecDeque<(Job, Origin)>,
    is_closed: bool,
}

impl Inbox {
    pub(super) fn new() -> Self {
        let list = List { jobs: VecDeque::new(), is_closed: false };
        Inbox { len: AtomicUsize::new(0), list: Mutex::new(list) }
    }

    /// Appends a job that was taken from there; it comes back after the inbox was closed.
    pub(super) fn push(&self, job: Job, origin: Origin) -> Result<(), Job> {
        let mut list = self.lock();
        if list.is_closed {
            return Err(job);
        }
        list.jobs.push_back((job, origin));
        self.publish(&list);
        Ok(())
    }

    /// The same, also after it was closed. The caller knows somebody who looks here for this job, and has not ended.
    pub(super) fn leave(&self, job: Job, origin: Origin) {
        let mut list = self.lock();
        list.jobs.push_back((job, origin));
        self.publish(&list);
    }

    pub(super) fn pop(&self) -> Option<(Job, Origin)> {
        if self.is_empty() {
            return None;
        }
        let mut list = self.lock();
        let job = list.jobs.pop_front();
        self.publish(&list);
        job
    }

    /// The oldest that is one of those.
    pub(super) fn take(&self, is_it: impl FnMut(&(Job, Origin)) -> bool) -> Option<(Job, Origin)> {
        let mut list = self.lock();
        let job = list.jobs.iter().position(is_it).and_then(|index| list.jobs.remove(index));
        self.publish(&list);
        job
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: as the length of the inject queue's lists; the barriers are those in `idle`.
        self.len.load(Ordering::Relaxed) == 0
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Takes no more jobs, and refuses those that are here. What has to be run all the same stays.
    pub(super) fn close(&self) {
        let jobs = {
            let mut list = self.lock();
            if std::mem::replace(&mut list.is_closed, true) {
                // What has stayed is never out of sight again: who ends looks for it once.
                return;
            }
            let jobs = std::mem::take(&mut list.jobs);
            self.publish(&list);
            jobs
        };
        // Outside of the lock: what is dropped may do anything.
        let refuse = |(job, origin): (Job, Origin)| Some((job.refuse()?, origin));
        let kept: Vec<_> = jobs.into_iter().filter_map(refuse).collect();
        let mut list = self.lock();
        list.jobs.extend(kept);
        self.publish(&list);
        // Who waits for one of those may be the only one who could run it.
        let scopes = list.jobs.iter().filter_map(|(job, _)| job.scope());
        // SAFETY: (J2) nobody takes the job out of the list meanwhile, so its scope is not left.
        scopes
            .filter_map(|scope| scope.waiter)
            .for_each(|waiter| unsafe { waiter.as_ref() }.unpark());
    }

    /// With the lock held, so that lengths are written in the order in which the list was changed.
    fn publish(&self, list: &MutexGuard<'_, List>) {
        self.len.store(list.jobs.len(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // Nothing panics with the lock held.
        self.list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
