//! Threads of workers, and runtimes that get them from others.

use super::Builder;
use crate::env::ThreadSpec;
use crate::runtime::context::{self, Polling};
use crate::runtime::{Handle, Runtime, RuntimeFlavor};
use crate::scheduler::Worker;
use std::fmt;
use std::io;
use std::thread;

impl Builder {
    /// Builds a runtime whose workers run on threads of your own, and on no others: `start` is called for each
    /// worker, and has some thread call [`WorkerThread::run`], which returns when the runtime goes down. Dropping
    /// the runtime does not wait for them.
    ///
    /// Nobody stands in for a worker of such a runtime. One that is stuck keeps its seat, and one that waits
    /// for a job ([`join`](fn@crate::join) and the like) runs whatever else there is to run. That is for
    /// fork-join where the number of threads, and which, must be known; tasks of other programs are better off on an ordinary
    /// runtime.
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
    /// If `start` fails for a worker. Those that run already are told to end.
    ///
    /// # Panics
    /// If the builder is one for a runtime without worker threads, or with
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
        let mut runtime = self.build_by(true, |thread| start(thread).map(|()| None))?;
        runtime.waits = false;
        Ok(runtime)
    }
}

/// A worker that needs a thread; see [`Builder::build_on`].
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

    /// The number of the worker, from 0 on.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The runtime, which may not be complete yet.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs the worker on this thread until the runtime goes down.
    pub fn run(self) {
        self.run_between(|| {}, || {});
    }

    /// As [`run`](Self::run), and calls `begin` before, and `end` afterwards, on the worker: they may
    /// [`join`](fn@crate::join) and the like. They must not panic.
    pub fn run_between(self, begin: impl FnOnce(), end: impl FnOnce()) {
        self.threads.bind_worker(self.index);
        let _entered = context::enter(&self.handle);
        self.threads.started();
        self.worker.run(begin, end);
        self.threads.stopping();
    }

    /// Makes the calling thread, while it does other things, that of the worker, for the rest of its life: `join` and the
    /// like are the runtime's from now on, and what comes to the worker is run while the thread waits in one of them, or
    /// in [`Handle::yield_job`]. What the worker has is never freed.
    ///
    /// # Panics
    /// If the thread is a worker's already.
    #[track_caller]
    pub fn stay(self) {
        assert!(
            crate::current_thread_index().is_none(),
            "WorkerThread::stay: this thread is a worker's already; call it on another"
        );
        self.worker.stay_here();
    }

    /// On a thread of the runtime's own.
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
