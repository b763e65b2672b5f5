use std::io;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::{Duration, Instant};

use heist::fs::File;
use heist::net::{TcpListener, TcpStream};
use heist::runtime::{Builder, Handle, Runtime, RuntimeMetrics};
use heist::task::JoinHandle;
use heist::time::Sleep;

use super::super::AsyncRuntime;
use super::super::closures::SpawnsBlocking;
use super::super::files::ReadsFiles;
use super::super::in_place::BlocksInPlace;
use super::super::net::service::Serves;
use super::super::recovery::LendsSeats;
use super::super::timers::KeepsTime;

/// heist with its drivers for I/O and time, as programs use it, otherwise built by `B`.
pub struct HeistBuilt<B>(Runtime, PhantomData<B>);

/// What `Builder` makes of itself.
pub type Heist = HeistBuilt<Default>;

/// The flavour without worker threads.
pub type HeistAlone = HeistBuilt<Alone>;

/// No thread watches the workers.
pub type HeistUnwatched = HeistBuilt<Unwatched>;

/// What workers do is recorded.
pub type HeistTraced = HeistBuilt<Traced>;

/// Threads that were lent a seat, and have nothing to do, end soon.
pub type HeistShortLived = HeistBuilt<ShortLived>;

pub trait Build: Send + Sync + 'static {
    fn begin(workers: usize) -> Builder {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers);
        builder
    }

    fn adjust(_builder: &mut Builder) {}
}

pub enum Default {}

impl Build for Default {}

pub enum Alone {}

impl Build for Alone {
    fn begin(_workers: usize) -> Builder {
        Builder::new_current_thread()
    }
}

pub enum Bound {}

impl Build for Bound {
    fn adjust(builder: &mut Builder) {
        builder.pin_workers(true);
    }
}

pub enum Unwatched {}

impl Build for Unwatched {
    fn adjust(builder: &mut Builder) {
        builder.stall_threshold(None);
    }
}

pub enum Traced {}

impl Build for Traced {
    fn adjust(builder: &mut Builder) {
        builder.trace(heist::trace::Config::new());
    }
}

pub enum ShortLived {}

impl Build for ShortLived {
    fn adjust(builder: &mut Builder) {
        builder.thread_keep_alive(Duration::from_millis(100));
    }
}

impl<B: Build> AsyncRuntime for HeistBuilt<B> {
    type Handle = Handle;
    type Task<T: Send + 'static> = JoinHandle<T>;

    fn start(workers: usize) -> io::Result<Self> {
        let mut builder = B::begin(workers);
        builder.enable_all();
        B::adjust(&mut builder);
        builder.build().map(|runtime| HeistBuilt(runtime, PhantomData))
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
        heist::spawn(future)
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
        heist::task::yield_now()
    }
}

impl SpawnsBlocking for Heist {
    #[inline]
    fn spawn_blocking<F, T>(closure: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        heist::task::spawn_blocking(closure)
    }
}

impl ReadsFiles for Heist {
    type File = File;

    async fn open(path: PathBuf) -> io::Result<File> {
        File::open(path).await
    }
}

impl BlocksInPlace for Heist {
    #[inline]
    fn block_in_place<T>(closure: impl FnOnce() -> T) -> T {
        heist::task::block_in_place(closure)
    }
}

impl LendsSeats for HeistShortLived {
    fn stalls() -> u64 {
        metrics().stall_count()
    }

    fn spares() -> usize {
        metrics().num_spare_workers()
    }
}

impl<B: Build> Serves for HeistBuilt<B> {
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

impl<B: Build> KeepsTime for HeistBuilt<B> {
    type Sleep = Sleep;

    #[inline]
    fn sleep_until(deadline: Instant) -> Sleep {
        heist::time::sleep_until(deadline.into())
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
        heist::time::timeout(time, future).await.ok()
    }
}

/// The metrics of the runtime whose task calls this.
fn metrics() -> RuntimeMetrics {
    Handle::current().metrics()
}
