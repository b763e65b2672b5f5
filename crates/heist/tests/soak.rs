//! A thousand connections, random sizes, random ends: nothing is lost, nothing is mixed up (L3,
//! W9).
//!
//! `HEIST_STRESS_SEED` and `HEIST_STRESS_SCALE` say where to begin and how much to do.

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream};
use heist::runtime::{Builder, Runtime};
use heist_testing::{Rng, scaled, seed};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

const CONNECTIONS: u64 = 1000;
const ROUNDS: u64 = 20;
/// More than the buffers of a loopback connection take at once.
const LONGEST: u64 = 300_000;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Echoes until the client ends, in whatever way. Counts the clients that were served.
async fn echo(mut stream: TcpStream, served: Arc<AtomicUsize>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            break;
        }
    }
    served.fetch_sub(1, Ordering::Relaxed);
}

async fn serve(listener: TcpListener, served: Arc<AtomicUsize>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        served.fetch_add(1, Ordering::Relaxed);
        heist::spawn(echo(stream, Arc::clone(&served)));
    }
}

/// What the bytes of a message are: those of no other message.
fn message(rng: &mut Rng) -> Vec<u8> {
    // Most are short.
    let longest = if rng.below(8) == 0 { LONGEST } else { 2000 };
    let length = 1 + rng.below(longest) as usize;
    std::iter::repeat_with(|| rng.next_u64().to_le_bytes()).flatten().take(length).collect()
}

/// One client: rounds of a message there and back, both ways at once; it may leave in the middle.
/// How many bytes came back.
async fn client(address: SocketAddr, seed: u64) -> io::Result<usize> {
    let mut rng = Rng::new(seed);
    let mut stream = TcpStream::connect(address).await?;
    let mut checked = 0;
    for _ in 0..ROUNDS {
        let sent = message(&mut rng);
        let leaves = rng.below(60) == 0;
        let (mut reader, mut writer) = stream.split();
        if leaves {
            let part = rng.below(sent.len() as u64) as usize;
            writer.write_all(&sent[..part]).await?;
            if rng.below(2) == 0 {
                // With unread bytes on its way the connection is reset.
                return Ok(checked);
            }
            writer.shutdown().await?;
            let mut back = Vec::new();
            reader.read_to_end(&mut back).await?;
            assert!(back == sent[..part], "seed {seed}: what came back is not what was sent");
            return Ok(checked + part);
        }
        let mut back = vec![0; sent.len()];
        let there = writer.write_all(&sent);
        let (there, here) = heist::join!(there, reader.read_exact(&mut back));
        there?;
        here?;
        assert!(back == sent, "seed {seed}: what came back is not what was sent");
        checked += back.len();
    }
    Ok(checked)
}

fn soak(server: &Runtime) {
    let seed = seed();
    let served = Arc::new(AtomicUsize::new(0));
    let listener = server.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    server.spawn(serve(listener, Arc::clone(&served)));
    let clients = runtime();
    let tasks: Vec<_> = (0..scaled(CONNECTIONS))
        .map(|number| clients.spawn(client(address, seed.wrapping_add(number))))
        .collect();
    let mut checked = 0;
    for task in tasks {
        checked += clients.block_on(task).unwrap().unwrap();
    }
    assert!(checked > 0);
    // Each server task finds out that its client has gone.
    while served.load(Ordering::Relaxed) > 0 {
        std::thread::yield_now();
    }
}

/// L3: a thousand connections.
#[test]
fn l3_nothing_is_lost_on_a_thousand_connections() {
    soak(&runtime());
}

/// L3: the same beside a worker that is blocked all the time.
#[test]
fn l3_nothing_is_lost_beside_a_blocked_worker() {
    let server = runtime();
    let (begun, begins) = mpsc::channel();
    let (let_go, wait) = mpsc::channel::<()>();
    let stuck = server.spawn(async move {
        begun.send(()).unwrap();
        wait.recv().unwrap();
    });
    begins.recv().unwrap();
    soak(&server);
    assert!(!stuck.is_finished());
    let_go.send(()).unwrap();
    server.block_on(stuck).unwrap();
}
