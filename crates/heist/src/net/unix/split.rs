//! The halves of a `UnixStream`.

use super::{SocketAddr, UnixStream};
use crate::net::source;
use crate::reactor::io::{Interest, Ready};
use crate::tokio_parts::io::{AsyncRead, AsyncWrite, ReadBuf};
use bytes::BufMut;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::{fmt, io};

halves!(
    UnixStream,
    SocketAddr,
    poll_recv_all,
    "# let (mut stream, mut peer) = heist::net::UnixStream::pair()?;"
);
