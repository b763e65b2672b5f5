//! `Io`: hyper's I/O traits for types with tokio's, and the reverse.

use crate::tokio_parts::io::{AsyncRead, AsyncWrite, ReadBuf};
use ::hyper::rt;
use pin_project_lite::pin_project;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// Adapts a type with tokio's I/O traits to hyper's, and a type with hyper's traits, such as an
    /// upgraded connection, to tokio's.
    ///
    /// Nothing is copied: both read into the same memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::hyper::Io;
    /// use heist::io::{AsyncReadExt, AsyncWriteExt, duplex};
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let (near, mut far) = duplex(64);
    /// // Tokio's traits, as hyper's, as tokio's again.
    /// let mut near = Io::new(Io::new(near));
    /// near.write_all(b"through").await?;
    /// let mut bytes = [0; 7];
    /// far.read_exact(&mut bytes).await?;
    /// assert_eq!(&bytes, b"through");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    pub struct Io<T> {
        #[pin]
        inner: T,
    }
}

impl<T> Io<T> {
    /// Wraps a value.
    pub fn new(inner: T) -> Self {
        Io { inner }
    }

    /// Returns a reference to the wrapped value.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// Returns a mutable reference to the wrapped value.
    pub fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the wrapped value.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: AsyncRead> rt::Read for Io<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: (type) a ReadBuf, in safe code, never makes initialised bytes uninitialised.
        let memory = unsafe { cursor.as_mut() };
        let start: *const u8 = memory.as_ptr().cast();
        let mut buf = ReadBuf::uninit(memory);
        ready!(self.project().inner.poll_read(cx, &mut buf))?;
        let filled = buf.filled();
        assert_eq!(
            filled.as_ptr(),
            start,
            "AsyncRead::poll_read: it put another buffer in its place"
        );
        let count = filled.len();
        // SAFETY: (type) the filled part of a ReadBuf is initialised, and it begins at the cursor.
        unsafe { cursor.advance(count) };
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite> rt::Write for Io<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, bufs)
    }
}

impl<T: rt::Read> AsyncRead for Io<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: (type) safe code cannot uninitialise bytes through hyper's ReadBuf.
        let mut part = rt::ReadBuf::uninit(unsafe { buf.unfilled_mut() });
        ready!(self.project().inner.poll_read(cx, part.unfilled()))?;
        let filled = part.filled().len();
        // SAFETY: (type) hyper's ReadBuf began at the end of `buf`'s filled part, and its own
        // filled part is initialised.
        unsafe { buf.assume_init(filled) };
        buf.advance(filled);
        Poll::Ready(Ok(()))
    }
}

impl<T: rt::Write> AsyncWrite for Io<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, bufs)
    }
}
