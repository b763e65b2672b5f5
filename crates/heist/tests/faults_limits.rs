//! Many connections: more than there are descriptors for, and as many as there are.
//!
//! The limit is the whole process's, so these tests run one after the other.

mod support;

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream, UnixStream};
use heist_testing::Rng;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use support::children::descriptors;
use support::runtime;

fn one_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Another limit on descriptors, until it is dropped.
struct Limit(Rlimit);

impl Limit {
    fn set(count: u64) -> Limit {
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(count), ..before }).unwrap();
        Limit(before)
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        setrlimit(Resource::Nofile, self.0).unwrap();
    }
}

/// Accepts and echoes. Without descriptors it lets others go first, and tries again.
async fn serve(listener: TcpListener, refused: Arc<AtomicUsize>) {
    loop {
        match listener.accept().await {
            Ok((mut stream, _)) => {
                heist::spawn(async move {
                    let mut buffer = [0; 64];
                    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                        if stream.write_all(&buffer[..count]).await.is_err() {
                            break;
                        }
                    }
                });
            }
            Err(error) => {
                assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{error}");
                refused.fetch_add(1, Ordering::Relaxed);
                heist::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        }
    }
}

async fn talk(stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin), word: u64) {
    stream.write_all(&word.to_le_bytes()).await.unwrap();
    assert_eq!(stream.read_u64_le().await.unwrap(), word);
}

/// A socket that was made while there were descriptors, and connects when there are none.
fn connect(client: &socket2::Socket, address: SocketAddr) -> io::Result<()> {
    client.connect(&address.into())
}

/// A server that runs out of descriptors keeps those whom it has, and serves the rest when some go.
#[test]
fn a_server_without_descriptors_keeps_serving() {
    const CLIENTS: usize = 60;
    let _alone = one_at_a_time();
    let rt = runtime(2);
    rt.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let refused = Arc::new(AtomicUsize::new(0));
        heist::spawn(serve(listener, Arc::clone(&refused)));
        let sockets: Vec<socket2::Socket> = (0..CLIENTS)
            .map(|_| {
                let (domain, kind) = (socket2::Domain::IPV4, socket2::Type::STREAM);
                socket2::Socket::new(domain, kind, None).unwrap()
            })
            .collect();
        // Room for a third of them on the server's side.
        let limit = Limit::set((descriptors() + CLIENTS / 3) as u64);
        let mut clients = Vec::new();
        for socket in sockets {
            connect(&socket, address).unwrap();
            socket.set_nonblocking(true).unwrap();
            clients.push(TcpStream::from_std(socket.into()).unwrap());
        }
        // For the system all are connected. Now and then a client that was served leaves.
        let mut served = 0;
        while !clients.is_empty() {
            support::futures::until(|| refused.load(Ordering::Relaxed) > 0).await;
            let mut client = clients.remove(0);
            for word in 0..5 {
                talk(&mut client, word).await;
            }
            served += 1;
            drop(client);
        }
        assert_eq!(served, CLIENTS);
        drop(limit);
        talk(&mut TcpStream::connect(address).await.unwrap(), 7).await;
    });
}

/// 5000 pairs, 10 000 registered sockets: each is woken by its own peer while others come and go.
#[test]
fn ten_thousand_idle_connections() {
    const PAIRS: usize = 5000;
    let _alone = one_at_a_time();
    let before = getrlimit(Resource::Nofile);
    let needed = (descriptors() + 2 * PAIRS + 100) as u64;
    if before.maximum.is_some_and(|maximum| maximum < needed) {
        eprintln!("skipped: it needs {needed} descriptors, and the hard limit is {before:?}");
        return;
    }
    let _limit = Limit::set(before.current.map_or(needed, |current| current.max(needed)));
    let rt = runtime(2);
    let open = descriptors();
    rt.block_on(async {
        let mut idle = Vec::new();
        for _ in 0..PAIRS {
            let (one, mut other) = UnixStream::pair().unwrap();
            let echo = heist::spawn(async move {
                let mut buffer = [0; 64];
                while let Ok(count @ 1..) = other.read(&mut buffer).await {
                    other.write_all(&buffer[..count]).await.unwrap();
                }
            });
            idle.push((one, echo));
        }
        // Both sides of each wait, so all are registered.
        for (number, (stream, _)) in idle.iter_mut().enumerate() {
            talk(stream, number as u64).await;
        }
        let mut rng = Rng::new(heist_testing::seed());
        for round in 0..2000 {
            let chosen = rng.below(idle.len() as u64) as usize;
            talk(&mut idle[chosen].0, round).await;
            if round % 4 == 0 {
                let (stream, echo) = idle.swap_remove(chosen);
                drop(stream);
                echo.await.unwrap();
            }
        }
        // They all end at once.
        let echoes: Vec<_> = idle.into_iter().map(|(_, echo)| echo).collect();
        for echo in echoes {
            echo.await.unwrap();
        }
    });
    assert_eq!(descriptors(), open);
}
