//! `Builder::build_on` and `WorkerThread`: workers that run on the user's own threads.

use super::Builder;
use crate::env::ThreadSpec;
use crate::runtime::context::{self, Polling};
use crate::runtime::{Handle, Runtime, RuntimeFlavor};
use crate::scheduler::{Staffing, Worker, with_here};
use std::fmt;
use std::io;
use std::thread;

impl Builder {
    /// Builds a runtime whose workers run on the caller's threads, and on no others.
    ///
    /// `start` is called once for each worker, and arranges for a thread to call
    /// [`WorkerThread::run`], which returns when the runtime is shut down. Dropping the runtime
    /// does not wait for these threads.
    ///
    /// Such a runtime has no spare workers: a worker that is stuck keeps its seat, and a worker
    /// that waits for a job, in [`join`](fn@crate::join) for example, runs whatever else there is
    /// to run. This is for fork-join programs that must control their threads. Use an ordinary
    /// runtime for tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    ///
    /// std::thread::scope(|threads| {
    ///     let rt = Builder::new_multi_thread().worker_threads(2).build_on(|worker| {
    ///         threads.spawn(|| worker.run());
    ///         Ok(())
    ///     });
    ///     assert_eq!(rt.unwrap().handle().join(|| 1, || 2), (1, 2));
    /// });
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error of `start`. Workers that already run are told to end.
    ///
    /// # Panics
    ///
    /// Panics if the builder is for a runtime without worker threads, or with
    /// [`thread_per_core`](Builder::thread_per_core).
    #[track_caller]
    pub fn build_on<F>(&mut self, mut start: F) -> io::Result<Runtime>
    where
        F: FnMut(WorkerThread) -> io::Result<()>,
    {
        assert!(
            self.flavor == RuntimeFlavor::MultiThread && !self.thread_per_core,
            "Builder::build_on: it is for runtimes with worker threads that share their work; use \
             Builder::new_multi_thread without thread_per_core"
        );
        self.stall.threshold = None;
        let mut runtime = self.build_by(Staffing::Fixed, |thread| start(thread).map(|()| None))?;
        runtime.waits = false;
        Ok(runtime)
    }
}

/// A worker that needs a thread to run on; see [`Builder::build_on`].
///
/// # Examples
///
/// ```
/// use heist::runtime::Builder;
///
/// let runtime = Builder::new_multi_thread().worker_threads(2).build_on(|worker| {
///     let thread = std::thread::Builder::new().name("mine".into());
///     thread.spawn(move || worker.run())?;
///     Ok(())
/// })?;
/// assert_eq!(runtime.handle().join(|| 1, || 2), (1, 2));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "without a thread the worker does nothing"]
pub struct WorkerThread {
    threads: ThreadSpec,
    index: usize,
    worker: Worker,
    handle: Handle,
}

impl WorkerThread {
    pub(super) fn new(threads: ThreadSpec, index: usize, worker: Worker, handle: Handle) -> Self {
        WorkerThread { threads, index, worker, handle }
    }

    /// Returns the index of the worker, starting at 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns a handle to the runtime, which may still be under construction.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs the worker on the calling thread until the runtime is shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::thread;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build_on(|worker| {
    ///     thread::Builder::new().spawn(move || worker.run())?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(runtime.block_on(runtime.spawn(async { 5 }))?, 5);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn run(self) {
        self.run_between(|| {}, || {});
    }

    /// Runs the worker like [`run`](Self::run), and calls `begin` before it and `end` after it.
    ///
    /// Both are called on the worker, so they may use [`join`](fn@crate::join) and the like. They
    /// must not panic.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::sync::mpsc;
    ///
    /// std::thread::scope(|threads| {
    ///     let (sender, indices) = mpsc::channel();
    ///     let rt = Builder::new_multi_thread().worker_threads(2).build_on(|worker| {
    ///         let (index, sender) = (worker.index(), sender.clone());
    ///         threads.spawn(move || worker.run_between(|| sender.send(index).unwrap(), || ()));
    ///         Ok(())
    ///     });
    ///     assert_eq!(indices.iter().take(2).sum::<usize>(), 0 + 1);
    ///     drop(rt);
    /// });
    /// ```
    pub fn run_between(self, begin: impl FnOnce(), end: impl FnOnce()) {
        self.threads.bind_worker(self.index);
        let _entered = context::enter(&self.handle);
        self.threads.started();
        self.worker.run(begin, end);
        self.threads.stopping();
    }

    /// Makes the calling thread the thread of this worker, for the rest of its life.
    ///
    /// The thread continues with other work. From now on, [`join`](fn@crate::join) and the like use
    /// the runtime on this thread, and the worker's tasks and jobs run while the thread waits in
    /// one of them or in [`Handle::yield_job`]. The memory of the worker is never freed.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is already a worker.
    #[track_caller]
    pub fn stay(self) {
        assert!(
            with_here(|worker| worker.is_none()),
            "WorkerThread::stay: this thread is a worker's already; call it on another"
        );
        self.worker.stay_here();
    }

    /// Runs the worker on a new thread, which belongs to the runtime.
    pub(super) fn start(self) -> io::Result<thread::JoinHandle<()>> {
        let WorkerThread { threads, index, worker, handle } = self;
        threads.thread()?.spawn(move || {
            threads.bind_worker(index);
            let _entered = context::enter(&handle);
            threads.started();
            let polling = Polling::begin();
            worker.run(|| {}, || {});
            drop(polling);
            threads.stopping();
        })
    }
}

impl fmt::Debug for WorkerThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerThread").field("index", &self.index).finish_non_exhaustive()
    }
}
