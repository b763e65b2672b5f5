//! A connection between two processes of this machine.

use super::split::{self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use super::{SocketAddr, UCred, UnixSocket};
use crate::net::{receive, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use crate::tokio_parts::io::{AsyncRead, AsyncWrite, ReadBuf};
use bytes::BufMut;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, io};

/// A connection between two processes of this machine, or within one. In use it is as a
/// [`TcpStream`](crate::net::TcpStream).
///
/// ```
/// use heist::io::{AsyncReadExt, AsyncWriteExt};
/// use heist::net::UnixStream;
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let (mut one, mut other) = UnixStream::pair()?;
///     one.write_all(b"hello").await?;
///     drop(one);
///
///     let mut said = String::new();
///     other.read_to_string(&mut said).await?;
///     assert_eq!(said, "hello");
///     Ok(())
/// }
/// ```
pub struct UnixStream {
    pub(super) io: Evented<net::UnixStream>,
}

impl UnixStream {
    /// A connection to the listener with this path; or, if it begins with a zero, with the abstract
    /// name behind that.
    ///
    /// # Errors
    /// If nobody listens there; `WouldBlock`, if too many connections wait there already.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    pub async fn connect<P: AsRef<Path>>(path: P) -> io::Result<UnixStream> {
        let addr = SocketAddr::from_path(path.as_ref())?;
        UnixSocket::new_stream()?.connect_for("UnixStream::connect", &addr)
    }

    /// A connection to the listener with this address.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    pub async fn connect_addr(socket_addr: &SocketAddr) -> io::Result<UnixStream> {
        UnixSocket::new_stream()?.connect_for("UnixStream::connect_addr", socket_addr)
    }

    /// Two streams that are connected with each other.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = Socket::pair(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
        let api = "UnixStream::pair";
        Ok((UnixStream::new(api, one.into()), UnixStream::new(api, other.into())))
    }

    #[track_caller]
    pub(super) fn new(api: &str, stream: net::UnixStream) -> UnixStream {
        UnixStream { io: source::register(api, stream, source::BOTH, Ready::WRITABLE) }
    }

    pub(super) fn from_evented(io: Evented<net::UnixStream>) -> UnixStream {
        UnixStream { io }
    }

    ready_methods!();
    readable_methods!(poll_read_ready);
    writable_methods!(poll_write_ready);
    try_read_methods!();
    try_write_methods!();
    io_methods!();

    /// The address of this end.
    ///
    /// # Errors
    /// If the system has none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }

    /// The address of the other end.
    ///
    /// # Errors
    /// If it is not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr().map(SocketAddr)
    }

    /// Who is at the other end.
    ///
    /// # Errors
    /// Those of the system.
    pub fn peer_cred(&self) -> io::Result<UCred> {
        UCred::of_peer(&*self.io)
    }

    /// The error that came while nobody asked (`SO_ERROR`), and forgets it.
    ///
    /// # Errors
    /// Those of asking.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    std_methods!("UnixStream", net::UnixStream, source::BOTH);

    /// A half to read and a half to write, for one task. They cost nothing; for halves that two tasks
    /// can have see [`into_split`](Self::into_split).
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::split(self)
    }

    /// A half to read and a half to write, which may go to different tasks. Dropping the half that
    /// writes shuts the connection down in that direction; it is closed when both are dropped.
    ///
    /// ```
    /// use heist::io::{AsyncReadExt, AsyncWriteExt};
    /// # use heist::net::UnixStream;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// # let (stream, other) = UnixStream::pair()?;
    /// # heist::spawn(async move {
    /// #     let (mut read, mut write) = other.into_split();
    /// #     heist::io::copy(&mut read, &mut write).await
    /// # });
    /// let (mut read, mut write) = stream.into_split();
    /// heist::spawn(async move { write.write_all(b"question").await });
    ///
    /// let mut answer = String::new();
    /// read.read_to_string(&mut answer).await?;
    /// assert_eq!(answer, "question");
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split::into_split(self)
    }
}

async_read!(UnixStream, poll_recv_all);
async_write!(UnixStream, |stream| source::shut_down_write(stream));
std_traits!(UnixStream, net::UnixStream);

impl AsRef<UnixStream> for UnixStream {
    fn as_ref(&self) -> &UnixStream {
        self
    }
}
