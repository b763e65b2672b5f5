//! `UnixListener`.

use super::{SocketAddr, UnixSocket, UnixStream};
use crate::net::{accept, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use libc::sa_family_t;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll, ready};
use std::{fmt, io};

/// Number of connections that may wait to be accepted: the system's maximum.
const BACKLOG: u32 = i32::MAX as u32;

/// A socket that accepts connections from processes of this machine.
///
/// Closing the listener does not remove its path from the file system.
///
/// [`accept`](Self::accept) can fail for the same reasons as that of a
/// [`TcpListener`](crate::net::TcpListener#errors-of-accept).
///
/// # Examples
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
pub struct UnixListener {
    io: Evented<net::UnixListener>,
}

impl UnixListener {
    /// Creates a listener with a path. A path that begins with a zero byte is an abstract name.
    ///
    /// # Errors
    ///
    /// Returns an error if the path exists or is too long.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::{UnixListener, UnixStream};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("server");
    /// let listener = UnixListener::bind(&path)?;
    /// let _client = UnixStream::connect(&path).await?;
    /// let (_server, from) = listener.accept().await?;
    /// assert!(from.is_unnamed());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        UnixListener::bind_for("UnixListener::bind", &SocketAddr::from_path(path.as_ref())?)
    }

    /// Creates a listener with an address; see [`bind`](Self::bind).
    ///
    /// # Errors
    ///
    /// Returns an error like [`bind`](Self::bind).
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::{UnixListener, UnixStream};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let bound = heist::net::UnixDatagram::bind(dir.path().join("server"))?;
    /// let address = bound.local_addr()?;
    /// # std::fs::remove_file(address.as_pathname().unwrap())?;
    /// let listener = UnixListener::bind_addr(&address)?;
    /// let _client = UnixStream::connect_addr(&address).await?;
    /// listener.accept().await?;
    /// # Ok(())
    /// # }
    /// ```
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

    /// Waits for a connection and accepts it. Returns the stream and the peer's address.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: if the future is dropped before it completes, no connection is
    /// lost.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no file descriptor left. The listener remains usable.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::{AsyncReadExt, AsyncWriteExt};
    /// use heist::net::{UnixListener, UnixStream};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("server");
    /// let listener = UnixListener::bind(&path)?;
    /// heist::spawn(async move { UnixStream::connect(path).await?.write_all(b"hello").await });
    /// let (mut stream, _) = listener.accept().await?;
    /// let mut text = String::new();
    /// stream.read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.accepted(self.io.io(Interest::READABLE, accept::accept).await?)
    }

    /// Polls for a connection; see [`accept`](Self::accept). Only the most recent caller is woken.
    ///
    /// # Errors
    ///
    /// Returns an error like [`accept`](Self::accept).
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let connection = ready!(self.io.poll_io(cx, Direction::Read, accept::accept))?;
        Poll::Ready(self.accepted(connection))
    }

    /// The stream is not registered yet: the task that first waits for it does that, with the
    /// reactor of its worker.
    fn accepted(&self, (fd, from): accept::Connection) -> io::Result<(UnixStream, SocketAddr)> {
        let stream = net::UnixStream::from(fd);
        // Hardly a client has a name. If one does, the standard library asks for it once more:
        // rustix panics where it has the full length.
        let is_named = from.is_some_and(|from| from.addr_len() as usize > size_of::<sa_family_t>());
        let from = match is_named.then(|| stream.peer_addr()) {
            Some(Ok(from)) => SocketAddr(from),
            _ => SocketAddr::unnamed()?,
        };
        let io = Evented::new(self.io.reactors().clone(), stream, source::BOTH);
        Ok((UnixStream::from_evented(io), from))
    }

    /// Returns the address on which the listener accepts connections.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }

    /// Returns and clears the socket's pending error (`SO_ERROR`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    std_methods!("UnixListener", net::UnixListener, Interest::READABLE);
}

std_traits!(UnixListener, net::UnixListener);
