//! The read and write halves of a stream, borrowed and owned, for TCP and Unix.

/// Defines `ReadHalf`, `WriteHalf`, `OwnedReadHalf`, `OwnedWriteHalf` and `ReuniteError` for a
/// stream type with the given address type, read by the given method of `Evented`. In the examples,
/// `$connect` makes a `stream` and its `peer`.
macro_rules! halves {
    ($stream:ident, $addr:ty, $poll_read:ident, $connect:literal) => {
        #[doc = concat!("The borrowed read half of a [`", stringify!($stream), "`], created by")]
        #[doc = concat!("[`split`](", stringify!($stream), "::split).")]
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::{AsyncReadExt, AsyncWriteExt};
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $connect]
        /// let (mut read, _write) = stream.split();
        /// peer.write_all(b"ping").await?;
        /// let mut buf = [0; 4];
        /// read.read_exact(&mut buf).await?;
        /// assert_eq!(&buf, b"ping");
        /// # Ok(())
        /// # }
        /// ```
        #[derive(Debug)]
        pub struct ReadHalf<'a> {
            stream: &'a $stream,
        }

        #[doc = concat!("The borrowed write half of a [`", stringify!($stream), "`], created by")]
        #[doc = concat!("[`split`](", stringify!($stream), "::split).")]
        ///
        /// `shutdown` ends the stream in this direction.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::{AsyncReadExt, AsyncWriteExt};
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $connect]
        /// let (_read, mut write) = stream.split();
        /// write.write_all(b"ping").await?;
        /// let mut buf = [0; 4];
        /// peer.read_exact(&mut buf).await?;
        /// assert_eq!(&buf, b"ping");
        /// # Ok(())
        /// # }
        /// ```
        #[derive(Debug)]
        pub struct WriteHalf<'a> {
            stream: &'a $stream,
        }

        #[doc = concat!("The owned read half of a [`", stringify!($stream), "`], created by")]
        #[doc = concat!("[`into_split`](", stringify!($stream), "::into_split).")]
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::{AsyncReadExt, AsyncWriteExt};
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $connect]
        /// let (mut read, mut write) = stream.into_split();
        /// let reader = heist::spawn(async move {
        ///     let mut buf = [0; 4];
        ///     read.read_exact(&mut buf).await.map(|_| buf)
        /// });
        /// write.write_all(b"question").await?;
        /// peer.write_all(b"ping").await?;
        /// assert_eq!(&reader.await.unwrap()?, b"ping");
        /// # Ok(())
        /// # }
        /// ```
        #[derive(Debug)]
        pub struct OwnedReadHalf {
            stream: Arc<$stream>,
        }

        #[doc = concat!("The owned write half of a [`", stringify!($stream), "`], created by")]
        #[doc = concat!("[`into_split`](", stringify!($stream), "::into_split).")]
        ///
        /// `shutdown` ends the stream in this direction, and so does dropping the half, even if the
        /// read half still exists. [`forget`](Self::forget) drops it without that effect.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::{AsyncReadExt, AsyncWriteExt};
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $connect]
        /// let (_read, mut write) = stream.into_split();
        /// write.write_all(b"all of it").await?;
        /// drop(write); // Ends the stream in this direction.
        /// let mut text = String::new();
        /// peer.read_to_string(&mut text).await?;
        /// assert_eq!(text, "all of it");
        /// # Ok(())
        /// # }
        /// ```
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            stream: Arc<$stream>,
            shuts_down: bool,
        }

        /// The error of reuniting halves of different streams. It contains both halves.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        #[doc = $connect]
        /// let (read, _write) = stream.into_split();
        /// let (_read, write) = peer.into_split();
        /// let error = read.reunite(write).unwrap_err();
        /// assert_eq!(error.to_string(), "the two halves are not of the same stream");
        /// # Ok(())
        /// # }
        /// ```
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the two halves are not of the same stream")
            }
        }

        impl Error for ReuniteError {}

        pub(super) fn split(stream: &mut $stream) -> (ReadHalf<'_>, WriteHalf<'_>) {
            (ReadHalf { stream }, WriteHalf { stream })
        }

        pub(super) fn into_split(stream: $stream) -> (OwnedReadHalf, OwnedWriteHalf) {
            let stream = Arc::new(stream);
            let read = OwnedReadHalf { stream: Arc::clone(&stream) };
            (read, OwnedWriteHalf { stream, shuts_down: true })
        }

        impl OwnedReadHalf {
            /// Combines the two halves into the stream again.
            ///
            /// # Errors
            ///
            /// Returns both halves if they belong to different streams.
            ///
            /// # Examples
            ///
            /// ```
            /// # #[heist::main(flavor = "current_thread")]
            /// # async fn main() -> std::io::Result<()> {
            #[doc = $connect]
            /// let (read, write) = stream.into_split();
            /// let stream = read.reunite(write).unwrap();
            /// assert!(stream.peer_addr().is_ok());
            /// # Ok(())
            /// # }
            /// ```
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
                if !Arc::ptr_eq(&self.stream, &other.stream) {
                    return Err(ReuniteError(self, other));
                }
                other.forget();
                Ok(Arc::into_inner(self.stream).expect("a stream has two halves"))
            }
        }

        impl OwnedWriteHalf {
            /// Combines the two halves into the stream again.
            ///
            /// # Errors
            ///
            /// Returns both halves if they belong to different streams.
            ///
            /// # Examples
            ///
            /// ```
            /// # #[heist::main(flavor = "current_thread")]
            /// # async fn main() -> std::io::Result<()> {
            #[doc = $connect]
            /// let (read, write) = stream.into_split();
            /// let stream = write.reunite(read).unwrap();
            /// assert!(stream.peer_addr().is_ok());
            /// # Ok(())
            /// # }
            /// ```
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$stream, ReuniteError> {
                other.reunite(self)
            }

            /// Drops this half without ending the stream in its direction.
            ///
            /// That direction remains open until the read half is dropped.
            ///
            /// # Examples
            ///
            /// ```
            /// use heist::io::{AsyncReadExt, AsyncWriteExt};
            ///
            /// # #[heist::main(flavor = "current_thread")]
            /// # async fn main() -> std::io::Result<()> {
            #[doc = $connect]
            /// let (mut read, write) = stream.into_split();
            /// write.forget();
            /// // The peer has not read the end, so it still answers.
            /// peer.write_all(b"pong").await?;
            /// read.read_exact(&mut [0; 4]).await?;
            /// # Ok(())
            /// # }
            /// ```
            pub fn forget(mut self) {
                self.shuts_down = false;
            }

            fn shut_down(&mut self) -> io::Result<()> {
                source::shut_down_write(&self.stream)?;
                self.shuts_down = false;
                Ok(())
            }
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.shuts_down {
                    // There is no caller to report an error to.
                    let _ = source::shut_down_write(&self.stream);
                }
            }
        }

        impl WriteHalf<'_> {
            fn shut_down(&mut self) -> io::Result<()> {
                source::shut_down_write(self.stream)
            }
        }

        read_half!(ReadHalf<'_>, $stream, $addr, $poll_read);
        read_half!(OwnedReadHalf, $stream, $addr, $poll_read);
        write_half!(WriteHalf<'_>, $stream, $addr);
        write_half!(OwnedWriteHalf, $stream, $addr);
    };
}

/// What borrowed and owned read halves share.
macro_rules! read_half {
    ($half:ty, $stream:ident, $addr:ty, $poll_read:ident) => {
        impl $half {
            half_methods!($stream, $addr);

            /// Waits until there is something to read.
            #[doc = concat!("See [`", stringify!($stream), "::readable`].")]
            ///
            /// # Errors
            ///
            /// Returns an error if the runtime of this socket has been shut down.
            ///
            /// # Cancel safety
            ///
            /// This method is cancel safe.
            pub async fn readable(&self) -> io::Result<()> {
                self.stream.readable().await
            }

            /// Reads the data that is there, without waiting.
            #[doc = concat!("See [`", stringify!($stream), "::try_read`].")]
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if there is nothing to read, and errors of the stream.
            pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.stream.try_read(buf)
            }

            /// Reads the data that is there into several buffers, without waiting.
            #[doc = concat!("See [`", stringify!($stream), "::try_read_vectored`].")]
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if there is nothing to read, and errors of the stream.
            pub fn try_read_vectored(&self, bufs: &mut [io::IoSliceMut<'_>]) -> io::Result<usize> {
                self.stream.try_read_vectored(bufs)
            }

            /// Reads the data that is there and appends it to `buf`, without waiting.
            #[doc = concat!("See [`", stringify!($stream), "::try_read_buf`].")]
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if there is nothing to read, and errors of the stream.
            pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
                self.stream.try_read_buf(buf)
            }
        }

        impl AsyncRead for $half {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.stream.io.$poll_read(cx, buf)
            }
        }

        impl AsRef<$stream> for $half {
            fn as_ref(&self) -> &$stream {
                &self.stream
            }
        }
    };
}

/// What borrowed and owned write halves share.
macro_rules! write_half {
    ($half:ty, $stream:ident, $addr:ty) => {
        impl $half {
            half_methods!($stream, $addr);

            /// Waits until a write would not block.
            #[doc = concat!("See [`", stringify!($stream), "::writable`].")]
            ///
            /// # Errors
            ///
            /// Returns an error if the runtime of this socket has been shut down.
            ///
            /// # Cancel safety
            ///
            /// This method is cancel safe.
            pub async fn writable(&self) -> io::Result<()> {
                self.stream.writable().await
            }

            /// Writes as much as there is room for, without waiting.
            #[doc = concat!("See [`", stringify!($stream), "::try_write`].")]
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if the send buffer is full, and errors of the stream.
            pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
                self.stream.try_write(buf)
            }

            /// Writes as much as there is room for from several buffers, without waiting.
            #[doc = concat!("See [`", stringify!($stream), "::try_write_vectored`].")]
            ///
            /// # Errors
            ///
            /// Returns `WouldBlock` if the send buffer is full, and errors of the stream.
            pub fn try_write_vectored(&self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
                self.stream.try_write_vectored(bufs)
            }
        }

        impl AsyncWrite for $half {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.stream.io.poll_send(cx, buf)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[io::IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.stream.io.poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(self.get_mut().shut_down())
            }
        }

        impl AsRef<$stream> for $half {
            fn as_ref(&self) -> &$stream {
                &self.stream
            }
        }
    };
}

/// What all halves share.
macro_rules! half_methods {
    ($stream:ident, $addr:ty) => {
        /// Waits until the stream is ready for some of `interest`.
        #[doc = concat!("See [`", stringify!($stream), "::ready`].")]
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime of this socket has been shut down.
        ///
        /// # Cancel safety
        ///
        /// This method is cancel safe.
        pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
            self.stream.ready(interest).await
        }

        /// Returns the address of the peer.
        ///
        /// # Errors
        ///
        /// Returns an error if the stream is not connected.
        pub fn peer_addr(&self) -> io::Result<$addr> {
            self.stream.peer_addr()
        }

        /// Returns the address of this end of the connection.
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        pub fn local_addr(&self) -> io::Result<$addr> {
            self.stream.local_addr()
        }
    };
}
