//! A TCP socket that is not connected yet.

use super::{TcpListener, TcpStream, options};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::time::Duration;
use std::{fmt, io};

/// A TCP socket that becomes a [`TcpListener`] or a [`TcpStream`]: for options that have to be set
/// before.
///
/// ```
/// use heist::net::TcpSocket;
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let socket = TcpSocket::new_v4()?;
///     socket.set_reuseport(true)?;
///     socket.bind("127.0.0.1:0".parse().unwrap())?;
///     let listener = socket.listen(64)?;
///
///     let socket = TcpSocket::new_v4()?;
///     socket.set_nodelay(true)?;
///     let stream = socket.connect(listener.local_addr()?).await?;
///     assert!(stream.nodelay()?);
///     Ok(())
/// }
/// ```
pub struct TcpSocket {
    inner: Socket,
}

impl TcpSocket {
    /// A socket for IPv4.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn new_v4() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV4)
    }

    /// A socket for IPv6.
    ///
    /// # Errors
    /// If the process has no descriptor left, or the system has no IPv6.
    pub fn new_v6() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV6)
    }

    /// A socket for addresses like this.
    pub(super) fn for_addr(addr: &SocketAddr) -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::for_address(*addr))
    }

    fn new(domain: Domain) -> io::Result<TcpSocket> {
        let inner = Socket::new(domain, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        Ok(TcpSocket { inner })
    }

    /// Takes over a socket of the standard library, which need not be connected. It must be
    /// non-blocking.
    ///
    /// ```
    /// # use heist::net::TcpSocket;
    /// # fn socket_with_options() -> std::io::Result<std::net::TcpStream> {
    /// #     Ok(std::os::fd::OwnedFd::from(socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?).into())
    /// # }
    /// # fn main() -> std::io::Result<()> {
    /// // Made with another crate, perhaps.
    /// let socket: std::net::TcpStream = socket_with_options()?;
    /// socket.set_nonblocking(true)?;
    /// let socket = TcpSocket::from_std_stream(socket);
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_std_stream(std_stream: std::net::TcpStream) -> TcpSocket {
        TcpSocket { inner: std_stream.into() }
    }

    /// Gives it this address; with port 0, a port that the system chooses.
    ///
    /// # Errors
    /// If the address is in use, or not of this machine.
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.inner.bind(&addr.into())
    }

    /// Connects it. Dropping the future gives up.
    ///
    /// # Errors
    /// If there is no connection to be had.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    pub async fn connect(self, addr: SocketAddr) -> io::Result<TcpStream> {
        self.connect_for("TcpSocket::connect", addr).await
    }

    pub(super) async fn connect_for(self, api: &str, addr: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect_with(api, self.inner.into(), addr).await
    }

    /// Begins to listen. Up to `backlog` connections may wait to be accepted, if the system's own limit
    /// is not lower.
    ///
    /// # Errors
    /// If the address is in use.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.listen_for("TcpSocket::listen", backlog)
    }

    #[track_caller]
    pub(super) fn listen_for(self, api: &str, backlog: u32) -> io::Result<TcpListener> {
        self.inner.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(TcpListener::new(api, self.inner.into()))
    }

    /// The address it is bound to.
    ///
    /// # Errors
    /// If the system has none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let addr = self.inner.local_addr()?.as_socket();
        // Only a foreign descriptor, from `from_raw_fd`, can have another family.
        addr.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is no IP socket"))
    }

    /// The error that came while nobody asked (`SO_ERROR`), and forgets it.
    ///
    /// # Errors
    /// Those of asking.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.inner.take_error()
    }

    /// Whether the system asks an idle peer from time to time whether it is still there
    /// (`SO_KEEPALIVE`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn keepalive(&self) -> io::Result<bool> {
        self.inner.keepalive()
    }

    /// Sets [`keepalive`](Self::keepalive).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_keepalive(&self, keepalive: bool) -> io::Result<()> {
        self.inner.set_keepalive(keepalive)
    }

    /// Whether it may be bound to an address on which old connections are still being closed
    /// (`SO_REUSEADDR`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.inner.reuse_address()
    }

    /// Sets [`reuseaddr`](Self::reuseaddr).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_reuseaddr(&self, reuseaddr: bool) -> io::Result<()> {
        self.inner.set_reuse_address(reuseaddr)
    }

    /// Whether several sockets that all say so may have the same address; the system distributes
    /// connections among them (`SO_REUSEPORT`).
    ///
    /// # Errors
    /// Those of the system.
    pub fn reuseport(&self) -> io::Result<bool> {
        self.inner.reuse_port()
    }

    /// Sets [`reuseport`](Self::reuseport).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_reuseport(&self, reuseport: bool) -> io::Result<()> {
        self.inner.set_reuse_port(reuseport)
    }

    /// How many bytes may wait to be sent (`SO_SNDBUF`); the system counts what it needs for itself.
    ///
    /// # Errors
    /// Those of the system.
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        self.inner.send_buffer_size().map(|size| size as u32)
    }

    /// Sets [`send_buffer_size`](Self::send_buffer_size). The system may take another number: Linux
    /// doubles it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_send_buffer_size(&self, size: u32) -> io::Result<()> {
        self.inner.set_send_buffer_size(size as usize)
    }

    /// How many bytes may wait to be read (`SO_RCVBUF`); the system counts what it needs for itself.
    ///
    /// # Errors
    /// Those of the system.
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        self.inner.recv_buffer_size().map(|size| size as u32)
    }

    /// Sets [`recv_buffer_size`](Self::recv_buffer_size). The system may take another number: Linux
    /// doubles it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_recv_buffer_size(&self, size: u32) -> io::Result<()> {
        self.inner.set_recv_buffer_size(size as usize)
    }

    options::of_streams!();
    ip_options!();

    fn options(&self) -> &Socket {
        &self.inner
    }
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl FromRawFd for TcpSocket {
    /// The descriptor must be that of a non-blocking TCP socket, and nobody else's.
    unsafe fn from_raw_fd(fd: RawFd) -> TcpSocket {
        // SAFETY: (FFI) the caller owns the descriptor, and gives it away.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        TcpSocket { inner: fd.into() }
    }
}

impl IntoRawFd for TcpSocket {
    fn into_raw_fd(self) -> RawFd {
        self.inner.into_raw_fd()
    }
}
