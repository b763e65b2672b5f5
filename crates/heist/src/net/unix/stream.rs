//! `UnixStream`.

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

/// A connection between two processes of this machine, or within one.
///
/// It is used like a [`TcpStream`](crate::net::TcpStream).
///
/// # Examples
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
    /// Connects to the listener with the given path. A path that begins with a zero byte is an
    /// abstract name.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no listener with this path. Returns `WouldBlock` if the
    /// listener's backlog is full.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
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
    /// # let path = dir.path().join("server");
    /// let listener = UnixListener::bind(&path)?;
    /// let mut client = UnixStream::connect(&path).await?;
    /// let (mut server, _) = listener.accept().await?;
    /// client.write_all(b"hello").await?;
    /// server.read_exact(&mut [0; 5]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect<P: AsRef<Path>>(path: P) -> io::Result<UnixStream> {
        let addr = SocketAddr::from_path(path.as_ref())?;
        UnixSocket::new_stream()?.connect_for("UnixStream::connect", &addr)
    }

    /// Connects to the listener with the given address; see [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// Returns an error like [`connect`](Self::connect).
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
    /// # let path = dir.path().join("server");
    /// // The second client connects to the address that the first one had.
    /// let listener = UnixListener::bind(&path)?;
    /// let first = UnixStream::connect(&path).await?;
    /// let second = UnixStream::connect_addr(&first.peer_addr()?).await?;
    /// assert_eq!(second.peer_addr()?.as_pathname(), Some(&*path));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect_addr(socket_addr: &SocketAddr) -> io::Result<UnixStream> {
        UnixSocket::new_stream()?.connect_for("UnixStream::connect_addr", socket_addr)
    }

    /// Creates two streams that are connected to each other.
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
    /// use heist::io::{AsyncReadExt, AsyncWriteExt};
    /// use heist::net::UnixStream;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (mut a, mut b) = UnixStream::pair()?;
    /// a.write_all(b"hello").await?;
    /// let mut buf = [0; 5];
    /// b.read_exact(&mut buf).await?;
    /// assert_eq!(&buf, b"hello");
    /// # Ok(())
    /// # }
    /// ```
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

    stream_methods!(
        "stream",
        r#"# let (stream, mut peer) = heist::net::UnixStream::pair()?;
# heist::io::AsyncWriteExt::write_all(&mut peer, b"ping").await?;"#
    );

    /// Returns the address of this end of the connection.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }

    /// Returns the address of the peer.
    ///
    /// # Errors
    ///
    /// Returns an error if the socket is not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr().map(SocketAddr)
    }

    /// Returns the credentials of the peer's process.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixStream;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (stream, _peer) = UnixStream::pair()?;
    /// let peer = stream.peer_cred()?;
    /// assert_eq!(peer.pid(), Some(std::process::id() as i32));
    /// # Ok(())
    /// # }
    /// ```
    pub fn peer_cred(&self) -> io::Result<UCred> {
        UCred::of_peer(&*self.io)
    }

    /// Returns and clears the socket's pending error (`SO_ERROR`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    std_methods!("UnixStream", net::UnixStream, source::BOTH);

    /// Splits the stream into a read half and a write half, both of which borrow it.
    ///
    /// This costs nothing. Use [`into_split`](Self::into_split) for halves that go to different
    /// tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::{AsyncReadExt, AsyncWriteExt};
    /// use heist::net::UnixStream;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (mut stream, mut peer) = UnixStream::pair()?;
    /// let (mut read, mut write) = stream.split();
    /// peer.write_all(b"ping").await?;
    /// let mut buf = [0; 4];
    /// heist::try_join!(read.read_exact(&mut buf), write.write_all(b"pong"))?;
    /// assert_eq!(&buf, b"ping");
    /// # Ok(())
    /// # }
    /// ```
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::split(self)
    }

    /// Splits the stream into a read half and a write half, which may go to different tasks.
    ///
    /// Dropping the write half shuts down that direction. The connection is closed when both halves
    /// have been dropped.
    ///
    /// # Examples
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
async_write!(UnixStream, poll_send, |stream| source::shut_down_write(stream));
std_traits!(UnixStream, net::UnixStream);

impl AsRef<UnixStream> for UnixStream {
    fn as_ref(&self) -> &UnixStream {
        self
    }
}
