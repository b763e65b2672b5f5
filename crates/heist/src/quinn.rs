//! Adapters that run [quinn], a QUIC implementation, on heist. Requires the feature `quinn`.
//!
//! [`Runtime`] implements `quinn::Runtime`, which `quinn::Endpoint::new` takes.
//!
//! # Examples
//!
//! ```
//! use heist::quinn::Runtime;
//! use quinn::{Endpoint, EndpointConfig};
//! use std::net::UdpSocket;
//! use std::sync::Arc;
//!
//! /// Makes an endpoint for clients.
//! fn endpoint(config: EndpointConfig) -> std::io::Result<Endpoint> {
//!     let socket = UdpSocket::bind("127.0.0.1:0")?;
//!     let server = None;
//!     Endpoint::new(config, server, socket, Arc::new(Runtime))
//! }
//! # struct Key;
//! # impl quinn::crypto::HmacKey for Key {
//! #     fn sign(&self, _: &[u8], _: &mut [u8]) {}
//! #     fn signature_len(&self) -> usize { 32 }
//! #     fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), quinn::crypto::CryptoError> { Ok(()) }
//! # }
//! # heist::runtime::Runtime::new()?.block_on(async {
//! #     let endpoint = endpoint(EndpointConfig::new(Arc::new(Key)))?;
//! #     assert_ne!(endpoint.local_addr()?.port(), 0);
//! #     endpoint.wait_idle().await;
//! #     std::io::Result::Ok(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! With one of quinn's crypto features, `EndpointConfig::default()` makes the configuration.

use crate::io::Interest;
use crate::net::UdpSocket;
use crate::time::{self, Sleep, sleep_until};
use ::quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use ::quinn::{AsyncTimer, AsyncUdpSocket, UdpPoller};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

/// Provides tasks, timers and sockets of heist to quinn. Endpoints must be made in a heist runtime.
#[derive(Debug, Clone, Copy, Default)]
pub struct Runtime;

impl ::quinn::Runtime for Runtime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(Timer { sleep: sleep_until(deadline.into()) })
    }

    #[track_caller]
    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        drop(crate::task::spawn(future));
    }

    fn wrap_udp_socket(&self, socket: std::net::UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Arc::new(Socket { io: UdpSocket::from_std(socket)?, state }))
    }

    fn now(&self) -> Instant {
        time::Instant::now().into_std()
    }
}

pin_project! {
    #[derive(Debug)]
    struct Timer {
        #[pin]
        sleep: Sleep,
    }
}

impl AsyncTimer for Timer {
    fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.project().sleep.reset(deadline.into());
    }

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().sleep.poll(cx)
    }
}

#[derive(Debug)]
struct Socket {
    io: UdpSocket,
    /// What the system can do for many datagrams at once.
    state: UdpSocketState,
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable { socket: self, wait: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let send = || self.state.send((&self.io).into(), transmit);
        self.io.try_io(Interest::WRITABLE, send)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            let receive = || self.state.recv((&self.io).into(), bufs, meta);
            match self.io.try_io(Interest::READABLE, receive) {
                Err(error) if is_passing(&error) => {}
                received => return Poll::Ready(received),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

/// Whether the endpoint can go on receiving: nothing has arrived, or the error concerns one peer.
/// quinn closes the whole endpoint on any other error.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
    )
}

/// Waits until a socket can be written to. Each connection has a `Writable` of its own, and the
/// socket wakes all of them.
struct Writable {
    socket: Arc<Socket>,
    wait: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>>,
}

impl UdpPoller for Writable {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let wait = this.wait.get_or_insert_with(|| {
            let socket = Arc::clone(&this.socket);
            Box::pin(async move { socket.io.writable().await })
        });
        let result = ready!(wait.as_mut().poll(cx));
        this.wait = None;
        Poll::Ready(result)
    }
}

impl fmt::Debug for Writable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writable").field("socket", &self.socket).finish_non_exhaustive()
    }
}
