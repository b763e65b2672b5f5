//! `TcpSocket`.

use super::{TcpListener, TcpStream, options};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::time::Duration;
use std::{fmt, io};

/// A TCP socket that is not connected yet, for options that must be set before.
///
/// It becomes a [`TcpListener`] or a [`TcpStream`].
///
/// # Examples
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
    /// Creates an IPv4 socket.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no file descriptor left.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// assert!(socket.local_addr()?.is_ipv4());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new_v4() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV4)
    }

    /// Creates an IPv6 socket.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no file descriptor left, or if the system has no IPv6.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::TcpSocket;
    ///
    /// if let Ok(socket) = TcpSocket::new_v6() {
    ///     // Fails on a machine where IPv6 is disabled.
    ///     let _ = socket.bind("[::1]:0".parse().unwrap());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new_v6() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV6)
    }

    /// Creates a socket for addresses of this kind.
    pub(super) fn for_addr(addr: &SocketAddr) -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::for_address(*addr))
    }

    fn new(domain: Domain) -> io::Result<TcpSocket> {
        let inner = Socket::new(domain, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        Ok(TcpSocket { inner })
    }

    /// Converts a socket of the standard library, which need not be connected but must be
    /// non-blocking.
    ///
    /// # Examples
    ///
    /// ```
    /// # use heist::net::TcpSocket;
    /// # fn socket_with_options() -> std::io::Result<std::net::TcpStream> {
    /// #     use socket2::{Domain, Socket, Type};
    /// #     Ok(Socket::new(Domain::IPV4, Type::STREAM, None)?.into())
    /// # }
    /// // Perhaps made with another crate.
    /// let socket: std::net::TcpStream = socket_with_options()?;
    /// socket.set_nonblocking(true)?;
    /// let socket = TcpSocket::from_std_stream(socket);
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// assert_ne!(socket.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn from_std_stream(std_stream: std::net::TcpStream) -> TcpSocket {
        TcpSocket { inner: std_stream.into() }
    }

    /// Binds the socket to an address. Port 0 lets the system choose a port.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// use heist::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_reuseaddr(true)?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// assert!(socket.local_addr()?.port() > 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the address is in use, or does not belong to this machine.
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.inner.bind(&addr.into())
    }

    /// Connects the socket to an address.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the socket.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection cannot be established.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::{TcpListener, TcpSocket};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_nodelay(true)?;
    /// let stream = socket.connect(listener.local_addr()?).await?;
    /// assert!(stream.nodelay()?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(self, addr: SocketAddr) -> io::Result<TcpStream> {
        self.connect_for("TcpSocket::connect", addr).await
    }

    pub(super) async fn connect_for(self, api: &str, addr: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect_with(api, self.inner.into(), addr).await
    }

    /// Turns the socket into a listener. Up to `backlog` connections may wait to be accepted.
    ///
    /// The system's own limit may be lower.
    ///
    /// # Errors
    ///
    /// Returns an error if the address is in use.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::TcpSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_reuseaddr(true)?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// let listener = socket.listen(1024)?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.listen_for("TcpSocket::listen", backlog)
    }

    #[track_caller]
    pub(super) fn listen_for(self, api: &str, backlog: u32) -> io::Result<TcpListener> {
        self.inner.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(TcpListener::new(api, self.inner.into()))
    }

    /// Returns the address to which the socket is bound.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let addr = self.inner.local_addr()?.as_socket();
        // Only a foreign descriptor, from `from_raw_fd`, can have another family.
        addr.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not an IP socket"))
    }

    /// Returns and clears the socket's pending error (`SO_ERROR`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.inner.take_error()
    }

    /// Returns whether the system checks from time to time that an idle peer is still there
    /// (`SO_KEEPALIVE`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn keepalive(&self) -> io::Result<bool> {
        self.inner.keepalive()
    }

    /// Sets whether the system checks that an idle peer is still there; see
    /// [`keepalive`](Self::keepalive).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_keepalive(true)?;
    /// assert!(socket.keepalive()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_keepalive(&self, keepalive: bool) -> io::Result<()> {
        self.inner.set_keepalive(keepalive)
    }

    /// Returns whether the socket may be bound to an address on which old connections are still
    /// being closed (`SO_REUSEADDR`).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.inner.reuse_address()
    }

    /// Sets whether the address may be reused early; see [`reuseaddr`](Self::reuseaddr).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::TcpSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_reuseaddr(true)?; // A server that restarts gets its port again.
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// let listener = socket.listen(1024)?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_reuseaddr(&self, reuseaddr: bool) -> io::Result<()> {
        self.inner.set_reuse_address(reuseaddr)
    }

    /// Returns whether the socket may share its address with other sockets that allow it
    /// (`SO_REUSEPORT`).
    ///
    /// The system distributes connections among them.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn reuseport(&self) -> io::Result<bool> {
        self.inner.reuse_port()
    }

    /// Sets whether the socket may share its address; see [`reuseport`](Self::reuseport).
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::TcpSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let bind = |address| {
    ///     let socket = TcpSocket::new_v4()?;
    ///     socket.set_reuseport(true)?;
    ///     socket.bind(address)?;
    ///     socket.listen(1024)
    /// };
    /// let one = bind("127.0.0.1:0".parse().unwrap())?;
    /// let other = bind(one.local_addr()?)?;
    /// assert_eq!(one.local_addr()?, other.local_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_reuseport(&self, reuseport: bool) -> io::Result<()> {
        self.inner.set_reuse_port(reuseport)
    }

    /// Returns the size of the send buffer in bytes (`SO_SNDBUF`), including the system's own
    /// overhead.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        self.inner.send_buffer_size().map(|size| size as u32)
    }

    /// Sets the size of the send buffer in bytes. The system may adjust it: Linux doubles it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_send_buffer_size(64 << 10)?;
    /// assert!(socket.send_buffer_size()? >= 64 << 10); // Linux doubles it.
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_send_buffer_size(&self, size: u32) -> io::Result<()> {
        self.inner.set_send_buffer_size(size as usize)
    }

    /// Returns the size of the receive buffer in bytes (`SO_RCVBUF`), including the system's own
    /// overhead.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        self.inner.recv_buffer_size().map(|size| size as u32)
    }

    /// Sets the size of the receive buffer in bytes. The system may adjust it: Linux doubles it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system call fails.
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
    /// Takes ownership of a descriptor, which must be that of a non-blocking TCP socket.
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
