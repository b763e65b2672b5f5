//! hyper's HTTP/1 server on a stream of any runtime.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub const GREETING: &str = "Hello, World!";

/// Ends with the connection, however that ends: the clients know whether anything is missing.
pub async fn hello(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let _ = http1::Builder::new().serve_connection(Adapted::new(stream), service_fn(greet)).await;
}

async fn greet(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(GREETING.as_bytes()))))
}

/// A stream as hyper wants it.
///
/// What is read goes through a buffer of its own: hyper's is not initialised, and filling it
/// where it is takes unsafe code. The copy costs all sides the same few nanoseconds.
struct Adapted<S> {
    stream: S,
    buffer: Box<[u8]>,
}

/// The size of hyper's first read.
const BUFFER: usize = 8 * 1024;

impl<S> Adapted<S> {
    fn new(stream: S) -> Self {
        Adapted { stream, buffer: vec![0; BUFFER].into() }
    }
}

impl<S: AsyncRead + Unpin> Read for Adapted<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let Adapted { stream, buffer } = self.get_mut();
        let room = cursor.remaining().min(buffer.len());
        let mut buffer = ReadBuf::new(&mut buffer[..room]);
        ready!(Pin::new(stream).poll_read(context, &mut buffer))?;
        cursor.put_slice(buffer.filled());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Write for Adapted<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }
}
