//! Looking at a datagram without taking it.

use super::{RECEIVES, UdpSocket};
use crate::net::{ip_addr, receive};
use crate::reactor::io::{Direction, Interest};
use crate::tokio_parts::io::ReadBuf;
use rustix::net::RecvFlags;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

impl UdpSocket {
    /// As [`recv`](Self::recv), but the datagram stays: the next call gets it again.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.io(RECEIVES, |socket| socket.peek(buf)).await
    }

    /// The same for code without `async`. The task of the last call in this direction is the one that
    /// is woken.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let peek = |socket: &_| receive::recv(socket, buf, RecvFlags::PEEK);
        self.io.poll_io(cx, Direction::Receive, peek).map_ok(|_| ())
    }

    /// The same without waiting.
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and `WouldBlock` if nothing is there.
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.try_io(Interest::READABLE, |socket| socket.peek(buf))
    }

    /// As [`recv_from`](Self::recv_from), but the datagram stays: the next call gets it again.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.io(RECEIVES, |socket| socket.peek_from(buf)).await
    }

    /// The same for code without `async`. The task of the last call in this direction is the one that
    /// is woken.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        let peek = |socket: &_| receive::recv_from(socket, buf, RecvFlags::PEEK);
        let (_, from) = ready!(self.io.poll_io(cx, Direction::Receive, peek))?;
        Poll::Ready(ip_addr::sender(from))
    }

    /// The same without waiting.
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and `WouldBlock` if nothing is there.
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.try_io(Interest::READABLE, |socket| socket.peek_from(buf))
    }

    /// Who sent the next datagram, which stays.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.io(RECEIVES, peek_sender).await
    }

    /// The same for code without `async`. The task of the last call in this direction is the one that
    /// is woken.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.io.poll_io(cx, Direction::Receive, peek_sender)
    }

    /// The same without waiting.
    ///
    /// # Errors
    /// As [`recv`](Self::recv), and `WouldBlock` if nothing is there.
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.try_io(Interest::READABLE, peek_sender)
    }
}

fn peek_sender(socket: &std::net::UdpSocket) -> io::Result<SocketAddr> {
    Ok(socket.peek_from(&mut [])?.1)
}
