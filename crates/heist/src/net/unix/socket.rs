//! `UnixSocket`.

use super::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use socket2::{Domain, Socket, Type};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::path::Path;

/// A Unix socket that is not connected yet, for listeners with a chosen backlog and for clients
/// with an address.
///
/// It becomes a [`UnixListener`], a [`UnixStream`] or a [`UnixDatagram`]. A path that begins with a
/// zero byte is an abstract name.
///
/// # Examples
///
/// ```
/// use heist::net::UnixSocket;
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let name = format!("\0heist-socket-{}", std::process::id());
///     let socket = UnixSocket::new_stream()?;
///     socket.bind(&name)?;
///     let listener = socket.listen(16)?;
///
///     let socket = UnixSocket::new_stream()?;
///     socket.bind(format!("{name}-client"))?;
///     socket.connect(&name).await?;
///     let (_, from) = listener.accept().await?;
///     assert!(from.as_abstract_name().unwrap().ends_with(b"-client"));
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct UnixSocket {
    inner: Socket,
}

impl UnixSocket {
    /// Creates a socket for datagrams.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no file descriptor left.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let socket = UnixSocket::new_datagram()?;
    /// socket.bind(dir.path().join("client"))?;
    /// let datagrams = socket.datagram()?;
    /// assert!(datagrams.local_addr()?.as_pathname().is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_datagram() -> io::Result<UnixSocket> {
        UnixSocket::new(Type::DGRAM)
    }

    /// Creates a socket for streams.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no file descriptor left.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("server");
    /// let socket = UnixSocket::new_stream()?;
    /// socket.bind(&path)?;
    /// let listener = socket.listen(16)?;
    /// let client = UnixSocket::new_stream()?.connect(&path).await?;
    /// assert_eq!(client.peer_addr()?.as_pathname(), Some(&*path));
    /// # drop(listener);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_stream() -> io::Result<UnixSocket> {
        UnixSocket::new(Type::STREAM)
    }

    fn new(kind: Type) -> io::Result<UnixSocket> {
        Ok(UnixSocket { inner: Socket::new(Domain::UNIX, kind.nonblocking(), None)? })
    }

    /// Binds the socket to a path.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("socket");
    /// use heist::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_stream()?;
    /// socket.bind(&path)?;
    /// let listener = socket.listen(16)?;
    /// let client = UnixSocket::new_stream()?.connect(&path).await?;
    /// let (server, _) = listener.accept().await?;
    /// assert_eq!(server.peer_cred()?.pid(), client.peer_cred()?.pid());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the path exists or is too long.
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.bind_to(&SocketAddr::from_path(path.as_ref())?)
    }

    pub(super) fn bind_to(&self, addr: &SocketAddr) -> io::Result<()> {
        Ok(rustix::net::bind(&self.inner, &addr.to_system()?)?)
    }

    /// Turns the socket into a listener. Up to `backlog` connections may wait to be accepted.
    ///
    /// The system's own limit may be lower.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("socket");
    /// use heist::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_stream()?;
    /// socket.bind(&path)?;
    /// let listener = socket.listen(16)?;
    /// let client = UnixSocket::new_stream()?.connect(&path).await?;
    /// let (server, _) = listener.accept().await?;
    /// assert_eq!(server.peer_cred()?.pid(), client.peer_cred()?.pid());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if this is a socket for datagrams, or if it is not bound.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        self.expect_kind(Type::STREAM, "UnixSocket::listen: a socket for datagrams cannot listen")?;
        self.listen_for("UnixSocket::listen", backlog)
    }

    #[track_caller]
    pub(super) fn listen_for(self, api: &str, backlog: u32) -> io::Result<UnixListener> {
        self.inner.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(UnixListener::new(api, self.inner.into()))
    }

    /// Connects the socket to the listener with the given path.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("socket");
    /// use heist::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_stream()?;
    /// socket.bind(&path)?;
    /// let listener = socket.listen(16)?;
    /// let client = UnixSocket::new_stream()?.connect(&path).await?;
    /// let (server, _) = listener.accept().await?;
    /// assert_eq!(server.peer_cred()?.pid(), client.peer_cred()?.pid());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if this is a socket for datagrams, or if there is no listener with this
    /// path. Returns `WouldBlock` if the listener's backlog is full.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    pub async fn connect(self, path: impl AsRef<Path>) -> io::Result<UnixStream> {
        const NOT_HERE: &str = "UnixSocket::connect: a socket for datagrams becomes no stream; call \
                                datagram, and connect that";
        self.expect_kind(Type::STREAM, NOT_HERE)?;
        self.connect_for("UnixSocket::connect", &SocketAddr::from_path(path.as_ref())?)
    }

    /// Never waits: the socket is connected once it is in the queue of the listener.
    pub(super) fn connect_for(self, api: &str, addr: &SocketAddr) -> io::Result<UnixStream> {
        rustix::net::connect(&self.inner, &addr.to_system()?)?;
        Ok(UnixStream::new(api, self.inner.into()))
    }

    /// Turns the socket into a [`UnixDatagram`].
    ///
    /// # Errors
    ///
    /// Returns an error if this is a socket for streams.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UnixSocket;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let datagram = UnixSocket::new_datagram()?.datagram()?;
    /// assert!(datagram.local_addr()?.is_unnamed());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    #[track_caller]
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        self.expect_kind(Type::DGRAM, "UnixSocket::datagram: it is a socket for streams")?;
        Ok(self.datagram_for("UnixSocket::datagram"))
    }

    #[track_caller]
    pub(super) fn datagram_for(self, api: &str) -> UnixDatagram {
        UnixDatagram::new(api, self.inner.into())
    }

    fn expect_kind(&self, kind: Type, otherwise: &'static str) -> io::Result<()> {
        if self.inner.r#type()? == kind { Ok(()) } else { Err(io::Error::other(otherwise)) }
    }
}

impl AsFd for UnixSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl AsRawFd for UnixSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl FromRawFd for UnixSocket {
    /// Takes ownership of a descriptor, which must be that of a non-blocking Unix socket.
    unsafe fn from_raw_fd(fd: RawFd) -> UnixSocket {
        // SAFETY: (FFI) the caller owns the descriptor, and gives it away.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        UnixSocket { inner: fd.into() }
    }
}

impl IntoRawFd for UnixSocket {
    fn into_raw_fd(self) -> RawFd {
        self.inner.into_raw_fd()
    }
}
