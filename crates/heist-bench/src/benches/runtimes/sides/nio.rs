use std::collections::HashMap;
use std::io;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use futures_lite::future;
use nio::{JoinHandle, Runtime, RuntimeBuilder, RuntimeContext};

use super::super::AsyncRuntime;
use super::super::threads::{self, Tid};

/// `nio`: a queue a worker, each spawn and each wake-up goes to the shortest; nothing is
/// stolen.
///
/// Its worker threads never end, whatever is dropped. So the process has one of it per number
/// of workers, idle between its samples.
pub struct Nio(Arc<Shared>);

struct Shared {
    runtime: Runtime,
    threads: Vec<Tid>,
}

static STARTED: LazyLock<Mutex<HashMap<u8, Arc<Shared>>>> = LazyLock::new(Mutex::default);

impl AsyncRuntime for Nio {
    type Handle = Arc<RuntimeContext>;
    type Task<T: Send + 'static> = JoinHandle<T>;

    fn start(workers: usize) -> io::Result<Self> {
        let workers = u8::try_from(workers).map_err(|_| {
            let message = "nio has at most 255 workers; give --workers less or leave it out";
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = started.get(&workers) {
            return Ok(Nio(Arc::clone(shared)));
        }
        let before = threads::all()?;
        let runtime = RuntimeBuilder::new().worker_threads(workers).rt()?;
        let threads = threads::since(&before)?;
        let shared = Arc::new(Shared { runtime, threads });
        started.insert(workers, Arc::clone(&shared));
        Ok(Nio(shared))
    }

    fn handle(&self) -> Self::Handle {
        self.0.runtime.context()
    }

    /// Runs the future on the first worker, not on this thread: nio has no other way.
    fn block_on<F>(&self, future: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.runtime.block_on(|| future)
    }

    #[inline]
    fn spawn<F>(future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        nio::spawn(future)
    }

    #[inline]
    fn spawn_from_outside<F>(handle: &Self::Handle, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        handle.spawn(future)
    }

    #[inline]
    async fn join<T: Send + 'static>(task: JoinHandle<T>) -> T {
        task.await.expect("no task of a bench panics or is aborted")
    }

    #[inline]
    fn detach<T: Send + 'static>(task: JoinHandle<T>) {
        drop(task);
    }

    /// nio has none of its own.
    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        future::yield_now()
    }

    fn older_threads(&self) -> Vec<Tid> {
        self.0.threads.clone()
    }
}
