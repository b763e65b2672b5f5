//! Sending and receiving datagrams, for UDP and Unix sockets.

/// Goes into an `impl` block of a type with a field `io: Evented<…>`. `$interest` is what a
/// receiver waits for; `$from_std` and `$from_socket2` convert a sender's address into `$addr`. In
/// the examples, `$pair` makes a `socket` and a `peer`, connected to each other.
macro_rules! datagram_methods {
    ($addr:ty, $interest:expr, $from_std:expr, $from_socket2:expr, $pair:literal) => {
        ready_methods!("socket", $pair);
        readable_methods!(poll_recv_ready);
        writable_methods!(poll_send_ready);
        io_methods!();

        /// Sends a datagram to the connected address. Returns its length.
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe: if the future is dropped before it completes, nothing was
        /// sent.
        ///
        /// # Errors
        ///
        /// Returns an error if the socket is not connected, or if the datagram is too long.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $pair]
        /// assert_eq!(socket.send(b"ping").await?, 4);
        /// let mut buf = [0; 16];
        /// let count = peer.recv(&mut buf).await?;
        /// assert_eq!(&buf[..count], b"ping");
        /// # Ok(())
        /// # }
        /// ```
        pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.io(Interest::WRITABLE, |socket| socket.send(buf)).await
        }

        /// Polls to send a datagram to the connected address; see [`send`](Self::send). Only the
        /// most recent caller in this direction is woken.
        ///
        /// # Errors
        ///
        /// Returns an error like [`send`](Self::send).
        pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            self.io.poll_io(cx, Direction::Write, |socket| socket.send(buf))
        }

        /// Sends a datagram to the connected address without waiting.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if the send buffer is full, and errors like [`send`](Self::send).
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $pair]
        /// socket.writable().await?;
        /// assert_eq!(socket.try_send(b"ping")?, 4);
        /// # Ok(())
        /// # }
        /// ```
        pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.try_io(Interest::WRITABLE, |socket| socket.send(buf))
        }

        /// Receives a datagram into `buf` and returns its length. The part that does not fit is
        /// lost.
        ///
        /// A connected socket receives only from the address that it is connected to.
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe: if the future is dropped before it completes, no datagram is
        /// lost.
        ///
        /// # Errors
        ///
        /// Returns errors of the socket, including those caused by a datagram that was sent before.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $pair]
        /// peer.send(b"longer than the buffer").await?;
        /// let mut buf = [0; 6];
        /// assert_eq!(socket.recv(&mut buf).await?, 6);
        /// assert_eq!(&buf, b"longer"); // The rest is lost.
        /// # Ok(())
        /// # }
        /// ```
        pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.io($interest, |socket| socket.recv(buf)).await
        }

        /// Polls to receive a datagram and appends it to `buf`; see [`recv`](Self::recv). Only the
        /// most recent caller in this direction is woken.
        ///
        /// # Errors
        ///
        /// Returns an error like [`recv`](Self::recv).
        pub fn poll_recv(
            &self,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let recv = |socket: &_| receive::recv(socket, buf, RecvFlags::empty());
            self.io.poll_io(cx, Direction::Receive, recv).map_ok(|_| ())
        }

        /// Receives a datagram without waiting; see [`recv`](Self::recv).
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if no datagram is there, and errors like [`recv`](Self::recv).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::ErrorKind;
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $pair]
        /// peer.send(b"ping").await?;
        /// let mut buf = [0; 16];
        /// let count = loop {
        ///     socket.readable().await?;
        ///     match socket.try_recv(&mut buf) {
        ///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // A false alarm.
        ///         result => break result?,
        ///     }
        /// };
        /// assert_eq!(&buf[..count], b"ping");
        /// # Ok(())
        /// # }
        /// ```
        pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.try_io(Interest::READABLE, |socket| socket.recv(buf))
        }

        /// Receives a datagram and appends it to `buf`; see [`recv`](Self::recv).
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe: if the future is dropped before it completes, no datagram is
        /// lost.
        ///
        /// # Errors
        ///
        /// Returns an error like [`recv`](Self::recv).
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $pair]
        /// peer.send(b"ping").await?;
        /// let mut buf = Vec::with_capacity(1500);
        /// socket.recv_buf(&mut buf).await?;
        /// assert_eq!(buf, b"ping");
        /// # Ok(())
        /// # }
        /// ```
        pub async fn recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
            let recv = |socket: &_| receive::recv(socket, buf, RecvFlags::empty());
            self.io.io($interest, recv).await
        }

        /// Receives a datagram without waiting and appends it to `buf`; see [`recv`](Self::recv).
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if no datagram is there, and errors like [`recv`](Self::recv).
        pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
            let recv = |socket: &_| receive::recv(socket, buf, RecvFlags::empty());
            self.io.try_io(Interest::READABLE, recv)
        }

        /// Receives a datagram into `buf`. Returns its length and the sender's address.
        ///
        /// The part of the datagram that does not fit into `buf` is lost.
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe: if the future is dropped before it completes, no datagram is
        /// lost.
        ///
        /// # Errors
        ///
        /// Returns an error like [`recv`](Self::recv).
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $pair]
        /// peer.send(b"ping").await?;
        /// let mut buf = [0; 16];
        /// let (count, from) = socket.recv_from(&mut buf).await?;
        /// println!("{count} bytes from {from:?}");
        /// # Ok(())
        /// # }
        /// ```
        pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $addr)> {
            let (count, from) = self.io.io($interest, |socket| socket.recv_from(buf)).await?;
            Ok((count, $from_std(from)))
        }

        /// Polls to receive a datagram and its sender's address; see
        /// [`recv_from`](Self::recv_from). Only the most recent caller in this direction is woken.
        ///
        /// # Errors
        ///
        /// Returns an error like [`recv`](Self::recv).
        pub fn poll_recv_from(
            &self,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<$addr>> {
            let recv = |socket: &_| receive::recv_from(socket, buf, RecvFlags::empty());
            let (_, from) = ready!(self.io.poll_io(cx, Direction::Receive, recv))?;
            Poll::Ready($from_socket2(from))
        }

        /// Receives a datagram and its sender's address without waiting; see
        /// [`recv_from`](Self::recv_from).
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if no datagram is there, and errors like [`recv`](Self::recv).
        pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $addr)> {
            let (count, from) =
                self.io.try_io(Interest::READABLE, |socket| socket.recv_from(buf))?;
            Ok((count, $from_std(from)))
        }

        /// Receives a datagram, appends it to `buf`, and returns its length and the sender's
        /// address.
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe: if the future is dropped before it completes, no datagram is
        /// lost.
        ///
        /// # Errors
        ///
        /// Returns an error like [`recv`](Self::recv).
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $pair]
        /// peer.send(b"ping").await?;
        /// let mut buf = Vec::with_capacity(1500);
        /// let (count, from) = socket.recv_buf_from(&mut buf).await?;
        /// println!("{count} bytes from {from:?}");
        /// assert_eq!(buf, b"ping");
        /// # Ok(())
        /// # }
        /// ```
        pub async fn recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, $addr)> {
            let recv = |socket: &_| receive::recv_from(socket, buf, RecvFlags::empty());
            let (count, from) = self.io.io($interest, recv).await?;
            Ok((count, $from_socket2(from)?))
        }

        /// Receives a datagram and its sender's address without waiting, and appends it to `buf`.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if no datagram is there, and errors like [`recv`](Self::recv).
        pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, $addr)> {
            let recv = |socket: &_| receive::recv_from(socket, buf, RecvFlags::empty());
            let (count, from) = self.io.try_io(Interest::READABLE, recv)?;
            Ok((count, $from_socket2(from)?))
        }

        /// Returns the address of this socket.
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        pub fn local_addr(&self) -> io::Result<$addr> {
            self.io.local_addr().map($from_std)
        }

        /// Returns the address to which the socket is connected.
        ///
        /// # Errors
        ///
        /// Returns an error if the socket is not connected.
        pub fn peer_addr(&self) -> io::Result<$addr> {
            self.io.peer_addr().map($from_std)
        }

        /// Returns and clears the socket's pending error (`SO_ERROR`).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        pub fn take_error(&self) -> io::Result<Option<io::Error>> {
            self.io.take_error()
        }
    };
}
