//! Sockets for tests, and both kinds of runtimes to test them on.

use heist::net::{TcpListener, TcpStream};
use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Runs a test in a task of a runtime with two workers, and once more on one without threads.
#[track_caller]
pub fn on_both<F>(test: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let rt = super::runtime(2);
    if let Err(error) = rt.block_on(rt.spawn(test())) {
        std::panic::resume_unwind(error.into_panic());
    }
    super::current_thread().block_on(test());
}

/// Two ends of a connection: the one that connected, and the one that was accepted.
pub async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    (client, server)
}

/// An accepted stream, and the other end as a socket of the standard library, which blocks.
pub async fn with_std_peer() -> (TcpStream, std::net::TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (listener.accept().await.unwrap().0, peer)
}

/// Closes the connection by a reset: the other end gets an error.
pub fn reset(socket: std::net::TcpStream) {
    socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
}

/// Polls once.
pub async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

/// A directory that is removed with all that is in it.
pub struct TempDir(PathBuf);

impl TempDir {
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("heist-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        TempDir(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A path with all the 108 bytes that there are for one, so that none is left for the zero
    /// behind it. The standard library cannot bind it, but other programs do.
    pub fn longest_path(&self) -> PathBuf {
        let room = 108 - self.path("").as_os_str().len();
        self.path(&"x".repeat(room))
    }
}

impl AsRef<Path> for TempDir {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
