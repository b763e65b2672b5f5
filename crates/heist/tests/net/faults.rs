//! Peers that misbehave and sockets that end at the wrong moment: other connections go on.
//!
//! `HEIST_STRESS_SEED` and `HEIST_STRESS_SCALE` say where to begin and how much to do.

use crate::support;
use crate::support::net::{poll_once, with_std_peer};
use crate::support::runtime;
use heist::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use heist::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use heist::runtime::{Builder, Runtime};
use heist_testing::{Rng, scaled};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

fn runtimes() -> [Runtime; 3] {
    let current_thread = Builder::new_current_thread().enable_all().build().unwrap();
    [current_thread, runtime(1), runtime(3)]
}

/// Answers each line with the same line.
async fn echo_lines(stream: TcpStream) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while stream.read_line(&mut line).await? > 0 {
        stream.get_mut().write_all(line.as_bytes()).await?;
        line.clear();
    }
    Ok(())
}

/// A server of lines, in tasks of the runtime that it is called in. Counts whom it has done with.
async fn serve_lines() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let done = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&done);
    heist::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let done = Arc::clone(&counts);
            heist::spawn(async move {
                let _ = echo_lines(stream).await;
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    (address, done)
}

async fn ask(stream: &mut BufReader<TcpStream>, line: &str) {
    stream.get_mut().write_all(line.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_line(&mut answer).await.unwrap();
    assert_eq!(answer, line);
}

/// Between two bytes of one client, others come, are served, and go.
#[test]
fn a_client_that_sends_a_byte_now_and_then_keeps_nobody_waiting() {
    for rt in runtimes() {
        rt.block_on(async {
            let (address, done) = serve_lines().await;
            let mut slow = BufReader::new(TcpStream::connect(address).await.unwrap());
            slow.get_ref().set_nodelay(true).unwrap();
            let line = "a line that takes its time\n";
            for byte in line.bytes() {
                slow.get_mut().write_all(&[byte]).await.unwrap();
                for number in 0..3 {
                    let stream = TcpStream::connect(address).await.unwrap();
                    let mut other = BufReader::new(stream);
                    ask(&mut other, &format!("{number}\n")).await;
                }
            }
            let mut answer = String::new();
            slow.read_line(&mut answer).await.unwrap();
            assert_eq!(answer, line);
            support::futures::until(|| done.load(Ordering::Relaxed) == 3 * line.len()).await;
        });
    }
}

/// A client that also reads nothing: the answers to it fill its own buffers, and no others.
#[test]
fn a_client_that_does_not_read_keeps_nobody_waiting() {
    for rt in runtimes() {
        rt.block_on(async {
            let (address, _) = serve_lines().await;
            let deaf = TcpStream::connect(address).await.unwrap();
            let long = vec![b'x'; 64 * 1024];
            // Until there is no room left on the whole way there and back.
            let mut line = long.clone();
            *line.last_mut().unwrap() = b'\n';
            let mut stuck = 0;
            while stuck < 100 {
                match deaf.try_write(&line) {
                    Ok(_) => stuck = 0,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => stuck += 1,
                    Err(error) => panic!("{error}"),
                }
                heist::task::yield_now().await;
            }
            let mut other = BufReader::new(TcpStream::connect(address).await.unwrap());
            for number in 0..100 {
                ask(&mut other, &format!("{number}\n")).await;
            }
        });
    }
}

/// How far a conversation has come when the peer resets it.
#[derive(Clone, Copy)]
struct Script {
    /// Bytes that the peer sends before.
    sent: usize,
    /// Bytes that it reads before.
    read: usize,
}

/// A client of the length that `script` says, which then resets the connection.
async fn break_off(address: SocketAddr, lines: &[u8], script: Script) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&lines[..script.sent]).await.unwrap();
    let mut back = vec![0; script.read];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(back, lines[..script.read]);
    stream.set_zero_linger().unwrap();
}

/// A reset after every byte that a client sends, and after every byte that it reads.
#[test]
fn a_peer_may_reset_at_every_point() {
    let lines = b"one\ntwo, a longer one\nthree\n";
    for rt in runtimes() {
        rt.block_on(async {
            let (address, done) = serve_lines().await;
            let mut tasks = Vec::new();
            for sent in 0..=lines.len() {
                // Whole lines come back.
                let complete = lines[..sent].iter().rposition(|byte| *byte == b'\n');
                for read in 0..=complete.map_or(0, |last| last + 1) {
                    tasks.push(heist::spawn(break_off(address, lines, Script { sent, read })));
                }
            }
            let count = tasks.len();
            for task in tasks {
                task.await.unwrap();
            }
            support::futures::until(|| done.load(Ordering::Relaxed) == count).await;
            let mut other = BufReader::new(TcpStream::connect(address).await.unwrap());
            ask(&mut other, "still there\n").await;
        });
    }
}

/// A server that resets, at every point of what its clients do.
#[test]
fn a_server_may_reset_at_every_point() {
    for rt in runtimes() {
        rt.block_on(async {
            for point in 0..60 {
                let (mut stream, peer) = with_std_peer().await;
                let ends = heist::spawn(async move {
                    let mut steps = 0;
                    loop {
                        // Both fail in the end, in one way or another.
                        if stream.write_all(&[0; 1000]).await.is_err() {
                            return steps;
                        }
                        let mut byte = [0];
                        let read = poll_fn(|cx| {
                            let mut read = pin!(stream.read(&mut byte));
                            Poll::Ready(read.as_mut().poll(cx))
                        });
                        if let Poll::Ready(Ok(0) | Err(_)) = read.await {
                            return steps;
                        }
                        steps += 1;
                    }
                });
                let resets = heist::task::spawn_blocking(move || {
                    let mut peer = peer;
                    for _ in 0..point % 20 {
                        io::Read::read_exact(&mut peer, &mut [0; 100]).unwrap();
                        io::Write::write_all(&mut peer, b"x").unwrap();
                        if point % 3 == 0 {
                            std::thread::yield_now();
                        }
                    }
                    support::net::reset(peer);
                });
                resets.await.unwrap();
                ends.await.unwrap();
            }
        });
    }
}

/// A task on one thread gives up sockets with events under way, while others are made of the same
/// numbers: nobody is told of what was meant for another.
#[test]
fn no_event_reaches_the_next_owner_of_a_number() {
    let rt = runtime(3);
    let loud = Arc::new(AtomicUsize::new(0));
    let is_over = Arc::new(AtomicUsize::new(0));
    let noise: Vec<_> = (0..2)
        .map(|number| {
            let (loud, is_over) = (Arc::clone(&loud), Arc::clone(&is_over));
            rt.spawn(async move {
                let mut rng = Rng::for_thread(number);
                while is_over.load(Ordering::Relaxed) == 0 {
                    let (one, other) = UnixStream::pair().unwrap();
                    let mut readable = Box::pin(one.readable());
                    let _ = poll_once(&mut readable).await;
                    // The event is under way when the socket goes.
                    other.try_write(b"for the first owner").unwrap();
                    match rng.below(3) {
                        0 => heist::task::yield_now().await,
                        1 => drop(other),
                        _ => {}
                    }
                    drop(readable);
                    drop(one);
                    loud.fetch_add(1, Ordering::Relaxed);
                    heist::task::yield_now().await;
                }
            })
        })
        .collect();
    let quiet: Vec<_> = (0..2)
        .map(|_| {
            rt.spawn(async move {
                for _ in 0..scaled(3_000) {
                    let (one, other) = UnixStream::pair().unwrap();
                    let number = one.as_raw_fd();
                    let mut readable = Box::pin(one.readable());
                    for _ in 0..4 {
                        // Nobody ever writes to it.
                        let is_pending = poll_once(&mut readable).await.is_pending();
                        assert!(is_pending, "descriptor {number} is told of another's bytes");
                        heist::task::yield_now().await;
                    }
                    drop(readable);
                    drop((one, other));
                }
            })
        })
        .collect();
    quiet.into_iter().for_each(|task| rt.block_on(task).unwrap());
    is_over.store(1, Ordering::Relaxed);
    noise.into_iter().for_each(|task| rt.block_on(task).unwrap());
    assert!(loud.load(Ordering::Relaxed) > 0);
}

/// What happens to a socket that a task waits for.
async fn end_somehow(rng: &mut Rng, waiting: heist::task::JoinHandle<()>, peer: UnixStream) {
    match rng.below(6) {
        0 => waiting.abort(),
        1 => drop(peer),
        2 => {
            let _ = peer.try_write(b"x");
            waiting.abort();
        }
        3 => {
            waiting.abort();
            let _ = peer.try_write(b"x");
        }
        4 => {
            let _ = peer.try_write(b"x");
            heist::task::yield_now().await;
            drop(peer);
        }
        _ => {
            // Handed over to another thread, which ends it there.
            heist::spawn(async move { drop(peer) });
            heist::task::yield_now().await;
            waiting.abort();
        }
    }
    if let Err(error) = waiting.await {
        assert!(error.is_cancelled(), "{error}");
    }
}

/// Sockets that are dropped, aborted, closed by their peers and registered anew, each beside events
/// of its own. Nobody hangs, and no descriptor is kept.
#[test]
fn deregistration_races_with_events() {
    for rt in runtimes() {
        let tasks: Vec<_> = (0..4)
            .map(|number| {
                rt.spawn(async move {
                    let mut rng = Rng::for_thread(number);
                    for _ in 0..scaled(2_000) {
                        let (one, peer) = UnixStream::pair().unwrap();
                        let comes_back = rng.below(3) == 0;
                        let kind = rng.below(3);
                        let waiting = heist::spawn(async move {
                            let mut one = one;
                            if comes_back {
                                // Registered, deregistered, and registered again.
                                let mut readable = Box::pin(one.readable());
                                let _ = poll_once(&mut readable).await;
                                drop(readable);
                                one = UnixStream::from_std(one.into_std().unwrap()).unwrap();
                            }
                            match kind {
                                0 => drop(one.read(&mut [0; 4]).await),
                                1 => drop(one.readable().await),
                                _ => {
                                    let (mut reader, writer) = one.into_split();
                                    let half = heist::spawn(async move { drop(writer) });
                                    let _ = reader.read(&mut [0; 4]).await;
                                    half.abort();
                                }
                            }
                        });
                        if rng.below(2) == 0 {
                            heist::task::yield_now().await;
                        }
                        end_somehow(&mut rng, waiting, peer).await;
                    }
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| rt.block_on(task).unwrap());
    }
}

/// Many tasks wait for one socket; some are aborted while it becomes ready, and the others are
/// woken.
#[test]
fn aborted_waiters_do_not_take_the_others_wake_ups() {
    for rt in runtimes() {
        rt.block_on(async {
            let mut rng = Rng::new(heist_testing::seed());
            for _ in 0..scaled(300) {
                let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
                let address = socket.local_addr().unwrap();
                let mut waiting: Vec<_> = (0..8)
                    .map(|_| {
                        let socket = Arc::clone(&socket);
                        heist::spawn(async move { socket.recv(&mut [0; 8]).await.unwrap() })
                    })
                    .collect();
                heist::task::yield_now().await;
                rng.shuffle(&mut waiting);
                let stay = waiting.split_off(rng.below(8) as usize);
                let sender = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                // There is one for each, if connections that are closed take none.
                for number in 0..8 {
                    sender.send_to(b"datagram", address).await.unwrap();
                    if let Some(goes) = waiting.get(number) {
                        goes.abort();
                    }
                }
                for task in stay {
                    assert_eq!(task.await.unwrap(), 8);
                }
            }
        });
    }
}
