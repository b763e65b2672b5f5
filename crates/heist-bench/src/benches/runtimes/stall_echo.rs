//! A connection, and workers that are held: how long does the peer wait for replies?
//!
//! A runtime may have a reactor a worker, and a socket may be with that of the worker whose task
//! was the first to wait for it. So that is the worker that is held, at least. A client sends a
//! message about every millisecond, and the *gap* of a message is the time until it is back.

use std::io::{self, ErrorKind, Read, Write};
use std::marker::PhantomData;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use futures_lite::future::{block_on, poll_once};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::blockade::{Blockade, Hold};
use super::net::server;
use super::net::service::{Serves, echo};
use super::stall::Gaps;
use super::{AsyncRuntime, Story, sides, subject};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;

const TICK: Duration = Duration::from_millis(1);

pub fn benches() -> Vec<Bench> {
    vec![
        stall_echo(
            ["stall_echo", "stall_echo_p99"],
            "the worker that waits for a socket blocked for 1 s; the longest an echo takes",
            "as stall_echo; p99 of how long the echoes take",
            Held::One,
        ),
        stall_echo(
            ["stall_echo_all", "stall_echo_all_p99"],
            "all workers blocked for 1 s; the longest an echo takes",
            "as stall_echo_all; p99 of how long the echoes take",
            Held::All,
        ),
    ]
}

fn stall_echo(
    [name, p99]: [&'static str; 2],
    about: &'static str,
    about_p99: &'static str,
    held: Held,
) -> Bench {
    Bench::new(name, about, Unit::Ms, Pace::Once)
        .row(p99, about_p99, Unit::Ms)
        .side(Runtime::Heist, move |setup| side::<sides::Heist>(setup, held))
        .side(Runtime::Tokio, move |setup| side::<sides::Tokio>(setup, held))
        .side(Runtime::Smol, move |setup| side::<sides::SmolWithReactor>(setup, held))
        .side(Runtime::HeistUnwatched, move |setup| side::<sides::HeistUnwatched>(setup, held))
}

fn side<N: Serves>(
    setup: &Setup,
    held: Held,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<N>, Fault> {
    subject::<N, EchoStall<N>, _>(setup, move |setup| EchoStall {
        workers: setup.workers,
        held,
        time: Duration::from_millis(setup.scaled(1000)),
        runtime: PhantomData,
    })
}

/// Which workers do nothing else for a while.
#[derive(Debug, Clone, Copy)]
enum Held {
    /// The one whose task was the first to wait for the socket.
    One,
    All,
}

/// `N` is the runtime of the side; a story knows it by a narrower interface.
struct EchoStall<N> {
    workers: usize,
    held: Held,
    time: Duration,
    runtime: PhantomData<N>,
}

/// The task that is to hold a certain worker may be run by another. Guessed.
const ATTEMPTS: u32 = 200;

impl<N: Serves> Story for EchoStall<N> {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let EchoStall { workers, held, time, .. } = *self;
        match held {
            Held::One => one_held::<N, R>(runtime, time),
            Held::All => {
                let connection = Connection::<R>::open::<N>(runtime, |_| ())?;
                let blockade = Blockade::lay(runtime, workers, Hold::Block, time)?;
                let gaps = connection.tick_until(|| blockade.is_over())?;
                blockade.join();
                Ok(gaps.sample())
            }
        }
    }
}

fn one_held<N: Serves, R: AsyncRuntime>(runtime: &R, time: Duration) -> Result<Sample, Fault> {
    for _ in 0..ATTEMPTS {
        let (holder, is_held) = Holder::new(time);
        let is_over = Arc::clone(&holder.is_over);
        let connection = Connection::<R>::open::<N>(runtime, move |worker| {
            N::detach(N::spawn(async move { holder.hold(worker) }));
        })?;
        // An error says that the task is gone, and the worker not held.
        if is_held.recv() == Ok(true) {
            return Ok(connection.tick_until(|| is_over.load(Ordering::Relaxed))?.sample());
        }
        connection.close()?;
    }
    let what = "times that a task met the worker it was to hold";
    Err(Fault::Wrong { what, expected: 1, found: 0 })
}

/// Holds a worker, if it is that one.
struct Holder {
    time: Duration,
    is_held: Sender<bool>,
    is_over: Arc<AtomicBool>,
}

impl Holder {
    fn new(time: Duration) -> (Self, Receiver<bool>) {
        let (sender, receiver) = mpsc::channel();
        (Holder { time, is_held: sender, is_over: Arc::default() }, receiver)
    }

    fn hold(self, worker: ThreadId) {
        let is_it = thread::current().id() == worker;
        // There is no error: the other end waits for this.
        let _ = self.is_held.send(is_it);
        if is_it {
            thread::sleep(self.time);
        }
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// A connection to a task of the runtime, which echoes.
struct Connection<R: AsyncRuntime> {
    client: TcpStream,
    task: R::Task<io::Result<()>>,
}

/// Says when it was sent.
const MESSAGE: usize = 8;

impl<R: AsyncRuntime> Connection<R> {
    /// Returns when the task waits for a message. It has called `waits` then, with the thread
    /// that it was on when it began to.
    fn open<N: Serves>(
        runtime: &R,
        waits: impl FnOnce(ThreadId) + Send + 'static,
    ) -> Result<Self, Fault> {
        let (listener, address) = server::listen().map_err(Fault::Setup)?;
        let (waiting, is_waiting) = mpsc::channel();
        let task = R::spawn_from_outside(&runtime.handle(), async move {
            let waits = move || {
                waits(thread::current().id());
                // There is no error: the other end waits for this.
                let _ = waiting.send(());
            };
            wait_and_echo::<N>(listener, waits).await
        });
        let client = TcpStream::connect(address).map_err(Fault::Setup)?;
        client.set_nodelay(true).map_err(Fault::Setup)?;
        match is_waiting.recv() {
            Ok(()) => Ok(Connection { client, task }),
            Err(_) => Err(block_on(R::join(task))
                .err()
                .map_or_else(|| Fault::Panicked("the task did not wait".to_owned()), Fault::Setup)),
        }
    }

    /// Sends messages until it `is_over`, one at least.
    fn tick_until(mut self, is_over: impl Fn() -> bool) -> Result<Gaps, Fault> {
        let start = Instant::now();
        let replies = self.client.try_clone().map_err(Fault::Setup)?;
        let listener = thread::spawn(move || gaps(replies, start));
        let mut sent = 0;
        loop {
            let message = (start.elapsed().as_nanos() as u64).to_le_bytes();
            self.client.write_all(&message).map_err(Fault::Setup)?;
            sent += 1;
            thread::sleep(TICK);
            if is_over() {
                break;
            }
        }
        self.close()?;
        let gaps = listener.join().expect("has nothing to panic about").map_err(Fault::Setup)?;
        if gaps.len() as u64 != sent {
            return Err(Fault::Wrong { what: "echoes", expected: sent, found: gaps.len() as u64 });
        }
        Ok(Gaps::of(gaps))
    }

    /// Says that nothing more comes, and waits for the task.
    fn close(self) -> Result<(), Fault> {
        self.client.shutdown(Shutdown::Write).map_err(Fault::Setup)?;
        block_on(R::join(self.task)).map_err(Fault::Setup)
    }
}

/// One end of a connection. Calls `waits` when it has begun to wait for the first message, which
/// must not have been sent by then.
async fn wait_and_echo<N: Serves>(listener: TcpListener, waits: impl FnOnce()) -> io::Result<()> {
    let listener = N::listener(listener)?;
    let mut stream = N::accept(&listener).await?;
    N::set_nodelay(&stream)?;
    let mut first = [0; MESSAGE];
    let count = {
        let mut reading = pin!(stream.read(&mut first));
        match poll_once(&mut reading).await {
            // It did not have to wait.
            Some(count) => count?,
            None => {
                waits();
                reading.await?
            }
        }
    };
    stream.write_all(&first[..count]).await?;
    echo(stream, 64).await;
    Ok(())
}

/// How long each message was on its way, there and back.
fn gaps(mut replies: TcpStream, start: Instant) -> io::Result<Vec<Duration>> {
    let mut gaps = Vec::new();
    let mut message = [0; MESSAGE];
    loop {
        match replies.read_exact(&mut message) {
            Ok(()) => (),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(gaps),
            Err(error) => return Err(error),
        }
        let sent = Duration::from_nanos(u64::from_le_bytes(message));
        gaps.push(start.elapsed().saturating_sub(sent));
    }
}

#[cfg(test)]
mod tests {
    use super::super::sides::Tokio;
    use super::*;

    fn stall(held: Held) -> Vec<f64> {
        let runtime = Tokio::start(2).unwrap();
        let time = Duration::from_millis(200);
        let mut story = EchoStall::<Tokio> { workers: 2, held, time, runtime: PhantomData };
        match story.sample(&runtime).unwrap() {
            Sample::Values(gaps) => gaps,
            other => panic!("gaps are values: {other:?}"),
        }
    }

    /// Tokio has a reactor that any worker may poll, but no other threads to do it.
    #[test]
    fn with_all_workers_held_nobody_answers() {
        // Half of the stall, because the sender may start that much later.
        assert!(stall(Held::All)[0] >= 100.0);
    }

    #[test]
    fn with_one_worker_held_all_is_answered_in_the_end() {
        assert_eq!(stall(Held::One).len(), 2);
    }

    #[test]
    fn a_worker_is_held_only_if_it_is_the_right_one() {
        let here = thread::current().id();
        let elsewhere = thread::spawn(|| thread::current().id()).join().unwrap();
        for (worker, held) in [(here, true), (elsewhere, false)] {
            let (holder, is_held) = Holder::new(Duration::ZERO);
            let is_over = Arc::clone(&holder.is_over);
            holder.hold(worker);
            assert_eq!(is_held.recv(), Ok(held));
            assert!(is_over.load(Ordering::Relaxed));
        }
    }
}
