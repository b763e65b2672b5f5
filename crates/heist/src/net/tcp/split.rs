//! The halves of a TCP stream.

use super::TcpStream;
use crate::net::source;
use crate::reactor::io::{Interest, Ready};
use crate::tokio_parts::io::{AsyncRead, AsyncWrite, ReadBuf};
use bytes::BufMut;
use std::error::Error;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::{fmt, io};

halves!(TcpStream, SocketAddr, poll_recv);

/// Looking at what is there without taking it: Unix streams have nothing of the kind.
macro_rules! peek_methods {
    ($half:ty) => {
        impl $half {
            /// Waits for data, and copies it without taking it. See [`TcpStream::peek`].
            ///
            /// # Errors
            /// Those of the connection.
            pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.stream.peek(buf).await
            }

            /// The same for code without `async`. See [`TcpStream::poll_peek`].
            ///
            /// # Errors
            /// Those of the connection.
            pub fn poll_peek(
                &mut self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<usize>> {
                self.stream.poll_peek(cx, buf)
            }
        }
    };
}

peek_methods!(ReadHalf<'_>);
peek_methods!(OwnedReadHalf);
