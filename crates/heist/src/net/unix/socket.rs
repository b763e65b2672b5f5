//! A Unix socket that is not connected yet.

use super::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use socket2::{Domain, Socket, Type};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::path::Path;

/// A Unix socket that becomes a [`UnixListener`], a [`UnixStream`] or a [`UnixDatagram`]: for
/// listeners with a backlog of one's own, and for clients that have an address.
///
/// A path that begins with a zero stands for the abstract name behind that.
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
    /// A socket for datagrams.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn new_datagram() -> io::Result<UnixSocket> {
        UnixSocket::new(Type::DGRAM)
    }

    /// A socket for streams.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn new_stream() -> io::Result<UnixSocket> {
        UnixSocket::new(Type::STREAM)
    }

    fn new(kind: Type) -> io::Result<UnixSocket> {
        Ok(UnixSocket { inner: Socket::new(Domain::UNIX, kind.nonblocking(), None)? })
    }

    /// Gives it this path.
    ///
    /// # Errors
    /// If there is something with this path, or it is too long.
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.bind_to(&SocketAddr::from_path(path.as_ref())?)
    }

    pub(super) fn bind_to(&self, addr: &SocketAddr) -> io::Result<()> {
        Ok(rustix::net::bind(&self.inner, &addr.to_system()?)?)
    }

    /// Begins to listen. Up to `backlog` connections may wait to be accepted, if the system's own limit
    /// is not lower.
    ///
    /// # Errors
    /// If it is a socket for datagrams, or not bound.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
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

    /// Connects it to the listener with this path.
    ///
    /// # Errors
    /// If it is a socket for datagrams, or nobody listens there; `WouldBlock`, if too many connections
    /// wait there already.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    pub async fn connect(self, path: impl AsRef<Path>) -> io::Result<UnixStream> {
        const NOT_HERE: &str = "UnixSocket::connect: a socket for datagrams becomes no stream; call \
                                datagram, and connect that";
        self.expect_kind(Type::STREAM, NOT_HERE)?;
        self.connect_for("UnixSocket::connect", &SocketAddr::from_path(path.as_ref())?)
    }

    /// There is nothing to wait for: it is connected once it is in the queue of the listener.
    pub(super) fn connect_for(self, api: &str, addr: &SocketAddr) -> io::Result<UnixStream> {
        rustix::net::connect(&self.inner, &addr.to_system()?)?;
        Ok(UnixStream::new(api, self.inner.into()))
    }

    /// Makes a socket for datagrams of it.
    ///
    /// # Errors
    /// If it is a socket for streams.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
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
    /// The descriptor must be that of a non-blocking Unix socket, and nobody else's.
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
