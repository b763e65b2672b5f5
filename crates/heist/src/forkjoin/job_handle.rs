//! Jobs that may outlive their spawner, and the handles to wait for them.

use super::deque_view;
use super::heap::{self, Work};
use super::wait::{run_unrelated, wait_until};
use super::waiter::Waiter;
use crate::runtime::{Handle, current_or_global};
use crate::scheduler::blocking::{Closure, NeverWaits};
use crate::scheduler::{self, Job, Late, Origin, WokenAside, Worker, with_here};
use crate::task::{self, JoinError, JoinHandle, Notified};
use heist_deque::deque::Mark;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Spawns a job: a closure that computes something on a worker. Returns a [`JobHandle`] to it.
///
/// The job runs on the current runtime, or on the global one outside of a runtime. It is meant for
/// computations; use [`spawn_blocking`](crate::task::spawn_blocking) for closures that wait for
/// something else.
///
/// The handle can be awaited in async code or waited for with [`JobHandle::wait`]. Dropping it
/// cancels the job unless the job has already started; [`JobHandle::detach`] lets the job run on.
///
/// Workers alternate between jobs and tasks. A job that takes long does not delay tasks: a spare
/// worker takes the place of the worker that runs it. The exceptions are runtimes without worker
/// threads or with [`thread_per_core`](crate::runtime::Builder::thread_per_core), where tasks wait
/// until the job ends.
///
/// # Examples
///
/// ```
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// # rt.block_on(async {
/// let sum = heist::spawn_job(|| (1..=1000u64).sum::<u64>());
/// assert_eq!(sum.await.unwrap(), 500_500);
/// # });
/// ```
///
/// Outside of async code:
///
/// ```
/// let sum = heist::spawn_job(|| (1..=1000u64).sum::<u64>());
/// assert_eq!(sum.wait().unwrap(), 500_500);
/// ```
///
/// The closure must be `'static`; use [`scope`](crate::scope) for jobs that borrow:
///
/// ```compile_fail,E0373
/// let number = 1;
/// heist::spawn_job(|| println!("{number}"));
/// ```
///
/// # Panics
///
/// Panics if the global runtime is needed and cannot be started. A panic of the closure is returned
/// by the handle, as a [`JoinError`].
#[track_caller]
pub fn spawn_job<F, T>(f: F) -> JobHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let spawned_at = Location::caller();
    with_here(|worker| match worker {
        Some(worker) => push(worker, f, spawned_at),
        None => submit(&current_or_global(), f, spawned_at),
    })
}

#[track_caller]
pub(super) fn spawn_job_on<F, T>(handle: &Handle, f: F) -> JobHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let spawned_at = Location::caller();
    with_here(|worker| match worker {
        Some(worker) if worker.is_of(handle.scheduler()) => push(worker, f, spawned_at),
        _ => submit(handle, f, spawned_at),
    })
}

fn push<F, T>(worker: &Worker, f: F, spawned_at: &'static Location<'static>) -> JobHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, join) = new(f, spawned_at);
    if worker.is_left_alone() {
        // Cancelled, but not here: a lock may be held that it needs when it is dropped (T6).
        worker.scheduler().leave_new(Late::Job(job));
        return JobHandle { join: Some(join), spawner: ptr::null(), mark: None };
    }
    let mark = deque_view::mark(worker);
    deque_view::push(worker, job);
    JobHandle { join: Some(join), spawner: ptr::from_ref(worker), mark: Some(mark) }
}

fn submit<F, T>(handle: &Handle, f: F, spawned_at: &'static Location<'static>) -> JobHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (job, join) = new(f, spawned_at);
    // A runtime that is shut down cancels the job.
    if let Err(job) = handle.scheduler().submit_job(job) {
        handle.scheduler().refuse(Late::Job(job));
    }
    JobHandle { join: Some(join), spawner: ptr::null(), mark: None }
}

fn new<F, T>(f: F, spawned_at: &'static Location<'static>) -> (Job, JoinHandle<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (task, join) = task::new(Closure::new(f), spawned_at);
    // SAFETY: (J2) it borrows nothing.
    (unsafe { heap::new(Awaited(task)) }, join)
}

/// A job with a handle. Dropping it cancels it.
struct Awaited(Notified<NeverWaits>);

impl Work for Awaited {
    const IS_MANDATORY: bool = false;

    fn task(&self) -> Option<u64> {
        Some(self.0.id().number().get())
    }

    fn run(self, _worker: Option<&Worker>) {
        let _done = self.0.run(&NeverWaits);
    }
}

/// A handle to a job that [`spawn_job`] has spawned. Dropping it cancels the job unless the job has
/// already started.
///
/// The handle is a future that completes with the job's result. A task's
/// [`JoinHandle`](crate::task::JoinHandle), by contrast, detaches the task when it is dropped.
///
/// # Examples
///
/// ```
/// let job = heist::spawn_job(|| "result");
/// assert_eq!(job.wait().unwrap(), "result");
/// ```
///
/// # Cancel safety
///
/// Awaiting `&mut JobHandle` is cancel safe: if another branch of `select!` completes first, the
/// job continues and the handle can be awaited again. Dropping the handle itself cancels the job.
#[must_use = "dropping the handle cancels the job; call `detach` to let it go"]
pub struct JobHandle<T> {
    /// `None` once the job was detached or waited for.
    join: Option<JoinHandle<T>>,
    /// The worker that spawned the job; null if it was spawned from outside.
    spawner: *const Worker,
    /// Where the job was pushed to that worker's deque.
    mark: Option<Mark>,
}

// SAFETY: (type) the pointer to the spawner is only compared.
unsafe impl<T: Send> Send for JobHandle<T> {}
// SAFETY: (type) as above.
unsafe impl<T: Send> Sync for JobHandle<T> {}

impl<T> JobHandle<T> {
    /// Blocks the calling thread until the job has ended, and returns the job's result.
    ///
    /// If the calling thread is a worker, it runs the job itself unless another worker has started
    /// it. Otherwise a spare worker takes its place while it waits.
    ///
    /// The worker that has spawned the job may first run jobs that it has spawned later. Do not
    /// hold a lock that such a job needs. ([`join`](fn@crate::join) and [`scope`](fn@crate::scope)
    /// leave jobs that their closures have left behind to other workers.)
    ///
    /// # Errors
    ///
    /// Returns an error if the job panicked, or if it was cancelled because its runtime was shut
    /// down.
    ///
    /// # Examples
    ///
    /// ```
    /// let job = heist::spawn_job(|| panic!("no result"));
    /// assert!(job.wait().unwrap_err().is_panic());
    /// ```
    pub fn wait(mut self) -> Result<T, JoinError> {
        let join = self.join.take().expect("taken when the handle goes");
        with_here(|worker| match worker {
            Some(worker) => {
                let mark = self.mark.filter(|_| ptr::eq(worker, self.spawner));
                Wait { worker, mark, join, has_looked: Cell::new(false) }.run()
            }
            None => wait_outside(join),
        })
    }

    /// Lets the job run on its own, and returns a handle whose drop does not cancel it.
    ///
    /// # Examples
    ///
    /// ```
    /// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let join = rt.handle().spawn_job(|| 6 * 7).detach();
    /// assert_eq!(rt.block_on(join).unwrap(), 42);
    /// ```
    pub fn detach(mut self) -> JoinHandle<T> {
        self.join.take().expect("taken when the handle goes")
    }

    /// Cancels the job unless it has already started.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_current_thread().build().unwrap();
    /// // Nothing runs on this runtime before `block_on` is called.
    /// let job = rt.handle().spawn_job(|| 6 * 7);
    /// job.cancel();
    /// assert!(rt.block_on(job).unwrap_err().is_cancelled());
    /// ```
    pub fn cancel(&self) {
        self.join.iter().for_each(JoinHandle::abort);
    }

    /// Returns whether the job has ended, by completing, panicking or being cancelled.
    pub fn is_finished(&self) -> bool {
        self.join.as_ref().is_some_and(JoinHandle::is_finished)
    }
}

/// A worker that waits for a job.
struct Wait<'a, T> {
    worker: &'a Worker,
    /// Where the job was pushed, if it was pushed by this worker.
    mark: Option<Mark>,
    join: JoinHandle<T>,
    /// Whether the worker has looked for the job in the inbox.
    has_looked: Cell<bool>,
}

impl<T> Wait<'_, T> {
    fn run(mut self) -> Result<T, JoinError> {
        let waker = waker(Waiter::of(self.worker));
        if let Poll::Ready(output) = self.join.poll_output(&waker) {
            return output;
        }
        let _woken = WokenAside::by(&waker);
        // The waker wakes the worker, whether it has announced its sleep or not.
        let fall_asleep = || {};
        wait_until(
            self.worker,
            || self.join.is_finished(),
            fall_asleep,
            |is_last| self.help(is_last),
        );
        output_of(self.join)
    }

    /// Finds something to run. The newest job is taken first, to get to the awaited one. A worker
    /// of another runtime that drives this one has its part in broadcasts: the job may have called
    /// for it (J5).
    fn help(&self, is_last_look: bool) -> Option<(Job, Origin)> {
        while scheduler::run_direct_job_aside() {}
        let own = self.mark.and_then(|mark| deque_view::pop_since(self.worker, mark));
        if let Some(job) = own {
            return Some((job, Origin::Here));
        }
        // The awaited job may have been requeued, perhaps before the wait began, and perhaps no
        // other worker takes it.
        let looks = !self.has_looked.replace(true) || is_last_look;
        let number = self.join.id().number().get();
        let found = self.worker.scheduler().take_left_job(looks, |job| job.is_of_task(number));
        if found.is_none() {
            self.run_alone();
        }
        found
    }

    /// Where no other worker could come to run it, runs what the worker finds until the job has
    /// ended or nothing is left: the worker would sleep on that.
    fn run_alone(&self) {
        while !self.join.is_finished() {
            let Some((job, origin)) = deque_view::find_alone(self.worker, self.mark) else {
                return;
            };
            run_unrelated(self.worker, job, origin);
        }
    }
}

/// Waits for a job on a thread without a worker.
fn wait_outside<T>(mut join: JoinHandle<T>) -> Result<T, JoinError> {
    let waiter = Waiter::here();
    if let Poll::Ready(output) = join.poll_output(&waker(waiter.clone())) {
        return output;
    }
    waiter.wait_until(|| join.is_finished(), || {}, || None);
    output_of(join)
}

fn output_of<T>(mut join: JoinHandle<T>) -> Result<T, JoinError> {
    match join.poll_output(Waker::noop()) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("it has ended"),
    }
}

fn waker(waiter: Waiter) -> Waker {
    struct Unpark(Waiter);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    Waker::from(Arc::new(Unpark(waiter)))
}

impl<T> Future for JobHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let join = self.join.as_mut().expect("taken when the handle goes");
        Pin::new(join).poll(cx)
    }
}

impl<T> Drop for JobHandle<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<T> fmt::Debug for JobHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobHandle").field("is_finished", &self.is_finished()).finish()
    }
}
