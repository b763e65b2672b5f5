//! Datagrams between processes of this machine.

use super::{SocketAddr, UnixSocket};
use crate::net::{receive, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use crate::tokio_parts::io::ReadBuf;
use bytes::BufMut;
use rustix::net::RecvFlags;
use socket2::{Domain, Socket, Type};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll, ready};
use std::{fmt, io};

/// A Unix socket for datagrams. They arrive in order, and none is lost: where there is no room, the
/// sender waits.
///
/// ```
/// use heist::net::UnixDatagram;
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let path = std::env::temp_dir().join(format!("heist-datagram-{}", std::process::id()));
///     let server = UnixDatagram::bind(&path)?;
///     let client = UnixDatagram::unbound()?;
///     client.send_to(b"hello", &path).await?;
///
///     let mut buf = [0; 64];
///     let (count, from) = server.recv_from(&mut buf).await?;
///     assert_eq!(&buf[..count], b"hello");
///     assert!(from.is_unnamed());
///     std::fs::remove_file(path)
/// }
/// ```
pub struct UnixDatagram {
    io: Evented<net::UnixDatagram>,
}

impl UnixDatagram {
    /// A socket with this path; or, if it begins with a zero, with the abstract name behind that.
    ///
    /// # Errors
    /// If there is something with this path, or it is too long.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        let socket = UnixSocket::new_datagram()?;
        socket.bind(path)?;
        Ok(socket.datagram_for("UnixDatagram::bind"))
    }

    /// Two sockets that are connected with each other.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = Socket::pair(Domain::UNIX, Type::DGRAM.nonblocking(), None)?;
        let new = |socket: Socket| UnixDatagram::new("UnixDatagram::pair", socket.into());
        Ok((new(one), new(other)))
    }

    /// A socket without an address: it can send, and nobody can answer.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        Ok(UnixSocket::new_datagram()?.datagram_for("UnixDatagram::unbound"))
    }

    #[track_caller]
    pub(super) fn new(api: &str, socket: net::UnixDatagram) -> UnixDatagram {
        UnixDatagram { io: source::register(api, socket, source::BOTH, Ready::WRITABLE) }
    }

    std_methods!("UnixDatagram", net::UnixDatagram, source::BOTH);

    /// Connects it: [`send`](Self::send) goes to the socket with this path, and what comes from
    /// elsewhere is not received.
    ///
    /// # Errors
    /// If there is no such socket.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.io.connect(path)
    }

    datagram_methods!(SocketAddr, Interest::READABLE, SocketAddr, SocketAddr::from_system);

    /// Sends a datagram to the socket with this path.
    ///
    /// # Errors
    /// If there is no such socket, or the datagram is too long.
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.io.io(Interest::WRITABLE, |socket| socket.send_to(buf, target.as_ref())).await
    }

    /// The same for code without `async`. The task of the last call in this direction is the one that
    /// is woken.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to).
    pub fn poll_send_to<P: AsRef<Path>>(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: P,
    ) -> Poll<io::Result<usize>> {
        self.io.poll_io(cx, Direction::Write, |socket| socket.send_to(buf, target.as_ref()))
    }

    /// The same without waiting.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to), and `WouldBlock` if there is no room.
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.io.try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target.as_ref()))
    }

    /// Ends it in one direction or both: who waits to receive gets an empty datagram, who sends an error.
    ///
    /// # Errors
    /// If it is not connected.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.shutdown(how)
    }
}

std_traits!(UnixDatagram, net::UnixDatagram);
