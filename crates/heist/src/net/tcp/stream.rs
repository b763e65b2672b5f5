//! `TcpStream`.

use super::split::{self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use super::{TcpSocket, options};
use crate::net::addr::{self, ToSocketAddrs};
use crate::net::{receive, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use crate::tokio_parts::io::{AsyncRead, AsyncWrite, ReadBuf};
use bytes::BufMut;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

/// A TCP connection, made by [`connect`](Self::connect) or accepted by a
/// [`TcpListener`](super::TcpListener).
///
/// Read and write it with the methods of [`AsyncReadExt`](crate::io::AsyncReadExt) and
/// [`AsyncWriteExt`](crate::io::AsyncWriteExt). `shutdown` ends the direction towards the peer,
/// which then reads the end of the stream and may still send. Dropping the stream closes both
/// directions.
///
/// # Examples
///
/// ```
/// use heist::io::{AsyncReadExt, AsyncWriteExt};
/// use heist::net::{TcpListener, TcpStream};
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let listener = TcpListener::bind("127.0.0.1:0").await?;
///     let mut client = TcpStream::connect(listener.local_addr()?).await?;
///     let (mut server, from) = listener.accept().await?;
///     assert_eq!(from, client.local_addr()?);
///
///     client.write_all(b"shout").await?;
///     client.shutdown().await?;
///     let mut heard = String::new();
///     server.read_to_string(&mut heard).await?;
///     server.write_all(heard.to_uppercase().as_bytes()).await?;
///     drop(server);
///
///     let mut echo = String::new();
///     client.read_to_string(&mut echo).await?;
///     assert_eq!(echo, "SHOUT");
///     Ok(())
/// }
/// ```
///
/// Several tasks can use a stream through shared references: [`readable`](Self::readable) and
/// [`writable`](Self::writable) wait, [`try_read`](Self::try_read) and
/// [`try_write`](Self::try_write) transfer data.
///
/// ```
/// # use heist::net::{TcpListener, TcpStream};
/// use std::io::ErrorKind;
///
/// async fn read_some(stream: &TcpStream, buf: &mut [u8]) -> std::io::Result<usize> {
///     loop {
///         stream.readable().await?;
///         match stream.try_read(buf) {
///             // A false alarm: wait again.
///             Err(error) if error.kind() == ErrorKind::WouldBlock => {}
///             result => return result,
///         }
///     }
/// }
/// # #[heist::main]
/// # async fn main() -> std::io::Result<()> {
/// #     let listener = TcpListener::bind("127.0.0.1:0").await?;
/// #     let client = TcpStream::connect(listener.local_addr()?).await?;
/// #     assert_eq!(client.try_write(b"hi")?, 2);
/// #     let (server, _) = listener.accept().await?;
/// #     assert_eq!(read_some(&server, &mut [0; 8]).await?, 2);
/// #     Ok(())
/// # }
/// ```
pub struct TcpStream {
    pub(super) io: Evented<std::net::TcpStream>,
}

impl TcpStream {
    /// Connects to an address. If there are several addresses, they are tried in order.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the connection.
    ///
    /// # Errors
    ///
    /// Returns the last error if none of the addresses can be reached.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::{TcpListener, TcpStream};
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    pub async fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        addr::first_success(addr::resolve(addr), |addr| async move {
            TcpSocket::for_addr(&addr)?.connect_for("TcpStream::connect", addr).await
        })
        .await
    }

    /// Connects a non-blocking socket.
    pub(super) async fn connect_with(
        api: &str,
        socket: std::net::TcpStream,
        addr: SocketAddr,
    ) -> io::Result<TcpStream> {
        let io = source::register(api, socket, source::BOTH, Ready::WRITABLE);
        poll_fn(|cx| io.poll_io(cx, Direction::Write, |socket| try_connect(socket, &addr)))
            .await??;
        Ok(TcpStream { io })
    }

    pub(super) fn from_evented(io: Evented<std::net::TcpStream>) -> TcpStream {
        TcpStream { io }
    }

    stream_methods!(
        "stream",
        r#"# let listener = heist::net::TcpListener::bind("127.0.0.1:0").await?;
# let mut peer = heist::net::TcpStream::connect(listener.local_addr()?).await?;
# let (stream, _) = listener.accept().await?;
# heist::io::AsyncWriteExt::write_all(&mut peer, b"ping").await?;"#
    );

    /// Waits for data and copies it into `buf` without removing it: the next read returns it again.
    ///
    /// Returns the number of bytes, which is 0 at the end of the stream or for an empty buffer.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection is broken.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::{AsyncReadExt, AsyncWriteExt};
    /// use heist::net::{TcpListener, TcpStream};
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let mut client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (mut server, _) = listener.accept().await?;
    /// client.write_all(b"x").await?;
    /// let (mut peeked, mut read) = ([0; 1], [0; 1]);
    /// server.peek(&mut peeked).await?;
    /// server.read_exact(&mut read).await?;
    /// assert_eq!((peeked, read), (*b"x", *b"x"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.io(Interest::READABLE, |socket| socket.peek(buf)).await
    }

    /// Polls for data and appends it to `buf` without removing it from the stream; see
    /// [`peek`](Self::peek). Only the most recent caller in this direction is woken.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection is broken.
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let peek = |socket: &_| receive::recv(socket, buf, RecvFlags::PEEK);
        self.io.poll_io(cx, Direction::Read, peek)
    }

    /// Returns the address of this end of the connection.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Returns the address of the peer.
    ///
    /// # Errors
    ///
    /// Returns an error if the socket is not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// Returns and clears the socket's pending error (`SO_ERROR`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    options::of_streams!();

    /// Returns whether data is acknowledged at once (`TCP_QUICKACK`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn quickack(&self) -> io::Result<bool> {
        self.options().tcp_quickack()
    }

    /// Sets whether data is acknowledged at once. The system may reset this at any time.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        self.options().set_tcp_quickack(quickack)
    }

    /// Returns the time-to-live of outgoing packets: the number of routers they may pass
    /// (`IP_TTL`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets the time-to-live of outgoing packets; see [`ttl`](Self::ttl).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    fn options(&self) -> socket2::SockRef<'_> {
        socket2::SockRef::from(&*self.io)
    }

    std_methods!("TcpStream", std::net::TcpStream, source::BOTH);

    /// Splits the stream into a read half and a write half, both of which borrow it.
    ///
    /// This costs nothing. Use [`into_split`](Self::into_split) for halves that go to different
    /// tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::{AsyncReadExt, AsyncWriteExt};
    /// use heist::net::{TcpListener, TcpStream};
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let mut client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (mut server, _) = listener.accept().await?;
    /// heist::spawn(async move {
    ///     let (mut read, mut write) = server.split();
    ///     heist::io::copy(&mut read, &mut write).await
    /// });
    ///
    /// let (mut read, mut write) = client.split();
    /// let mut answer = [0; 4];
    /// let (written, read) = heist::join!(write.write_all(b"echo"), read.read_exact(&mut answer));
    /// written.and(read)?;
    /// assert_eq!(&answer, b"echo");
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
    /// # use heist::net::{TcpListener, TcpStream};
    /// use heist::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (server, _) = listener.accept().await?;
    /// # heist::spawn(async move {
    /// #     let (mut read, mut write) = server.into_split();
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

/// Starts to connect, or checks the result: the same system call does both. `WouldBlock` means that
/// the connection is not established yet. All other errors are results, so that `EAGAIN` of the
/// system, which means something else, is not mistaken for it.
fn try_connect(socket: &std::net::TcpStream, addr: &SocketAddr) -> io::Result<io::Result<()>> {
    match rustix::net::connect(socket, addr) {
        Ok(()) | Err(Errno::ISCONN) => Ok(Ok(())),
        Err(Errno::INPROGRESS | Errno::ALREADY) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Ok(Err(error.into())),
    }
}

async_read!(TcpStream, poll_recv);
async_write!(TcpStream, poll_send, |stream| source::shut_down_write(stream));
std_traits!(TcpStream, std::net::TcpStream);

impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}
