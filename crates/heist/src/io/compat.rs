//! Adapters between the I/O traits of tokio and those of the [`futures-io`](futures_io) crate.
//! Requires the feature `futures-io`.
//!
//! heist's types implement the traits of the tokio crate. Other libraries use
//! [`futures_io::AsyncRead`] and related traits.
//!
//! | adapter | wraps | for |
//! |---|---|---|
//! | [`FuturesIo`] | a type with tokio's traits, such as `File` or `TcpStream` | libraries that use the traits of futures-io |
//! | [`TokioIo`] | a type with the traits of futures-io | libraries that use tokio's traits, and [`io`](crate::io) |
//!
//! heist's types do not implement both: code that imports the extension traits of both crates could
//! then no longer call `file.read(…)`, and a seek needs a place to store its target.
//!
//! # Examples
//!
//! ```
//! use futures_util::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
//! use heist::fs::File;
//! use heist::io::compat::FuturesIo;
//! use std::io::SeekFrom;
//!
//! # #[heist::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("file");
//! let mut file = FuturesIo::new(File::create_new(path).await?);
//! file.write_all(b"either or").await?;
//! file.seek(SeekFrom::Start(7)).await?;
//! let mut rest = String::new();
//! file.read_to_string(&mut rest).await?;
//! assert_eq!(rest, "or");
//! # Ok(())
//! # }
//! ```

use super::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use pin_project_lite::pin_project;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// Adapts a type with tokio's traits to the traits of [`futures_io`].
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::io::AsyncReadExt;
    /// use heist::fs::File;
    /// use heist::io::compat::FuturesIo;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut file = FuturesIo::new(File::open("Cargo.toml").await?);
    /// let mut start = [0; 9];
    /// file.read_exact(&mut start).await?;
    /// assert_eq!(&start, b"[package]");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone)]
    pub struct FuturesIo<T> {
        #[pin]
        inner: T,
        // The target of a seek in progress. Cleared by the next operation of another kind, because
        // the seek has then been done, and a later one with the same target is new.
        seeking: Option<SeekFrom>,
    }
}

impl<T> FuturesIo<T> {
    /// Wraps a value.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::io::AsyncWriteExt;
    /// use heist::fs::File;
    /// use heist::io::compat::FuturesIo;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("file");
    /// let mut file = FuturesIo::new(File::create(path).await?);
    /// file.write_all(b"hello").await?;
    /// file.close().await?;
    /// assert_eq!(file.get_ref().metadata().await?.len(), 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(inner: T) -> Self {
        FuturesIo { inner, seeking: None }
    }

    /// Returns a reference to the wrapped value.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Returns a mutable reference to the wrapped value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the wrapped value.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// What is wrapped, for an operation other than a seek.
    fn inner(self: Pin<&mut Self>) -> Pin<&mut T> {
        let this = self.project();
        *this.seeking = None;
        this.inner
    }
}

impl<T: AsyncRead> futures_io::AsyncRead for FuturesIo<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(room);
        ready!(self.inner().poll_read(cx, &mut room))?;
        Poll::Ready(Ok(room.filled().len()))
    }
}

impl<T: AsyncBufRead> futures_io::AsyncBufRead for FuturesIo<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.inner().poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.inner().consume(count);
    }
}

impl<T: AsyncWrite> futures_io::AsyncWrite for FuturesIo<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write_vectored(cx, slices)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(cx)
    }
}

impl<T: AsyncSeek> futures_io::AsyncSeek for FuturesIo<T> {
    fn poll_seek(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        let mut this = self.project();
        if *this.seeking != Some(to) {
            // The operation in progress must end first. If it is a seek that nothing waits for, its
            // result does not matter.
            let _ = ready!(this.inner.as_mut().poll_complete(cx));
            this.inner.as_mut().start_seek(to)?;
            *this.seeking = Some(to);
        }
        let position = ready!(this.inner.poll_complete(cx));
        *this.seeking = None;
        Poll::Ready(position)
    }
}

pin_project! {
    /// Adapts a type with the traits of [`futures_io`] to tokio's traits.
    ///
    /// ```
    /// use futures_util::io::Cursor;
    /// use heist::io::compat::TokioIo;
    /// use heist::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut file = TokioIo::new(Cursor::new(Vec::new()));
    /// file.write_all(b"either or").await?;
    /// file.seek(SeekFrom::Start(7)).await?;
    /// let mut rest = String::new();
    /// file.read_to_string(&mut rest).await?;
    /// assert_eq!(rest, "or");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone)]
    pub struct TokioIo<T> {
        #[pin]
        inner: T,
        // Where a seek leads that was begun and has not been waited for.
        seeking: Option<SeekFrom>,
        // Where the last seek has led.
        position: u64,
    }
}

impl<T> TokioIo<T> {
    /// Wraps a value.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::AsyncReadExt;
    /// use heist::io::compat::TokioIo;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// // A reader of futures-io.
    /// let mut reader = TokioIo::new(futures_util::io::Cursor::new(b"hello"));
    /// let mut text = String::new();
    /// reader.read_to_string(&mut text).await?;
    /// assert_eq!((text.as_str(), reader.into_inner().position()), ("hello", 5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(inner: T) -> Self {
        TokioIo { inner, seeking: None, position: 0 }
    }

    /// Returns a reference to the wrapped value.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Returns a mutable reference to the wrapped value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the wrapped value.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: futures_io::AsyncRead> AsyncRead for TokioIo<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = ready!(self.project().inner.poll_read(cx, room.initialize_unfilled()))?;
        room.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<T: futures_io::AsyncBufRead> AsyncBufRead for TokioIo<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.project().inner.consume(count);
    }
}

/// Slices are passed on, but [`is_write_vectored`](AsyncWrite::is_write_vectored) is `false`,
/// because the wrapped type does not tell.
impl<T: futures_io::AsyncWrite> AsyncWrite for TokioIo<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, slices)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_close(cx)
    }
}

impl<T: futures_io::AsyncSeek> AsyncSeek for TokioIo<T> {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        *self.project().seeking = Some(to);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let this = self.project();
        if let Some(to) = *this.seeking {
            let sought = ready!(this.inner.poll_seek(cx, to));
            *this.seeking = None;
            *this.position = sought?;
        }
        Poll::Ready(Ok(*this.position))
    }
}
