//! `UnixDatagram`.

use super::{SocketAddr, UnixSocket};
use crate::net::{receive, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use crate::tokio_parts::io::ReadBuf;
use bytes::BufMut;
use rustix::net::RecvFlags;
use socket2::{Domain, Socket, Type};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll, ready};
use std::{fmt, io};

/// A Unix socket for datagrams, which arrive in order and are not lost: if the receiver's queue is
/// full, the sender waits.
///
/// # Examples
///
/// ```
/// use heist::net::UnixDatagram;
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let path = std::env::temp_dir().join(format!("heist-datagram-{}", std::process::id()));
///     let server = UnixDatagram::bind(&path)?;
///     let client = UnixDatagram::unbound()?;
///     client.send_to(b"hello", &path).await?;
///
///     let mut buf = [0; 64];
///     let (count, from) = server.recv_from(&mut buf).await?;
///     assert_eq!(&buf[..count], b"hello");
///     assert!(from.is_unnamed());
///     std::fs::remove_file(path)
/// }
/// ```
pub struct UnixDatagram {
    io: Evented<net::UnixDatagram>,
}

impl UnixDatagram {
    /// Creates a socket with a path. A path that begins with a zero byte is an abstract name.
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
    /// use heist::net::UnixDatagram;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("server");
    /// let server = UnixDatagram::bind(&path)?;
    /// UnixDatagram::unbound()?.send_to(b"log this", &path).await?;
    /// let mut buf = [0; 16];
    /// let count = server.recv(&mut buf).await?;
    /// assert_eq!(&buf[..count], b"log this");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        let socket = UnixSocket::new_datagram()?;
        socket.bind(path)?;
        Ok(socket.datagram_for("UnixDatagram::bind"))
    }

    /// Creates two sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no file descriptor left.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixDatagram;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let (one, other) = UnixDatagram::pair()?;
    /// one.send(b"hello").await?;
    /// let mut buf = [0; 8];
    /// assert_eq!(other.recv(&mut buf).await?, 5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = Socket::pair(Domain::UNIX, Type::DGRAM.nonblocking(), None)?;
        let api = "UnixDatagram::pair";
        Ok((UnixDatagram::new(api, one.into()), UnixDatagram::new(api, other.into())))
    }

    /// Creates a socket without an address. It can send, but receivers cannot answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no file descriptor left.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixDatagram;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = UnixDatagram::unbound()?;
    /// assert!(socket.local_addr()?.is_unnamed());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        Ok(UnixSocket::new_datagram()?.datagram_for("UnixDatagram::unbound"))
    }

    #[track_caller]
    pub(super) fn new(api: &str, socket: net::UnixDatagram) -> UnixDatagram {
        UnixDatagram { io: source::register(api, socket, source::BOTH, Ready::WRITABLE) }
    }

    std_methods!("UnixDatagram", net::UnixDatagram, source::BOTH);

    /// Connects the socket: [`send`](Self::send) sends to this path, and datagrams from elsewhere
    /// are not received.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no socket with this path.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixDatagram;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("server");
    /// let server = UnixDatagram::bind(&path)?;
    /// let client = UnixDatagram::unbound()?;
    /// client.connect(&path)?;
    /// client.send(b"ping").await?;
    /// assert_eq!(server.recv(&mut [0; 8]).await?, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.io.connect(path)
    }

    datagram_methods!(
        SocketAddr,
        Interest::READABLE,
        SocketAddr,
        SocketAddr::of_sender,
        "# let (socket, peer) = heist::net::UnixDatagram::pair()?;"
    );

    /// Sends a datagram to the socket with the given path. Returns its length.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: if the future is dropped before it completes, nothing was sent.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no socket with this path, or if the datagram is too long.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixDatagram;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("server");
    /// let server = UnixDatagram::bind(&path)?;
    /// let client = UnixDatagram::unbound()?;
    /// client.send_to(b"ping", &path).await?;
    /// let mut buf = [0; 16];
    /// let (count, from) = server.recv_from(&mut buf).await?;
    /// assert_eq!(&buf[..count], b"ping");
    /// assert!(from.is_unnamed()); // There is no address for an answer.
    /// # Ok(())
    /// # }
    /// ```
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.io.io(Interest::WRITABLE, |socket| socket.send_to(buf, target.as_ref())).await
    }

    /// Polls to send a datagram to the socket with the given path; see [`send_to`](Self::send_to).
    /// Only the most recent caller in this direction is woken.
    ///
    /// # Errors
    ///
    /// Returns an error like [`send_to`](Self::send_to).
    pub fn poll_send_to<P: AsRef<Path>>(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: P,
    ) -> Poll<io::Result<usize>> {
        self.io.poll_io(cx, Direction::Write, |socket| socket.send_to(buf, target.as_ref()))
    }

    /// Sends a datagram to the socket with the given path without waiting.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if the receiver's queue is full, and errors like
    /// [`send_to`](Self::send_to).
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.io.try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target.as_ref()))
    }

    /// Shuts down one or both directions.
    ///
    /// Sending then fails, also for a peer that is connected to a socket that no longer receives.
    /// Datagrams that have arrived can still be received. Only [`ready`](Self::ready) reports the
    /// end.
    ///
    /// # Errors
    ///
    /// Returns an error if the socket is not connected.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixDatagram;
    /// use std::net::Shutdown;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (a, b) = UnixDatagram::pair()?;
    /// a.shutdown(Shutdown::Read)?;
    /// assert!(b.send(b"ping").await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.shutdown(how)
    }
}

std_traits!(UnixDatagram, net::UnixDatagram);
