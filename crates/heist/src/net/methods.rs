//! Methods and traits that several types share. Each macro is for a type with a field
//! `io: Evented<…>`; macros with `methods` in their names go into an `impl` block. In the examples,
//! `$setup` makes a socket of the name `$name`, and what it takes to use that.

/// All that a stream does besides `AsyncRead` and `AsyncWrite`.
macro_rules! stream_methods {
    ($name:literal, $setup:literal) => {
        ready_methods!($name, $setup);
        readable_methods!(poll_read_ready);
        writable_methods!(poll_write_ready);
        try_read_methods!($name, $setup);
        try_write_methods!($name, $setup);
        io_methods!();
    };
}

/// Waiting for readiness.
macro_rules! ready_methods {
    ($name:literal, $setup:literal) => {
        /// Waits until the source is ready for some of `interest`, and returns what it is ready
        /// for.
        ///
        /// This may be a false alarm: the operation that follows may still return `WouldBlock`;
        /// then wait again. Until an operation has returned `WouldBlock`, further calls return at
        /// once.
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe: if the future is dropped, the source remains ready.
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime of this source has been shut down.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::Interest;
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $setup]
        #[doc = concat!("let ready = ", $name, ".ready(Interest::READABLE.add(Interest::WRITABLE)).await?;")]
        /// assert!(!ready.is_empty());
        /// # Ok(())
        /// # }
        /// ```
        pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
            Ok(self.io.ready(interest).await?.ready)
        }
    };
}

/// For readable sources.
macro_rules! readable_methods {
    ($poll_ready:ident) => {
        /// Waits until there is something to read: data, the end, or an error of a broken
        /// connection.
        ///
        /// Equivalent to [`ready`](Self::ready) with [`Interest::READABLE`].
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe.
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime of this source has been shut down.
        pub async fn readable(&self) -> io::Result<()> {
            self.ready(Interest::READABLE).await?;
            Ok(())
        }

        /// Polls for something to read; see [`readable`](Self::readable). Only the most recent
        /// caller in this direction is woken.
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime of this source has been shut down.
        pub fn $poll_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.io.poll_ready(cx, Direction::Read).map_ok(|_| ())
        }
    };
}

/// For writable sources.
macro_rules! writable_methods {
    ($poll_ready:ident) => {
        /// Waits until a write would not block, because there is room or because it would fail.
        ///
        /// Equivalent to [`ready`](Self::ready) with [`Interest::WRITABLE`].
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe.
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime of this source has been shut down.
        pub async fn writable(&self) -> io::Result<()> {
            self.ready(Interest::WRITABLE).await?;
            Ok(())
        }

        /// Polls for room to write; see [`writable`](Self::writable). Only the most recent caller
        /// in this direction is woken.
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime of this source has been shut down.
        pub fn $poll_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.io.poll_ready(cx, Direction::Write).map_ok(|_| ())
        }
    };
}

/// Reading bytes without waiting.
macro_rules! try_read_methods {
    ($name:literal, $setup:literal) => {
        /// Reads the data that is there, without waiting. Returns the number of bytes.
        ///
        /// `Ok(0)` means the end of the stream, or an empty buffer.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is nothing to read; wait with [`readable`](Self::readable)
        /// then. Also returns errors of the stream.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::ErrorKind;
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $setup]
        /// let mut buf = [0; 16];
        /// let count = loop {
        #[doc = concat!("    ", $name, ".readable().await?;")]
        #[doc = concat!("    match ", $name, ".try_read(&mut buf) {")]
        ///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // A false alarm.
        ///         result => break result?,
        ///     }
        /// };
        /// assert_eq!(&buf[..count], b"ping");
        /// # Ok(())
        /// # }
        /// ```
        pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.try_io(Interest::READABLE, |mut io| io.read(buf))
        }

        /// Reads the data that is there into several buffers, in order, without waiting; see
        /// [`try_read`](Self::try_read).
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is nothing to read, and errors of the stream.
        pub fn try_read_vectored(&self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
            self.io.try_io(Interest::READABLE, |mut io| io.read_vectored(bufs))
        }

        /// Reads the data that is there and appends it to `buf`, without waiting; see
        /// [`try_read`](Self::try_read).
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is nothing to read, and errors of the stream.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $setup]
        /// let mut buf = Vec::with_capacity(16);
        #[doc = concat!($name, ".readable().await?;")]
        #[doc = concat!("let count = ", $name, ".try_read_buf(&mut buf)?;")]
        /// assert_eq!((count, &buf[..]), (4, &b"ping"[..]));
        /// # Ok(())
        /// # }
        /// ```
        pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
            self.io.try_io(Interest::READABLE, |io| receive::read(io, buf))
        }
    };
}

/// Writing bytes without waiting.
macro_rules! try_write_methods {
    ($name:literal, $setup:literal) => {
        /// Writes as much of `buf` as there is room for, without waiting. Returns the number of
        /// bytes.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is no room; wait with [`writable`](Self::writable) then.
        /// Also returns errors of the stream.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $setup]
        #[doc = concat!($name, ".writable().await?;")]
        #[doc = concat!("assert_eq!(", $name, ".try_write(b\"pong\")?, 4);")]
        /// # Ok(())
        /// # }
        /// ```
        pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.try_io(Interest::WRITABLE, |mut io| io.write(buf))
        }

        /// Writes as much as there is room for from several buffers, in order, without waiting; see
        /// [`try_write`](Self::try_write).
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is no room, and errors of the stream.
        pub fn try_write_vectored(&self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
            self.io.try_io(Interest::WRITABLE, |mut io| io.write_vectored(bufs))
        }
    };
}

/// The user's own operations on a socket.
macro_rules! io_methods {
    () => {
        /// Calls `f`, an operation of your own on this socket, if the socket may be ready for some
        /// of `interest`.
        ///
        /// If `f` returns `WouldBlock`, the socket counts as not ready. `f` must therefore return
        /// it only if the socket itself did.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if `f` was not called, and errors of `f`.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::Interest;
        /// use heist::net::UdpSocket;
        /// use socket2::SockRef;
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
        /// let address = socket.local_addr()?;
        /// socket.send_to(b"ping", address).await?;
        /// socket.readable().await?;
        /// let peek = || SockRef::from(&socket).peek_sender();
        /// let sender = socket.try_io(Interest::READABLE, peek)?;
        /// assert_eq!(sender.as_socket(), Some(address));
        /// # Ok(())
        /// # }
        /// ```
        pub fn try_io<R>(
            &self,
            interest: Interest,
            f: impl FnOnce() -> io::Result<R>,
        ) -> io::Result<R> {
            self.io.try_io(interest, |_| f())
        }

        /// Waits for some of `interest` and calls `f`, an operation of your own on this socket,
        /// until it returns something else than `WouldBlock`.
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe if `f` is: the future can be dropped only while `f` is not
        /// running.
        ///
        /// # Errors
        ///
        /// Returns errors of `f`, and an error if the runtime of this socket has been shut down.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::Interest;
        /// use heist::net::UdpSocket;
        /// use socket2::SockRef;
        ///
        /// # #[heist::main]
        /// # async fn main() -> std::io::Result<()> {
        /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
        /// let address = socket.local_addr()?;
        /// socket.send_to(b"ping", address).await?;
        /// let peek = || SockRef::from(&socket).peek_sender();
        /// let sender = socket.async_io(Interest::READABLE, peek).await?;
        /// assert_eq!(sender.as_socket(), Some(address));
        /// # Ok(())
        /// # }
        /// ```
        pub async fn async_io<R>(
            &self,
            interest: Interest,
            mut f: impl FnMut() -> io::Result<R>,
        ) -> io::Result<R> {
            self.io.io(interest, |_| f()).await
        }
    };
}

/// Conversions from and to the type of the standard library.
macro_rules! std_methods {
    ($name:literal, $std:ty, $interest:expr) => {
        /// Converts a socket of the standard library, which must be non-blocking. Its options are
        /// kept.
        ///
        /// # Errors
        ///
        /// Returns an error if the system cannot tell whether the socket is non-blocking.
        ///
        /// # Panics
        ///
        /// Panics if the calling thread is in no runtime, or if its runtime has no I/O. With debug
        /// assertions, also panics if the socket is blocking.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::net::TcpListener;
        ///
        /// # #[heist::main]
        /// # async fn main() -> std::io::Result<()> {
        /// // Perhaps inherited from a supervisor.
        /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        /// listener.set_nonblocking(true)?;
        /// let listener = TcpListener::from_std(listener)?;
        /// assert_ne!(listener.local_addr()?.port(), 0);
        /// # Ok(())
        /// # }
        /// ```
        #[track_caller]
        pub fn from_std(std: $std) -> io::Result<Self> {
            let io = source::adopt(concat!($name, "::from_std"), std, $interest)?;
            Ok(Self { io })
        }

        /// Converts into the socket type of the standard library. The socket remains non-blocking.
        ///
        /// # Errors
        ///
        /// Returns an error if the socket cannot be deregistered from its reactor.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::net::TcpListener;
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        /// let listener = TcpListener::bind("127.0.0.1:0").await?.into_std()?;
        /// listener.set_nonblocking(false)?;
        /// let address = listener.local_addr()?;
        /// let client = std::thread::spawn(move || std::net::TcpStream::connect(address));
        /// let (_stream, from) = listener.accept()?;
        /// assert_eq!(from, client.join().unwrap()?.local_addr()?);
        /// # Ok(())
        /// # }
        /// ```
        pub fn into_std(self) -> io::Result<$std> {
            self.io.into_inner()
        }
    };
}

/// The traits that belong to [`std_methods`], and those for file descriptors.
macro_rules! std_traits {
    ($name:ident, $std:ty) => {
        impl TryFrom<$std> for $name {
            type Error = io::Error;

            #[track_caller]
            fn try_from(std: $std) -> io::Result<$name> {
                $name::from_std(std)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (*self.io).fmt(f)
            }
        }

        fd_traits!($name);
    };
}

macro_rules! fd_traits {
    ($name:ident) => {
        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.io.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.io.as_raw_fd()
            }
        }
    };
}

/// `AsyncRead` with the given method of `Evented`.
macro_rules! async_read {
    ($name:ident, $poll_read:ident) => {
        impl AsyncRead for $name {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.io.$poll_read(cx, buf)
            }
        }
    };
}

/// `AsyncWrite`, by the given method of `Evented`. There is no buffer to flush.
macro_rules! async_write {
    ($name:ident, $poll_write:ident, $shutdown:expr) => {
        impl AsyncWrite for $name {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.io.$poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[io::IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.io.poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                let shutdown: fn(&Self) -> io::Result<()> = $shutdown;
                Poll::Ready(shutdown(&self))
            }
        }
    };
}
