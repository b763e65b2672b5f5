use std::io;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

use super::super::AsyncRuntime;
use super::super::closures::SpawnsBlocking;
use super::super::in_place::BlocksInPlace;

/// With its drivers for I/O and time, as programs have it.
pub struct Tokio(Runtime);

impl AsyncRuntime for Tokio {
    type Handle = Handle;
    type Task<T: Send + 'static> = JoinHandle<T>;

    fn start(workers: usize) -> io::Result<Self> {
        Builder::new_multi_thread().worker_threads(workers).enable_all().build().map(Tokio)
    }

    fn handle(&self) -> Handle {
        self.0.handle().clone()
    }

    fn block_on<F>(&self, future: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.block_on(future)
    }

    #[inline]
    fn spawn<F>(future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        tokio::spawn(future)
    }

    #[inline]
    fn spawn_from_outside<F>(handle: &Handle, future: F) -> JoinHandle<F::Output>
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

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }
}

impl SpawnsBlocking for Tokio {
    #[inline]
    fn spawn_blocking<F, T>(closure: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        tokio::task::spawn_blocking(closure)
    }
}

impl BlocksInPlace for Tokio {
    #[inline]
    fn block_in_place<T>(closure: impl FnOnce() -> T) -> T {
        tokio::task::block_in_place(closure)
    }
}
