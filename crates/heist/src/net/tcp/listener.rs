//! `TcpListener`.

use super::{TcpSocket, TcpStream};
use crate::net::addr::{self, ToSocketAddrs};
use crate::net::{accept, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll, ready};
use std::{fmt, future, io};

/// Number of connections that may wait to be accepted. The system has a limit of its own.
const BACKLOG: u32 = 1024;

/// A socket that accepts TCP connections.
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
///     let addr = listener.local_addr()?;
///     heist::spawn(async move {
///         loop {
///             let (mut stream, _) = listener.accept().await.unwrap();
///             heist::spawn(async move { stream.write_all(b"hello").await });
///         }
///     });
///
///     let mut said = String::new();
///     TcpStream::connect(addr).await?.read_to_string(&mut said).await?;
///     assert_eq!(said, "hello");
///     Ok(())
/// }
/// ```
///
/// # Errors of `accept`
///
/// [`accept`](Self::accept) fails if the process or the system has no file descriptor left
/// (`EMFILE`, `ENFILE`), or if a connection broke before it was accepted. The listener remains
/// usable. A connection for which there was no descriptor keeps waiting, so the next call fails at
/// once until a descriptor is closed. A server should therefore neither end on such an error nor
/// retry at once, but sleep briefly and continue.
pub struct TcpListener {
    io: Evented<std::net::TcpListener>,
}

impl TcpListener {
    /// Creates a listener on an address. Port 0 lets the system choose a port.
    ///
    /// If there are several addresses, they are tried in order. The listener has `SO_REUSEADDR`
    /// set, and 1024 connections may wait to be accepted; use [`TcpSocket`] for other settings.
    ///
    /// # Errors
    ///
    /// Returns the last error if none of the addresses can be bound.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::TcpListener;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        addr::first_success(addr::resolve(addr), |addr| future::ready(Self::bind_to(addr))).await
    }

    fn bind_to(addr: SocketAddr) -> io::Result<TcpListener> {
        let socket = TcpSocket::for_addr(&addr)?;
        socket.set_reuseaddr(true)?;
        socket.bind(addr)?;
        socket.listen_for("TcpListener::bind", BACKLOG)
    }

    #[track_caller]
    pub(super) fn new(api: &str, listener: std::net::TcpListener) -> TcpListener {
        TcpListener { io: source::register(api, listener, Interest::READABLE, Ready::READABLE) }
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
    /// Returns an error if the process has no file descriptor left, or if the connection broke. The
    /// listener remains usable; see [above](TcpListener#errors-of-accept).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::{TcpListener, TcpStream};
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (_stream, from) = listener.accept().await?;
    /// assert_eq!(from, client.local_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.accepted(self.io.io(Interest::READABLE, accept::accept).await?)
    }

    /// Polls for a connection; see [`accept`](Self::accept). Only the most recent caller is woken.
    ///
    /// # Errors
    ///
    /// Returns an error like [`accept`](Self::accept).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::{TcpListener, TcpStream};
    /// use std::future::poll_fn;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (_stream, from) = poll_fn(|cx| listener.poll_accept(cx)).await?;
    /// assert_eq!(from, client.local_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let connection = ready!(self.io.poll_io(cx, Direction::Read, accept::accept))?;
        Poll::Ready(self.accepted(connection))
    }

    /// The stream is not registered yet: the task that first waits for it does that, with the
    /// reactor of its worker.
    fn accepted(&self, (fd, from): accept::Connection) -> io::Result<(TcpStream, SocketAddr)> {
        // TCP connections always have an address.
        let from = from.ok_or(io::ErrorKind::AddrNotAvailable)?.try_into()?;
        let io = Evented::new(self.io.reactors().clone(), fd.into(), source::BOTH);
        Ok((TcpStream::from_evented(io), from))
    }

    /// Returns the address on which the listener accepts connections.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
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

    std_methods!("TcpListener", std::net::TcpListener, Interest::READABLE);
}

std_traits!(TcpListener, std::net::TcpListener);
