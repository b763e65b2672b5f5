//! UDP.

mod options;
mod peek;

use super::addr::{self, ToSocketAddrs};
use super::{ip_addr, receive, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use crate::tokio_parts::io::ReadBuf;
use bytes::BufMut;
use rustix::net::RecvFlags;
use socket2::{Domain, Protocol, Socket, Type};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll, ready};
use std::{convert, fmt, future, io};

/// What a receiver waits for. That nobody was there to take what was sent before (`ECONNREFUSED`)
/// comes as an error alone.
const RECEIVES: Interest = Interest::READABLE.add(Interest::ERROR);

/// A UDP socket.
///
/// Every socket can send to and receive from anybody. One that is
/// [connected](Self::connect) has an address to send to, and receives from there only.
///
/// All methods take `&self`: put it into an [`Arc`](std::sync::Arc) to use it from several tasks.
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
    /// A socket with this address; with port 0, with a port that the system chooses. If there are
    /// several addresses, they are tried one after the other.
    ///
    /// # Errors
    /// The last one, if none of the addresses can be had.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
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

    /// Connects it: [`send`](Self::send) goes to this address, and what comes from elsewhere is not
    /// received. If there are several addresses, the first that the system accepts is taken.
    ///
    /// # Errors
    /// The last one, if the system accepts none. Nobody is asked whether anybody is there.
    pub async fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        addr::first_success(addr::resolve(addr), |addr| future::ready(self.io.connect(addr))).await
    }

    datagram_methods!(SocketAddr, RECEIVES, convert::identity, ip_addr::sender);

    /// Sends a datagram to this address; if there are several, to the first. It is all sent, or nothing.
    ///
    /// # Errors
    /// If the datagram is too long, or there is no way to the address.
    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], target: A) -> io::Result<usize> {
        let target = addr::resolve(target).addresses().await?.next();
        let target = target.ok_or_else(addr::no_address)?;
        self.io.io(Interest::WRITABLE, |socket| socket.send_to(buf, target)).await
    }

    /// The same for code without `async`. The task of the last call in this direction is the one that
    /// is woken.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to).
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.io.poll_io(cx, Direction::Write, |socket| socket.send_to(buf, target))
    }

    /// The same without waiting.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to), and `WouldBlock` if there is no room.
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.io.try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
    }
}

std_traits!(UdpSocket, std::net::UdpSocket);
