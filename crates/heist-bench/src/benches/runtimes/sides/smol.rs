use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use async_executor::{Executor, Task};
use futures_lite::future;
use tokio::sync::watch;

use super::super::AsyncRuntime;

/// `async-executor` on threads of our own, as the `smol` crate runs it, without a reactor.
///
/// Dropping it ends its threads.
pub struct Smol {
    executor: Arc<Executor<'static>>,
    /// The workers leave when it is gone.
    stop: Option<watch::Sender<()>>,
    workers: Vec<JoinHandle<()>>,
}

thread_local! {
    /// The executor of this worker, or of the `block_on` this thread is in. The `smol` crate
    /// has one for the whole process instead; finding it costs about the same.
    static CURRENT: RefCell<Option<Arc<Executor<'static>>>> = const { RefCell::new(None) };
}

/// Makes an executor the thread's current one, until it is dropped.
struct Entered;

impl Entered {
    fn new(executor: &Arc<Executor<'static>>) -> Self {
        let before = CURRENT.replace(Some(Arc::clone(executor)));
        assert!(before.is_none(), "a thread is in one executor at a time");
        Entered
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

impl AsyncRuntime for Smol {
    type Handle = Arc<Executor<'static>>;
    type Task<T: Send + 'static> = Task<T>;

    fn start(workers: usize) -> io::Result<Self> {
        let (stop, stopped) = watch::channel(());
        let executor = Arc::new(Executor::new());
        let mut smol = Smol { executor, stop: Some(stop), workers: Vec::with_capacity(workers) };
        for number in 0..workers {
            let executor = Arc::clone(&smol.executor);
            let mut stopped = stopped.clone();
            let work = move || {
                let _entered = Entered::new(&executor);
                // An error says that the sender is gone, which is what we wait for.
                let _ = future::block_on(executor.run(stopped.changed()));
            };
            let worker = thread::Builder::new().name(format!("smol-{number}")).spawn(work)?;
            smol.workers.push(worker);
        }
        Ok(smol)
    }

    fn handle(&self) -> Self::Handle {
        Arc::clone(&self.executor)
    }

    fn block_on<F>(&self, future: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let _entered = Entered::new(&self.executor);
        future::block_on(future)
    }

    #[inline]
    fn spawn<F>(future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        CURRENT.with_borrow(|executor| {
            executor.as_ref().expect("Smol::spawn: called on a worker").spawn(future)
        })
    }

    #[inline]
    fn spawn_from_outside<F>(handle: &Self::Handle, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        handle.spawn(future)
    }

    #[inline]
    fn join<T: Send + 'static>(task: Task<T>) -> impl Future<Output = T> + Send {
        task
    }

    #[inline]
    fn detach<T: Send + 'static>(task: Task<T>) {
        task.detach();
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        future::yield_now()
    }
}

impl Drop for Smol {
    fn drop(&mut self) {
        self.stop = None;
        for worker in self.workers.drain(..) {
            // A worker that panicked has already said so.
            let _ = worker.join();
        }
    }
}
