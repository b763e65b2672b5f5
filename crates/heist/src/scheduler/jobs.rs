//! Jobs as the scheduler sees them: something that a worker runs once. What they do, and which
//! threads wait for them, is specified in `../forkjoin/README.md`.

use super::shared::Shared;
use super::worker::{Settle, Worker};
use crate::env::Parker;
use heist_deque::Steal;
use heist_sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// The first field of each job.
pub(crate) struct Header {
    vtable: &'static VTable,
}

/// What the scheduler can do with a job, whatever its type.
pub(crate) struct VTable {
    /// Whether the job lies in the frame of a join, which takes it back from its position in the
    /// deque and must not find another job there.
    pub(crate) is_stack_job: bool,
    /// Returns the scope of the job. `None` for jobs that never have one: the call would touch
    /// another page of code, which is slow if that has not run for long.
    pub(crate) scope: Option<unsafe fn(NonNull<Header>) -> Option<OfScope>>,
    /// For a job of no join and no scope: returns the number of its task, or 0 if it is detached.
    pub(crate) task: Option<unsafe fn(NonNull<Header>) -> Option<u64>>,
    /// Runs the job, on this worker if there is one, and never unwinds. The job must not be touched
    /// afterwards.
    pub(crate) run: unsafe fn(NonNull<Header>, Option<&Worker>, Origin),
    /// Cancels the job because the runtime shuts down. `None` if it must run nevertheless.
    pub(crate) refuse: Option<unsafe fn(NonNull<Header>)>,
}

/// The scope of a job.
pub(crate) struct OfScope {
    /// Where the scope is.
    pub(crate) address: *const (),
    /// Where the scope's owner parks, unless it sleeps on a seat: a shutdown wakes all seats. Alive
    /// as long as the job has not ended.
    pub(crate) waiter: Option<NonNull<Parker>>,
    /// Counts jobs as ended there.
    pub(crate) settle: Settle,
}

/// Where a job was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The worker's own deque, or a queue that all workers share.
    Here,
    /// The deque of this worker.
    Stolen(usize),
}

impl Header {
    #[inline(always)]
    pub(crate) const fn new(vtable: &'static VTable) -> Self {
        Header { vtable }
    }
}

/// The right to run a job once (J1).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a job must be run or refused"]
pub(crate) struct Job(NonNull<Header>);

// SAFETY: (J1) the caller of Job::new promises that any thread may run it.
unsafe impl Send for Job {}

impl Job {
    /// # Safety
    /// Any thread may run what begins with `header`, as many times as this is called, and it lives
    /// until all these jobs have been run or refused. The pointer was made from all of it, not from
    /// the header alone, because `run` reaches the rest through it.
    #[inline(always)]
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        Job(header)
    }

    /// Where the job is.
    #[inline(always)]
    pub(crate) fn address(&self) -> NonNull<Header> {
        self.0
    }

    /// Runs the job on the calling thread, which has this worker.
    pub(crate) fn run(self, worker: Option<&Worker>, origin: Origin) {
        let vtable = self.vtable();
        // SAFETY: (J1) alive until it has been run, which this right is for.
        unsafe { (vtable.run)(self.0, worker, origin) };
    }

    /// Whether the job lies in the frame of a join.
    pub(crate) fn is_stack_job(&self) -> bool {
        self.vtable().is_stack_job
    }

    /// Returns the scope of the job.
    #[inline]
    pub(crate) fn scope(&self) -> Option<OfScope> {
        // SAFETY: (J1) alive until it has been run or refused.
        self.vtable().scope.and_then(|scope| unsafe { scope(self.0) })
    }

    /// Whether the job is that of a task; see [`JobHandle`](crate::JobHandle).
    pub(crate) fn is_of_task(&self, number: u64) -> bool {
        self.task() == Some(number)
    }

    /// Whether no thread can wait for the job.
    pub(crate) fn is_detached(&self) -> bool {
        self.task() == Some(0)
    }

    fn task(&self) -> Option<u64> {
        // SAFETY: (J1) alive until it has been run or refused.
        self.vtable().task.and_then(|task| unsafe { task(self.0) })
    }

    /// Whether the job must run even if the runtime shuts down.
    pub(crate) fn is_mandatory(&self) -> bool {
        self.vtable().refuse.is_none()
    }

    /// Cancels the job because the runtime shuts down. It must not be
    /// [mandatory](Self::is_mandatory).
    pub(crate) fn refuse(self) {
        let refuse = self.vtable().refuse.expect("a mandatory job is never refused");
        // SAFETY: (J1) alive until it has been run or refused.
        unsafe { refuse(self.0) };
    }

    #[inline(always)]
    fn vtable(&self) -> &'static VTable {
        // SAFETY: (J1) alive until it has been run or refused.
        unsafe { self.0.as_ref() }.vtable
    }
}

/// A job that does nothing: it wakes the worker that it is sent to.
pub(crate) fn empty_job() -> Job {
    static VTABLE: VTable = VTable {
        run: |_, _, _| {},
        refuse: Some(|_| ()),
        is_stack_job: false,
        scope: None,
        task: None,
    };
    static NOTHING: Header = Header { vtable: &VTABLE };
    // SAFETY: (J1) it is static, and any thread may do nothing any number of times.
    unsafe { Job::new(NonNull::from(&NOTHING)) }
}

/// What fork-join does with the queues of a runtime.
impl Shared {
    /// Submits a job from outside. Returns it if the runtime shuts down.
    pub(crate) fn submit_job(&self, job: Job) -> Result<(), Job> {
        self.offer_job(job, Origin::Here)
    }

    /// Offers a job that was taken from `origin` to all workers. Returns it if the runtime shuts
    /// down.
    pub(crate) fn offer_job(&self, job: Job, origin: Origin) -> Result<(), Job> {
        self.jobs.push(job, origin)?;
        self.notify_of_job();
        Ok(())
    }

    /// Leaves a stolen stack job in the inbox for its owner, when the runtime shuts down and
    /// nothing can be offered. If the owner blocks and does not come to wait for the job, a closer
    /// finds it.
    pub(crate) fn leave_job_to_owner(&self, job: Job, origin: Origin) {
        debug_assert!(job.is_stack_job(), "only a stack job has an owner that waits for it");
        self.jobs.leave(job, origin);
        if let Origin::Stolen(owner) = origin {
            self.wake_waiter(owner);
        }
    }

    /// Sends a job to this worker alone. Returns it if that worker has ended or is about to.
    pub(crate) fn send_direct_job(&self, worker: usize, job: Job) -> Result<(), Job> {
        let remote = &self.remotes[worker];
        remote.direct_jobs.push(job, Origin::Here)?;
        self.notify_worker(worker);
        remote.wake_waiting();
        Ok(())
    }

    /// Wakes a worker that sleeps until a job has ended.
    pub(crate) fn wake_waiter(&self, worker: usize) {
        if self.config.staffing.is_fixed() {
            // It sleeps on its seat, where a direct job wakes it. A worker that takes no more
            // direct jobs is awake.
            drop(self.send_direct_job(worker, empty_job()));
        } else {
            self.remotes[worker].waiter.unpark();
        }
    }

    /// Takes a job from the inbox.
    pub(crate) fn take_job_from_outside(&self) -> Option<(Job, Origin)> {
        self.jobs.pop()
    }

    /// Takes a job for which `is_it` holds from the inbox, if the runtime shuts down or this
    /// `is_last_look` before the caller gives its seat away. Other workers take such jobs, but
    /// perhaps all of them wait and no other thread can be found. Looks at all jobs of the inbox,
    /// so it must not be called often.
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
                // Another thief has taken one (Q6).
                Steal::Retry => std::hint::spin_loop(),
            }
        }
    }

    /// Takes a job from the inbox or steals one, for the worker with this index.
    pub(crate) fn take_any_job(&self, thief: usize) -> Option<(Job, Origin)> {
        if let Some(found) = self.jobs.pop() {
            return Some(found);
        }
        let count = if self.config.staffing.is_per_core() { 0 } else { self.remotes.count() };
        let victims = (1..count).map(|offset| (thief + offset) % count);
        let steal = |victim| Some((self.steal_job_of(victim)?, Origin::Stolen(victim)));
        victims.filter(|victim| *victim != thief).find_map(steal)
    }

    /// A worker's sequence number of unrelated jobs; see `forkjoin::wait`.
    pub(crate) fn unrelated_seq(&self, worker: usize) -> &AtomicU32 {
        &self.remotes[worker].unrelated_seq
    }
}

/// A queue of jobs behind a lock: the inbox, for all workers, or the direct jobs of one.
pub(super) struct Inbox {
    /// The number of jobs: written with the lock held, read without it.
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

    /// Appends a job that was taken from `origin`. Returns it if the queue is closed.
    pub(super) fn push(&self, job: Job, origin: Origin) -> Result<(), Job> {
        let mut list = self.lock();
        if list.is_closed {
            return Err(job);
        }
        list.jobs.push_back((job, origin));
        self.publish(&list);
        Ok(())
    }

    /// The same, even if the queue is closed. The caller knows a worker that has not ended and will
    /// look here for this job.
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

    /// Takes the oldest job for which `is_it` holds.
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

    /// Takes no more jobs. Returns those that may be refused, which the caller does when all of the
    /// runtime is closed (T9). Jobs that must run nevertheless stay.
    #[must_use]
    pub(super) fn close(&self) -> Vec<Job> {
        let mut list = self.lock();
        list.is_closed = true;
        // What has to be run is never out of sight: a worker that ends looks for it once.
        let (kept, refused): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut list.jobs).into_iter().partition(|(job, _)| job.is_mandatory());
        list.jobs = kept;
        self.publish(&list);
        // The thread that waits for such a job may be the only one that could run it.
        let scopes = list.jobs.iter().filter_map(|(job, _)| job.scope());
        // SAFETY: (J2) no thread takes the job out of the list meanwhile, so its scope is not left.
        scopes
            .filter_map(|scope| scope.waiter)
            .for_each(|waiter| unsafe { waiter.as_ref() }.unpark());
        drop(list);
        refused.into_iter().map(|(job, _)| job).collect()
    }

    /// Called with the lock held, so that lengths are written in the order of the changes.
    fn publish(&self, list: &MutexGuard<'_, List>) {
        self.len.store(list.jobs.len(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // Nothing panics with the lock held.
        self.list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
