//! Methods and traits that several types have in common, written once. Each macro is for a type with
//! a field `io: Evented<…>`; those with `methods` in their names go into an `impl` block of it.

/// Waiting until something is ready.
macro_rules! ready_methods {
    () => {
        /// Waits until it is ready for some of `interest`, and says for what. It may say so though it is
        /// not: then the operation that follows returns `WouldBlock`, and one waits again.
        ///
        /// A second call without an operation in between that returned `WouldBlock` returns at once.
        /// Nothing is lost if the future is dropped.
        ///
        /// # Errors
        /// If the runtime of this one is shut down.
        pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
            Ok(self.io.ready(interest).await?.ready)
        }
    };
}

/// For what can be read.
macro_rules! readable_methods {
    ($poll_ready:ident) => {
        /// Waits until there is something to read: data, the end, or an error. As
        /// [`ready`](Self::ready) with [`Interest::READABLE`].
        ///
        /// # Errors
        /// If the runtime of this one is shut down.
        pub async fn readable(&self) -> io::Result<()> {
            self.ready(Interest::READABLE).await?;
            Ok(())
        }

        /// As [`readable`](Self::readable), for code without `async`. The task of the last call in
        /// this direction is the one that is woken.
        ///
        /// # Errors
        /// If the runtime of this one is shut down.
        pub fn $poll_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.io.poll_ready(cx, Direction::Read).map_ok(|_| ())
        }
    };
}

/// For what can be written.
macro_rules! writable_methods {
    ($poll_ready:ident) => {
        /// Waits until something can be written, or until that is an error. As
        /// [`ready`](Self::ready) with [`Interest::WRITABLE`].
        ///
        /// # Errors
        /// If the runtime of this one is shut down.
        pub async fn writable(&self) -> io::Result<()> {
            self.ready(Interest::WRITABLE).await?;
            Ok(())
        }

        /// As [`writable`](Self::writable), for code without `async`. The task of the last call in
        /// this direction is the one that is woken.
        ///
        /// # Errors
        /// If the runtime of this one is shut down.
        pub fn $poll_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.io.poll_ready(cx, Direction::Write).map_ok(|_| ())
        }
    };
}

/// Reading bytes without waiting.
macro_rules! try_read_methods {
    () => {
        /// Reads what is there. `Ok(0)` is the end, or an empty buffer.
        ///
        /// # Errors
        /// `WouldBlock` if nothing is there; wait with [`readable`](Self::readable).
        pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.try_io(Interest::READABLE, |mut io| io.read(buf))
        }

        /// As [`try_read`](Self::try_read), into several buffers, one after the other.
        ///
        /// # Errors
        /// `WouldBlock` if nothing is there.
        pub fn try_read_vectored(&self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
            self.io.try_io(Interest::READABLE, |mut io| io.read_vectored(bufs))
        }

        /// As [`try_read`](Self::try_read), to the end of a buffer.
        ///
        /// # Errors
        /// `WouldBlock` if nothing is there.
        pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
            self.io.try_io(Interest::READABLE, |io| receive::read(io, buf))
        }
    };
}

/// Writing bytes without waiting.
macro_rules! try_write_methods {
    () => {
        /// Writes as much as there is room for, and says how much that was.
        ///
        /// # Errors
        /// `WouldBlock` if there is no room; wait with [`writable`](Self::writable).
        pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.try_io(Interest::WRITABLE, |mut io| io.write(buf))
        }

        /// As [`try_write`](Self::try_write), from several buffers, one after the other.
        ///
        /// # Errors
        /// `WouldBlock` if there is no room.
        pub fn try_write_vectored(&self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
            self.io.try_io(Interest::WRITABLE, |mut io| io.write_vectored(bufs))
        }
    };
}

/// Operations of the user's on a socket.
macro_rules! io_methods {
    () => {
        /// Calls `f`, an operation of your own on this socket, if it may be ready for some of
        /// `interest`. If `f` returns `WouldBlock`, the socket counts as not ready from then on:
        /// so `f` must do that only if the socket itself did.
        ///
        /// # Errors
        /// Those of `f`, and `WouldBlock` if `f` was not called.
        pub fn try_io<R>(
            &self,
            interest: Interest,
            f: impl FnOnce() -> io::Result<R>,
        ) -> io::Result<R> {
            self.io.try_io(interest, |_| f())
        }

        /// Waits for some of `interest` and calls `f`, an operation of your own on this socket, until
        /// it does not return `WouldBlock`.
        ///
        /// # Errors
        /// Those of `f`, and if the runtime of this socket is shut down.
        pub async fn async_io<R>(
            &self,
            interest: Interest,
            mut f: impl FnMut() -> io::Result<R>,
        ) -> io::Result<R> {
            self.io.io(interest, |_| f()).await
        }
    };
}

/// To and from the type of the standard library.
macro_rules! std_methods {
    ($name:literal, $std:ty, $interest:expr) => {
        /// Takes over a socket of the standard library. It must be non-blocking; its options stay as
        /// they are.
        ///
        /// # Errors
        /// If the system cannot say whether it is non-blocking.
        ///
        /// # Panics
        /// If the calling thread is in no runtime, or the runtime does no I/O; with debug assertions,
        /// if the socket blocks.
        #[track_caller]
        pub fn from_std(std: $std) -> io::Result<Self> {
            let io = source::adopt(concat!($name, "::from_std"), std, $interest)?;
            Ok(Self { io })
        }

        /// Gives the socket to the standard library's type. It stays non-blocking.
        ///
        /// # Errors
        /// If it cannot be taken out of its reactor.
        pub fn into_std(self) -> io::Result<$std> {
            self.io.into_inner()
        }
    };
}

/// What goes with [`std_methods`], and with a file descriptor.
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

/// `AsyncRead`, with the method of `Evented` that fits.
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

/// `AsyncWrite`. Nothing is kept that could be flushed.
macro_rules! async_write {
    ($name:ident, $shutdown:expr) => {
        impl AsyncWrite for $name {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.io.poll_write(cx, buf)
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
