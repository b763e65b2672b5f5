//! Sending and receiving datagrams: the same for UDP and Unix.

/// Goes into an `impl` block of a type with a field `io: Evented<…>` of sockets. `$interest` is what
/// a receiver waits for, `$from_std` and `$from_any` make a `$addr` of what the standard library or
/// the system says of a sender.
macro_rules! datagram_methods {
    ($addr:ty, $interest:expr, $from_std:expr, $from_any:expr) => {
        ready_methods!();
        readable_methods!(poll_recv_ready);
        writable_methods!(poll_send_ready);
        io_methods!();

        /// Sends a datagram to the address that the socket is connected to.
        ///
        /// # Errors
        /// If it is not connected, or the datagram is too long.
        pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.io(Interest::WRITABLE, |socket| socket.send(buf)).await
        }

        /// The same for code without `async`. The task of the last call in this direction is the one
        /// that is woken.
        ///
        /// # Errors
        /// As [`send`](Self::send).
        pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            self.io.poll_io(cx, Direction::Write, |socket| socket.send(buf))
        }

        /// The same without waiting.
        ///
        /// # Errors
        /// As [`send`](Self::send), and `WouldBlock` if there is no room.
        pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.try_io(Interest::WRITABLE, |socket| socket.send(buf))
        }

        /// Receives a datagram, from the address that the socket is connected to if it is. What does not
        /// fit into `buf` is lost. Nothing is lost if the future is dropped.
        ///
        /// # Errors
        /// Those of the socket; what a datagram that was sent before met, too.
        pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.io($interest, |socket| socket.recv(buf)).await
        }

        /// The same for code without `async`. The task of the last call in this direction is the one
        /// that is woken.
        ///
        /// # Errors
        /// As [`recv`](Self::recv).
        pub fn poll_recv(
            &self,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let recv = |socket: &_| receive::recv(socket, buf, RecvFlags::empty());
            self.io.poll_io(cx, Direction::Receive, recv).map_ok(|_| ())
        }

        /// The same without waiting.
        ///
        /// # Errors
        /// As [`recv`](Self::recv), and `WouldBlock` if nothing is there.
        pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.try_io(Interest::READABLE, |socket| socket.recv(buf))
        }

        /// As [`recv`](Self::recv), to the end of a buffer.
        ///
        /// # Errors
        /// As [`recv`](Self::recv).
        pub async fn recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
            let recv = |socket: &_| receive::recv(socket, buf, RecvFlags::empty());
            self.io.io($interest, recv).await
        }

        /// The same without waiting.
        ///
        /// # Errors
        /// As [`recv`](Self::recv), and `WouldBlock` if nothing is there.
        pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
            let recv = |socket: &_| receive::recv(socket, buf, RecvFlags::empty());
            self.io.try_io(Interest::READABLE, recv)
        }

        /// Receives a datagram, and says from whom. What does not fit into `buf` is lost. Nothing is
        /// lost if the future is dropped.
        ///
        /// # Errors
        /// As [`recv`](Self::recv).
        pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $addr)> {
            let (count, from) = self.io.io($interest, |socket| socket.recv_from(buf)).await?;
            Ok((count, $from_std(from)))
        }

        /// The same for code without `async`. The task of the last call in this direction is the one
        /// that is woken.
        ///
        /// # Errors
        /// As [`recv`](Self::recv).
        pub fn poll_recv_from(
            &self,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<$addr>> {
            let recv = |socket: &_| receive::recv_from(socket, buf, RecvFlags::empty());
            let (_, from) = ready!(self.io.poll_io(cx, Direction::Receive, recv))?;
            Poll::Ready($from_any(from))
        }

        /// The same without waiting.
        ///
        /// # Errors
        /// As [`recv`](Self::recv), and `WouldBlock` if nothing is there.
        pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $addr)> {
            let (count, from) =
                self.io.try_io(Interest::READABLE, |socket| socket.recv_from(buf))?;
            Ok((count, $from_std(from)))
        }

        /// As [`recv_from`](Self::recv_from), to the end of a buffer.
        ///
        /// # Errors
        /// As [`recv`](Self::recv).
        pub async fn recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, $addr)> {
            let recv = |socket: &_| receive::recv_from(socket, buf, RecvFlags::empty());
            let (count, from) = self.io.io($interest, recv).await?;
            Ok((count, $from_any(from)?))
        }

        /// The same without waiting.
        ///
        /// # Errors
        /// As [`recv`](Self::recv), and `WouldBlock` if nothing is there.
        pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, $addr)> {
            let recv = |socket: &_| receive::recv_from(socket, buf, RecvFlags::empty());
            let (count, from) = self.io.try_io(Interest::READABLE, recv)?;
            Ok((count, $from_any(from)?))
        }

        /// The address of this socket.
        ///
        /// # Errors
        /// If the system has none.
        pub fn local_addr(&self) -> io::Result<$addr> {
            self.io.local_addr().map($from_std)
        }

        /// The address that the socket is connected to.
        ///
        /// # Errors
        /// If it is not connected.
        pub fn peer_addr(&self) -> io::Result<$addr> {
            self.io.peer_addr().map($from_std)
        }

        /// The error that came while nobody asked (`SO_ERROR`), and forgets it.
        ///
        /// # Errors
        /// Those of asking.
        pub fn take_error(&self) -> io::Result<Option<io::Error>> {
            self.io.take_error()
        }
    };
}
