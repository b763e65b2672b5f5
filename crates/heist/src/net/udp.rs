//! `UdpSocket`.

mod options;
mod peek;

use super::addr::{self, ToSocketAddrs};
use super::{receive, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use crate::tokio_parts::io::ReadBuf;
use bytes::BufMut;
use rustix::net::RecvFlags;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll, ready};
use std::{convert, fmt, future, io};

/// What a receiver waits for. That an earlier datagram found no receiver (`ECONNREFUSED`) is
/// reported as an error event only.
const RECEIVES: Interest = Interest::READABLE.add(Interest::ERROR);

/// A UDP socket.
///
/// Every socket can send to and receive from any address. A [connected](Self::connect) socket has a
/// default destination, and receives only from there.
///
/// All methods take `&self`, so an [`Arc`](std::sync::Arc) is enough to use it in several tasks.
///
/// # Examples
///
/// ```
/// use heist::net::UdpSocket;
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let server = UdpSocket::bind("127.0.0.1:0").await?;
///     let addr = server.local_addr()?;
///     heist::spawn(async move {
///         let mut buf = [0; 1500];
///         loop {
///             let (count, from) = server.recv_from(&mut buf).await.unwrap();
///             server.send_to(&buf[..count], from).await.unwrap();
///         }
///     });
///
///     let client = UdpSocket::bind("127.0.0.1:0").await?;
///     client.connect(addr).await?;
///     client.send(b"echo").await?;
///     let mut buf = [0; 1500];
///     let count = client.recv(&mut buf).await?;
///     assert_eq!(&buf[..count], b"echo");
///     Ok(())
/// }
/// ```
pub struct UdpSocket {
    io: Evented<std::net::UdpSocket>,
}

impl UdpSocket {
    /// Creates a socket with an address. Port 0 lets the system choose a port.
    ///
    /// If there are several addresses, they are tried in order.
    ///
    /// # Errors
    ///
    /// Returns the last error if none of the addresses can be bound.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UdpSocket;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_ne!(socket.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        addr::first_success(addr::resolve(addr), |addr| future::ready(Self::bind_to(addr))).await
    }

    fn bind_to(addr: SocketAddr) -> io::Result<UdpSocket> {
        let kind = Type::DGRAM.nonblocking();
        let socket = Socket::new(Domain::for_address(addr), kind, Some(Protocol::UDP))?;
        socket.bind(&addr.into())?;
        let (api, socket) = ("UdpSocket::bind", socket.into());
        Ok(UdpSocket { io: source::register(api, socket, source::BOTH, Ready::WRITABLE) })
    }

    std_methods!("UdpSocket", std::net::UdpSocket, source::BOTH);

    /// Connects the socket: [`send`](Self::send) sends to this address, and datagrams from
    /// elsewhere are not received.
    ///
    /// If there are several addresses, the first one that the system accepts is used. Nothing is
    /// sent, so a missing receiver is not noticed.
    ///
    /// # Errors
    ///
    /// Returns the last error if the system accepts none of the addresses.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UdpSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let server = UdpSocket::bind("127.0.0.1:0").await?;
    /// let client = UdpSocket::bind("127.0.0.1:0").await?;
    /// client.connect(server.local_addr()?).await?;
    /// client.send(b"ping").await?;
    /// let mut buf = [0; 8];
    /// let (count, from) = server.recv_from(&mut buf).await?;
    /// assert_eq!((&buf[..count], from), (&b"ping"[..], client.local_addr()?));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        addr::first_success(addr::resolve(addr), |addr| future::ready(self.io.connect(addr))).await
    }

    datagram_methods!(
        SocketAddr,
        RECEIVES,
        convert::identity,
        of_sender,
        r#"# let socket = heist::net::UdpSocket::bind("127.0.0.1:0").await?;
# let peer = heist::net::UdpSocket::bind("127.0.0.1:0").await?;
# socket.connect(peer.local_addr()?).await?;
# peer.connect(socket.local_addr()?).await?;"#
    );

    /// Sends a datagram to an address; of several addresses, to the first. Returns its length.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: if the future is dropped before it completes, nothing was sent.
    ///
    /// # Errors
    ///
    /// Returns an error if the datagram is too long, or if there is no route to the address.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UdpSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// let mut buf = [0; 16];
    /// assert_eq!(b.recv_from(&mut buf).await?, (4, a.local_addr()?));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], target: A) -> io::Result<usize> {
        let target = addr::resolve(target).addresses().await?.next();
        let target = target.ok_or_else(addr::no_address)?;
        self.io.io(Interest::WRITABLE, |socket| socket.send_to(buf, target)).await
    }

    /// Polls to send a datagram to an address; see [`send_to`](Self::send_to). Only the most recent
    /// caller in this direction is woken.
    ///
    /// # Errors
    ///
    /// Returns an error like [`send_to`](Self::send_to).
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.io.poll_io(cx, Direction::Write, |socket| socket.send_to(buf, target))
    }

    /// Sends a datagram to an address without waiting.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if the send buffer is full, and errors like [`send_to`](Self::send_to).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UdpSocket;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.writable().await?;
    /// assert_eq!(a.try_send_to(b"ping", b.local_addr()?)?, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.io.try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
    }
}

std_traits!(UdpSocket, std::net::UdpSocket);

fn of_sender(address: SockAddr) -> io::Result<SocketAddr> {
    let unknown =
        || io::Error::new(io::ErrorKind::AddrNotAvailable, "the sender has no IP address");
    address.as_socket().ok_or_else(unknown)
}
