//! A TCP connection.

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

/// A TCP connection, made by [`connect`](Self::connect) or taken from a
/// [`TcpListener`](super::TcpListener).
///
/// It is read and written with the methods of
/// [`AsyncReadExt`](crate::io::AsyncReadExt) and [`AsyncWriteExt`](crate::io::AsyncWriteExt).
/// Shutting it down ends the direction away from us: the other end reads an end, and may go on
/// sending. Dropping it closes both.
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
/// Several tasks may use one stream through references: [`readable`](Self::readable) and
/// [`writable`](Self::writable) wait, [`try_read`](Self::try_read) and
/// [`try_write`](Self::try_write) do it.
///
/// ```
/// # use heist::net::{TcpListener, TcpStream};
/// use std::io::ErrorKind;
///
/// async fn read_some(stream: &TcpStream, buf: &mut [u8]) -> std::io::Result<usize> {
///     loop {
///         stream.readable().await?;
///         match stream.try_read(buf) {
///             // It was not ready after all.
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
    /// A connection to this address. If there are several addresses, they are tried one after the
    /// other. Dropping the future gives up.
    ///
    /// # Errors
    /// The last one, if none of the addresses can be reached.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    pub async fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        addr::first_success(addr::resolve(addr), |addr| async move {
            TcpSocket::for_addr(&addr)?.connect_for("TcpStream::connect", addr).await
        })
        .await
    }

    /// Connects a socket that does not block.
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

    ready_methods!();
    readable_methods!(poll_read_ready);
    writable_methods!(poll_write_ready);
    try_read_methods!();
    try_write_methods!();
    io_methods!();

    /// Waits for data, and copies as much as fits into `buf` without taking it: the next read gets it
    /// again. `Ok(0)` is the end, or an empty buffer.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.io(Interest::READABLE, |socket| socket.peek(buf)).await
    }

    /// The same for code without `async`. The task of the last call in this direction is the one that
    /// is woken. What is copied is part of `buf` then.
    ///
    /// # Errors
    /// Those of the connection.
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let peek = |socket: &_| receive::recv(socket, buf, RecvFlags::PEEK);
        self.io.poll_io(cx, Direction::Read, peek)
    }

    /// The address of this end.
    ///
    /// # Errors
    /// If the system has none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The address of the other end.
    ///
    /// # Errors
    /// If it is not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// The error that came while nobody asked (`SO_ERROR`), and forgets it.
    ///
    /// # Errors
    /// Those of asking.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    options::of_streams!();

    /// Whether data is acknowledged at once (`TCP_QUICKACK`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn quickack(&self) -> io::Result<bool> {
        self.options().tcp_quickack()
    }

    /// Sets [`quickack`](Self::quickack). The system may take it back at any time.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        self.options().set_tcp_quickack(quickack)
    }

    /// How many routers a packet may pass (`IP_TTL`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets [`ttl`](Self::ttl).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    fn options(&self) -> socket2::SockRef<'_> {
        socket2::SockRef::from(&*self.io)
    }

    std_methods!("TcpStream", std::net::TcpStream, source::BOTH);

    /// A half to read and a half to write, for one task. They cost nothing; for halves that two tasks can have
    /// see [`into_split`](Self::into_split).
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::split(self)
    }

    /// A half to read and a half to write, which may go to different tasks. Dropping the half that
    /// writes shuts the connection down in that direction; it is closed when both are dropped.
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

/// Begins to connect, or asks what has come of it: the same system call does both. `WouldBlock` means
/// that it is not decided yet. Every other error is a result, so that `EAGAIN` of the system, which does
/// not mean that, is not taken for it.
fn try_connect(socket: &std::net::TcpStream, addr: &SocketAddr) -> io::Result<io::Result<()>> {
    match rustix::net::connect(socket, addr) {
        Ok(()) | Err(Errno::ISCONN) => Ok(Ok(())),
        Err(Errno::INPROGRESS | Errno::ALREADY) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Ok(Err(error.into())),
    }
}

async_read!(TcpStream, poll_recv);
async_write!(TcpStream, |stream| source::shut_down_write(stream));
std_traits!(TcpStream, std::net::TcpStream);

impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}
