//! The halves of a `TcpStream`.

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

halves!(
    TcpStream,
    SocketAddr,
    poll_recv,
    r#"# let listener = heist::net::TcpListener::bind("127.0.0.1:0").await?;
# let mut stream = heist::net::TcpStream::connect(listener.local_addr()?).await?;
# let mut peer = listener.accept().await?.0;"#
);

/// Methods that Unix streams do not have.
macro_rules! peek_methods {
    ($half:ty) => {
        impl $half {
            /// Waits for data and copies it without removing it; see [`TcpStream::peek`].
            ///
            /// # Errors
            ///
            /// Returns an error if the connection is broken.
            ///
            /// # Cancel safety
            ///
            /// This method is cancel safe: no data is removed.
            pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.stream.peek(buf).await
            }

            /// Polls for data and copies it without removing it; see [`TcpStream::poll_peek`].
            ///
            /// # Errors
            ///
            /// Returns an error if the connection is broken.
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
