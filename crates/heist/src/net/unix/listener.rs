//! Where Unix connections come in.

use super::{SocketAddr, UnixSocket, UnixStream};
use crate::net::{accept, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll, ready};
use std::{fmt, io};

/// How many connections may wait to be accepted: as many as the system lets.
const BACKLOG: u32 = i32::MAX as u32;

/// A socket that takes connections of this machine.
///
/// The path exists in the file system for as long as nobody removes it, which closing the listener
/// does not do.
///
/// ```
/// use heist::io::{AsyncReadExt, AsyncWriteExt};
/// use heist::net::{UnixListener, UnixStream};
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let path = std::env::temp_dir().join(format!("heist-listener-{}", std::process::id()));
///     let listener = UnixListener::bind(&path)?;
///     heist::spawn(async move {
///         let (mut stream, _) = listener.accept().await.unwrap();
///         stream.write_all(b"hello").await
///     });
///
///     let mut said = String::new();
///     UnixStream::connect(&path).await?.read_to_string(&mut said).await?;
///     assert_eq!(said, "hello");
///     std::fs::remove_file(path)
/// }
/// ```
///
/// What [`TcpListener`](crate::net::TcpListener) says of errors of `accept` holds here too.
pub struct UnixListener {
    io: Evented<net::UnixListener>,
}

impl UnixListener {
    /// A listener with this path; or, if it begins with a zero, with the abstract name behind that.
    ///
    /// # Errors
    /// If there is something with this path, or it is too long.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        UnixListener::bind_for("UnixListener::bind", &SocketAddr::from_path(path.as_ref())?)
    }

    /// A listener with this address.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    #[track_caller]
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
        UnixListener::bind_for("UnixListener::bind_addr", socket_addr)
    }

    #[track_caller]
    fn bind_for(api: &str, addr: &SocketAddr) -> io::Result<UnixListener> {
        let socket = UnixSocket::new_stream()?;
        socket.bind_to(addr)?;
        socket.listen_for(api, BACKLOG)
    }

    #[track_caller]
    pub(super) fn new(api: &str, listener: net::UnixListener) -> UnixListener {
        UnixListener { io: source::register(api, listener, Interest::READABLE, Ready::READABLE) }
    }

    /// Waits for a connection. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// If the process has no descriptor left: see [above](UnixListener).
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.accepted(self.io.io(Interest::READABLE, accept::accept).await?)
    }

    /// The same for code without `async`. The task of the last call is the one that is woken.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let connection = ready!(self.io.poll_io(cx, Direction::Read, accept::accept))?;
        Poll::Ready(self.accepted(connection))
    }

    /// The stream is registered nowhere yet: that is done by the task that first waits for it, in the
    /// reactor of its worker.
    fn accepted(&self, (fd, from): accept::Connection) -> io::Result<(UnixStream, SocketAddr)> {
        let from = SocketAddr::from_system(from)?;
        let io = Evented::new(self.io.reactors().clone(), fd.into(), source::BOTH);
        Ok((UnixStream::from_evented(io), from))
    }

    /// The address it listens on.
    ///
    /// # Errors
    /// If the system has none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }

    /// The error that came while nobody asked (`SO_ERROR`), and forgets it.
    ///
    /// # Errors
    /// Those of asking.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    std_methods!("UnixListener", net::UnixListener, Interest::READABLE);
}

std_traits!(UnixListener, net::UnixListener);
