use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::net::{TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_executor::{Executor, Task};
use async_io::{Async, Timer};
use futures_lite::future;
use futures_lite::io::{AsyncRead as _, AsyncWrite as _};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;

use super::super::AsyncRuntime;
use super::super::net::service::Serves;
use super::super::timers::KeepsTime;

/// `async-executor` on threads of our own, as the `smol` crate runs it.
///
/// Dropping it ends its threads.
pub struct SmolOn<P> {
    executor: Arc<Executor<'static>>,
    /// The workers leave when it is gone.
    stop: Option<watch::Sender<()>>,
    workers: Vec<JoinHandle<()>>,
    parking: PhantomData<P>,
}

/// smol without a reactor.
pub type Smol = SmolOn<Bare>;

/// smol with the reactor of `async-io`, of which a process has one.
pub type SmolWithReactor = SmolOn<Reactor>;

/// How a thread waits that has nothing to do.
pub trait Parking: Send + Sync + 'static {
    fn block_on<T>(future: impl Future<Output = T>) -> T;
}

pub enum Bare {}

impl Parking for Bare {
    fn block_on<T>(future: impl Future<Output = T>) -> T {
        future::block_on(future)
    }
}

pub enum Reactor {}

/// A thread that has nothing to do is the one that waits for I/O and timers, if no other does.
impl Parking for Reactor {
    fn block_on<T>(future: impl Future<Output = T>) -> T {
        async_io::block_on(future)
    }
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

impl<P: Parking> AsyncRuntime for SmolOn<P> {
    type Handle = Arc<Executor<'static>>;
    type Task<T: Send + 'static> = Task<T>;

    fn start(workers: usize) -> io::Result<Self> {
        let (stop, stopped) = watch::channel(());
        let executor = Arc::new(Executor::new());
        let workers_of = Vec::with_capacity(workers);
        let mut smol =
            SmolOn { executor, stop: Some(stop), workers: workers_of, parking: PhantomData };
        for number in 0..workers {
            let executor = Arc::clone(&smol.executor);
            let mut stopped = stopped.clone();
            let work = move || {
                let _entered = Entered::new(&executor);
                // An error says that the sender is gone, which is what we wait for.
                let _ = P::block_on(executor.run(stopped.changed()));
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
        P::block_on(future)
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

/// A stream with the traits that the services are written for.
pub struct Stream(Async<TcpStream>);

impl Serves for SmolWithReactor {
    type Listener = Async<TcpListener>;
    type Stream = Stream;

    fn listener(listener: TcpListener) -> io::Result<Self::Listener> {
        Async::new(listener)
    }

    async fn accept(listener: &Self::Listener) -> io::Result<Stream> {
        listener.accept().await.map(|(stream, _)| Stream(stream))
    }

    fn set_nodelay(stream: &Stream) -> io::Result<()> {
        stream.0.get_ref().set_nodelay(true)
    }
}

impl AsyncRead for Stream {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = ready!(Pin::new(&mut self.0).poll_read(context, buffer.initialize_unfilled()))?;
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    #[inline]
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    #[inline]
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(context)
    }

    #[inline]
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, slices)
    }

    #[inline]
    fn is_write_vectored(&self) -> bool {
        true
    }
}

impl KeepsTime for SmolWithReactor {
    type Sleep = Timer;

    #[inline]
    fn sleep_until(deadline: Instant) -> Timer {
        Timer::at(deadline)
    }

    #[inline]
    fn reset(mut sleep: Pin<&mut Timer>, deadline: Instant) {
        sleep.set_at(deadline);
    }

    /// It has none of its own; this is how its users write it.
    #[inline]
    fn timeout<F: Future + Send>(
        time: Duration,
        future: F,
    ) -> impl Future<Output = Option<F::Output>> + Send
    where
        F::Output: Send,
    {
        let out = async move {
            Timer::after(time).await;
            None
        };
        future::or(async { Some(future.await) }, out)
    }
}

impl<P> Drop for SmolOn<P> {
    fn drop(&mut self) {
        self.stop = None;
        for worker in self.workers.drain(..) {
            // A worker that panicked has already said so.
            let _ = worker.join();
        }
    }
}
