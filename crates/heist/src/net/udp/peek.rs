//! Receiving a datagram without removing it from the queue.

use super::{RECEIVES, UdpSocket, of_sender};
use crate::net::receive;
use crate::reactor::io::{Direction, Interest};
use crate::tokio_parts::io::ReadBuf;
use rustix::net::RecvFlags;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

impl UdpSocket {
    /// Receives a datagram without removing it: the next call receives it again. See
    /// [`recv`](Self::recv).
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error like [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::UdpSocket;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// socket.connect(socket.local_addr()?).await?;
    /// socket.send(b"twice").await?;
    /// let mut buf = [0; 8];
    /// assert_eq!(socket.peek(&mut buf).await?, 5);
    /// assert_eq!(socket.recv(&mut buf).await?, 5);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.io(RECEIVES, |socket| socket.peek(buf)).await
    }

    /// Polls to receive a datagram without removing it; see [`peek`](Self::peek). Only the most
    /// recent caller in this direction is woken.
    ///
    /// # Errors
    ///
    /// Returns an error like [`recv`](Self::recv).
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let peek = |socket: &_| receive::recv(socket, buf, RecvFlags::PEEK);
        self.io.poll_io(cx, Direction::Receive, peek).map_ok(|_| ())
    }

    /// Receives a datagram without removing it and without waiting; see [`peek`](Self::peek).
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if no datagram is there, and errors like [`recv`](Self::recv).
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.try_io(Interest::READABLE, |socket| socket.peek(buf))
    }

    /// Receives a datagram and its sender's address without removing it: the next call receives it
    /// again. See [`recv_from`](Self::recv_from).
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error like [`recv`](Self::recv).
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
    /// a.send_to(b"twice", b.local_addr()?).await?;
    /// let mut buf = [0; 8];
    /// assert_eq!(b.peek_from(&mut buf).await?, (5, a.local_addr()?));
    /// assert_eq!(b.recv_from(&mut buf).await?, (5, a.local_addr()?));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.io(RECEIVES, |socket| socket.peek_from(buf)).await
    }

    /// Polls to receive a datagram and its sender's address without removing it; see
    /// [`peek_from`](Self::peek_from). Only the most recent caller in this direction is woken.
    ///
    /// # Errors
    ///
    /// Returns an error like [`recv`](Self::recv).
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        let peek = |socket: &_| receive::recv_from(socket, buf, RecvFlags::PEEK);
        let (_, from) = ready!(self.io.poll_io(cx, Direction::Receive, peek))?;
        Poll::Ready(of_sender(from))
    }

    /// Receives a datagram and its sender's address without removing it and without waiting.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if no datagram is there, and errors like [`recv`](Self::recv).
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.try_io(Interest::READABLE, |socket| socket.peek_from(buf))
    }

    /// Waits for a datagram and returns its sender's address. The datagram is not removed.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error like [`recv`](Self::recv).
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
    /// // Without room for the datagram itself.
    /// assert_eq!(b.peek_sender().await?, a.local_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.io(RECEIVES, peek_sender).await
    }

    /// Polls for the sender's address of the next datagram; see [`peek_sender`](Self::peek_sender).
    /// Only the most recent caller in this direction is woken.
    ///
    /// # Errors
    ///
    /// Returns an error like [`recv`](Self::recv).
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.io.poll_io(cx, Direction::Receive, peek_sender)
    }

    /// Returns the sender's address of the next datagram without waiting. The datagram is not
    /// removed.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if no datagram is there, and errors like [`recv`](Self::recv).
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.try_io(Interest::READABLE, peek_sender)
    }
}

fn peek_sender(socket: &std::net::UdpSocket) -> io::Result<SocketAddr> {
    Ok(socket.peek_from(&mut [])?.1)
}
