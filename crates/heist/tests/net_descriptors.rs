//! Descriptors: what happens when there are none left, and that none are kept. One test after the
//! other, for all that a process has is theirs.

mod support;

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixListener, UnixStream};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::net::{TempDir, on_both, tcp_pair};

const EMFILE: i32 = rustix::io::Errno::MFILE.raw_os_error();

fn one_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many descriptors are open.
fn open() -> usize {
    // One is that of the directory.
    std::fs::read_dir("/proc/self/fd").unwrap().count() - 1
}

/// All descriptors that the process may have, for as long as it lives.
struct Exhausted {
    limit: Rlimit,
    files: Vec<File>,
}

impl Exhausted {
    fn now() -> Self {
        let limit = getrlimit(Resource::Nofile);
        let few = Rlimit { current: Some(open() as u64 + 64), ..limit };
        setrlimit(Resource::Nofile, few).unwrap();
        let files = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        Exhausted { limit, files }
    }

    fn free_one(&mut self) {
        self.files.pop().unwrap();
    }
}

impl Drop for Exhausted {
    fn drop(&mut self) {
        setrlimit(Resource::Nofile, self.limit).unwrap();
    }
}

/// A socket that can connect when there are no descriptors left, because it has one.
fn client() -> socket2::Socket {
    socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap()
}

#[track_caller]
fn assert_exhausted<T>(result: io::Result<T>) {
    assert_eq!(result.err().unwrap().raw_os_error(), Some(EMFILE));
}

/// The connection stays where it is, and the listener goes on as soon as there is a descriptor for
/// it.
#[test]
fn accepting_goes_on_when_there_are_descriptors_again() {
    let _alone = one_at_a_time();
    on_both(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr: SocketAddr = listener.local_addr().unwrap();
        let clients = [client(), client(), client()];
        // It waits, so that it is registered, and gets to know of the first connection by an event.
        let (accepting, listener) = {
            let listener = std::sync::Arc::new(listener);
            let accepting = std::sync::Arc::clone(&listener);
            (heist::spawn(async move { accepting.accept().await.map(drop) }), listener)
        };
        heist::task::yield_now().await;
        let mut exhausted = Exhausted::now();
        clients[0].connect(&addr.into()).unwrap();
        assert_exhausted(accepting.await.unwrap());
        // That was no reason to wait for another event: there may be none.
        for _ in 0..3 {
            assert_exhausted(listener.accept().await);
            assert_exhausted(poll_fn(|cx| listener.poll_accept(cx)).await);
        }
        clients[1].connect(&addr.into()).unwrap();
        assert_exhausted(listener.accept().await);

        exhausted.free_one();
        let (mut first, from) = listener.accept().await.unwrap();
        assert_eq!(Some(from), clients[0].local_addr().unwrap().as_socket());
        assert_exhausted(listener.accept().await);
        drop(exhausted);
        let (_, from) = listener.accept().await.unwrap();
        assert_eq!(Some(from), clients[1].local_addr().unwrap().as_socket());
        clients[2].connect(&addr.into()).unwrap();
        let (_, from) = listener.accept().await.unwrap();
        assert_eq!(Some(from), clients[2].local_addr().unwrap().as_socket());
        clients[0].send(b"x").unwrap();
        assert_eq!(first.read_u8().await.unwrap(), b'x');
    });
}

#[test]
fn nothing_can_be_made_without_a_descriptor() {
    let _alone = one_at_a_time();
    on_both(|| async {
        let dir = TempDir::new();
        let listener = UnixListener::bind(dir.path("there")).unwrap();
        let waiting = std::os::unix::net::UnixStream::connect(dir.path("there")).unwrap();
        let exhausted = Exhausted::now();
        assert_exhausted(TcpListener::bind("127.0.0.1:0").await);
        assert_exhausted(TcpStream::connect("127.0.0.1:1").await);
        assert_exhausted(TcpSocket::new_v4());
        assert_exhausted(UdpSocket::bind("127.0.0.1:0").await);
        assert_exhausted(UnixStream::connect(dir.path("there")).await);
        assert_exhausted(UnixStream::pair());
        assert_exhausted(UnixListener::bind(dir.path("other")));
        assert_exhausted(heist::net::unix::pipe::pipe());
        assert_exhausted(listener.accept().await);
        assert_exhausted(listener.accept().await);
        drop(exhausted);
        listener.accept().await.unwrap();
        drop(waiting);
    });
}

#[test]
fn no_descriptor_is_kept() {
    let _alone = one_at_a_time();
    let rt = support::runtime(2);
    rt.block_on(async {
        let listener = TcpSocket::new_v4().unwrap();
        listener.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let full = listener.listen(0).unwrap();
        let hanging = full.local_addr().unwrap();
        let queued: Vec<_> = (0..8)
            .map(|_| {
                let client = client();
                client.set_nonblocking(true).unwrap();
                let _ = client.connect(&hanging.into());
                client
            })
            .collect();
        let before = open();
        for _ in 0..50 {
            let (mut client, mut server) = tcp_pair().await;
            client.write_all(b"x").await.unwrap();
            server.read_u8().await.unwrap();
            drop(server.into_split());
            client.into_std().unwrap();
            let refused = TcpStream::connect("127.0.0.1:1").await;
            assert!(refused.is_err());
            // Dropped while it waits.
            let connect = heist::spawn(TcpStream::connect(hanging));
            heist::task::yield_now().await;
            connect.abort();
            let _ = connect.await;
        }
        assert_eq!(open(), before);
        drop(queued);
    });
}
