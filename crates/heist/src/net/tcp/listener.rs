//! Where TCP connections come in.

use super::{TcpSocket, TcpStream};
use crate::net::addr::{self, ToSocketAddrs};
use crate::net::{accept, ip_addr, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll, ready};
use std::{fmt, future, io};

/// How many connections may wait to be accepted. The system has a limit of its own.
const BACKLOG: u32 = 1024;

/// A socket that takes TCP connections.
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
/// # Servers that go on
///
/// `accept` fails if the process or the system has no descriptor left (`EMFILE`, `ENFILE`), and if a
/// connection broke before it was taken. The listener stays as it is: the connection that there was
/// no descriptor for waits on, so the next call fails at once, too, until something is closed. A
/// server therefore does not end with such an error, and does not try again at once, but
/// sleeps a moment first.
pub struct TcpListener {
    io: Evented<std::net::TcpListener>,
}

impl TcpListener {
    /// A listener on this address; with port 0, on a port that the system chooses. If there are
    /// several addresses, they are tried one after the other.
    ///
    /// The address can be used again at once when a listener is gone (`SO_REUSEADDR`), and 1024
    /// connections may wait. [`TcpSocket`] leaves the choice.
    ///
    /// # Errors
    /// The last one, if none of the addresses can be had.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
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

    /// Waits for a connection. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// If the process has no descriptor left, or the connection broke: see [above](TcpListener).
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.accepted(self.io.io(Interest::READABLE, accept::accept).await?)
    }

    /// The same for code without `async`. The task of the last call is the one that is woken.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let connection = ready!(self.io.poll_io(cx, Direction::Read, accept::accept))?;
        Poll::Ready(self.accepted(connection))
    }

    /// The stream is registered nowhere yet: that is done by the task that first waits for it, in the
    /// reactor of its worker.
    fn accepted(&self, (fd, from): accept::Connection) -> io::Result<(TcpStream, SocketAddr)> {
        let from = ip_addr::sender(from)?;
        let io = Evented::new(self.io.reactors().clone(), fd.into(), source::BOTH);
        Ok((TcpStream::from_evented(io), from))
    }

    /// The address it listens on.
    ///
    /// # Errors
    /// If the system has none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
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

    std_methods!("TcpListener", std::net::TcpListener, Interest::READABLE);
}

std_traits!(TcpListener, std::net::TcpListener);
