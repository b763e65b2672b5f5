use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::fs::File;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use super::super::AsyncRuntime;
use super::super::closures::SpawnsBlocking;
use super::super::files::ReadsFiles;
use super::super::in_place::BlocksInPlace;
use super::super::net::service::Serves;
use super::super::timers::KeepsTime;

/// Tokio with its drivers for I/O and time, as programs use it.
pub struct TokioOf<const ALONE: bool>(Runtime);

pub type Tokio = TokioOf<false>;

/// The flavour without worker threads.
pub type TokioAlone = TokioOf<true>;

impl<const ALONE: bool> AsyncRuntime for TokioOf<ALONE> {
    type Handle = Handle;
    type Task<T: Send + 'static> = JoinHandle<T>;

    fn start(workers: usize) -> io::Result<Self> {
        let mut builder = match ALONE {
            true => Builder::new_current_thread(),
            false => Builder::new_multi_thread(),
        };
        builder.worker_threads(workers).enable_all().build().map(TokioOf)
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

impl ReadsFiles for Tokio {
    type File = File;

    async fn open(path: PathBuf) -> io::Result<File> {
        File::open(path).await
    }
}

impl BlocksInPlace for Tokio {
    #[inline]
    fn block_in_place<T>(closure: impl FnOnce() -> T) -> T {
        tokio::task::block_in_place(closure)
    }
}

impl<const ALONE: bool> Serves for TokioOf<ALONE> {
    type Listener = TcpListener;
    type Stream = TcpStream;

    fn listener(listener: std::net::TcpListener) -> io::Result<TcpListener> {
        TcpListener::from_std(listener)
    }

    async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
        listener.accept().await.map(|(stream, _)| stream)
    }

    fn set_nodelay(stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)
    }
}

impl KeepsTime for Tokio {
    type Sleep = Sleep;

    #[inline]
    fn sleep_until(deadline: Instant) -> Sleep {
        tokio::time::sleep_until(deadline.into())
    }

    #[inline]
    fn reset(sleep: Pin<&mut Sleep>, deadline: Instant) {
        sleep.reset(deadline.into());
    }

    #[inline]
    async fn timeout<F: Future + Send>(time: Duration, future: F) -> Option<F::Output>
    where
        F::Output: Send,
    {
        tokio::time::timeout(time, future).await.ok()
    }
}
