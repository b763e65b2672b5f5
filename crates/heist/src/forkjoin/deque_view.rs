//! A worker's deque of jobs as fork-join uses it. Nothing else in `forkjoin` reaches the deque.

use crate::scheduler::{Job, Origin, Worker, deque_here, empty_job};
use heist_deque::deque::{self, Mark, Pushed};

/// The deque of this thread's worker, as a join uses it: one pointer, which is null on a thread
/// without a worker, so that a join need not load the worker first.
#[derive(Clone, Copy)]
pub(super) struct DequeView(Option<deque::OwnerPtr<Job>>);

impl DequeView {
    /// The deque of this thread's worker. On a thread without a worker, or if the worker has
    /// stepped aside, what is pushed comes back.
    #[inline(always)]
    pub(super) fn here() -> Self {
        DequeView(deque_here())
    }

    /// The deque of this worker.
    #[inline(always)]
    pub(super) fn of(worker: &Worker) -> Self {
        DequeView(Some(worker.deque_ptr()))
    }

    /// Where the next job will be.
    ///
    /// # Safety
    /// The worker is that of this thread and has not stepped aside, or there is none.
    #[inline(always)]
    pub(super) unsafe fn mark(self) -> Mark {
        match self.0 {
            // SAFETY: (W10) the worker is alive and used by its own thread alone, and no two uses
            // of its deque overlap.
            Some(deque) => unsafe { deque.mark() },
            // Nothing is pushed there, so nothing looks for it.
            None => Mark::at(0),
        }
    }

    /// Offers a job to all workers, as the newest of this one's. What this returns has to be passed
    /// to [`Worker::finish_push`]; without a worker, the job comes back.
    ///
    /// # Safety
    /// As for [`mark`](Self::mark), which has returned `mark` just now.
    #[inline(always)]
    pub(super) unsafe fn push(self, mark: Mark, job: Job) -> Pushed<Job> {
        match self.0 {
            // SAFETY: (W10) as in mark().
            Some(deque) => unsafe { deque.push_fast(mark, job) },
            None => Pushed::Full(job),
        }
    }

    /// Takes back the job that was pushed at `mark`, if it is the newest and out of reach of
    /// thieves. Returns whether it was.
    ///
    /// # Safety
    /// As for [`mark`](Self::mark), and there is a worker: it has pushed the job.
    #[inline(always)]
    pub(super) unsafe fn take_back(self, mark: Mark) -> bool {
        debug_assert!(self.0.is_some());
        // SAFETY: (W10) there is a worker, as the caller promises.
        let deque = unsafe { self.0.unwrap_unchecked() };
        // SAFETY: (W10) as in mark().
        unsafe { deque.take_back(mark) }
    }
}

/// Offers a job to all workers, as the newest of this one's.
#[inline(always)]
pub(super) fn push(worker: &Worker, job: Job) {
    match worker.with_deque(|deque| deque.push_fast(job)) {
        Pushed::Done => {}
        pushed => worker.finish_push(pushed),
    }
}

/// Takes the newest job of this worker. The caller knows that no join looks for it: the joins that
/// have pushed what is here are over, or the newest job is the caller's own or above it.
pub(super) fn pop(worker: &Worker) -> Option<Job> {
    worker.with_deque(deque::Owner::pop)
}

/// Whether this worker has jobs that no other worker has taken.
pub(super) fn has_jobs(worker: &Worker) -> bool {
    worker.with_deque(|deque| !deque.is_empty())
}

/// Where the next job of this worker will be.
pub(super) fn mark(worker: &Worker) -> Mark {
    worker.with_deque(|deque| deque.mark())
}

/// Takes the newest job of this worker, if it was pushed since `mark` and no join will look for it
/// in its place.
pub(super) fn pop_since(worker: &Worker, mark: Mark) -> Option<Job> {
    let popped = worker.with_deque(|deque| deque.pop_newer(mark))?;
    put_back_stack_job(worker, popped)
}

/// Takes a job of this worker, which may be in the middle of a join: the newest, or else the
/// oldest, as a thief would.
pub(super) fn take_own(worker: &Worker) -> Option<(Job, Origin)> {
    let newest = pop(worker).and_then(|job| put_back_stack_job(worker, job));
    if let Some(job) = newest {
        return Some((job, Origin::Here));
    }
    let index = worker.index();
    worker.scheduler().steal_job_of(index).map(|job| (job, Origin::Stolen(index)))
}

/// Pushes a stack job back: its join would take another job at the same position for its own (J1).
/// (A stolen job leaves no position behind.) With fixed threads the job is run nevertheless, and
/// [`fill_position`] fills its position.
fn put_back_stack_job(worker: &Worker, job: Job) -> Option<Job> {
    if job.is_stack_job() && !worker.is_fixed() {
        push(worker, job);
        return None;
    }
    Some(job)
}

/// Fills the position of a stack job that was popped by its own worker but not by its join, further
/// down on the stack: the join must not take the next job at this position for its own. The second
/// empty job keeps the first from being popped next.
#[cold]
pub(super) fn fill_position(worker: &Worker) {
    worker.with_deque(|deque| (0..2).for_each(|_| deque.push(empty_job())));
}

/// Where no other worker could come to run a job, because no seat is lent: takes one of this
/// worker's own, if the one that was pushed at `mark` is among them, or one from the inbox. (When
/// the runtime shuts down, a closer runs them.)
pub(super) fn find_alone(worker: &Worker, mark: Option<Mark>) -> Option<(Job, Origin)> {
    if worker.lends_seats() {
        return None;
    }
    let is_here = mark.is_some_and(|mark| worker.with_deque(|deque| deque.has(mark)));
    let own = if is_here { take_own(worker) } else { None };
    own.or_else(|| worker.scheduler().take_job_from_outside())
}
