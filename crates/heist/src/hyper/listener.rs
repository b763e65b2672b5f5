//! `Listener`: sources of connections, and what to do when they fail.

use crate::env::log;
use crate::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use crate::time::sleep;
use crate::tokio_parts::io::{AsyncRead, AsyncWrite};
use std::future::Future;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// The pause after a first failure, and the longest one. Guessed: the first is too short to be
/// noticed; the last costs nothing, and connections are still accepted soon after files are closed.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A source of connections for [`serve`](super::serve).
///
/// # Examples
///
/// ```
/// use heist::hyper::Listener;
/// use heist::net::{UnixListener, UnixStream};
/// use std::io;
///
/// /// Logs each connection.
/// struct Logged(UnixListener);
///
/// impl Listener for Logged {
///     type Stream = UnixStream;
///
///     async fn accept(&mut self) -> io::Result<UnixStream> {
///         let (stream, from) = self.0.accept().await?;
///         eprintln!("a connection from {from:?}");
///         Ok(stream)
///     }
/// }
/// # let _ = Logged;
/// ```
pub trait Listener: Send + 'static {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Waits for the next connection.
    ///
    /// An error does not end the server: [`serve`](super::serve) retries, after a pause unless the
    /// error concerns only this connection.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// Disables Nagle's algorithm, because answers are written in one piece.
impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // The connection may be broken already; the next read will return that error.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

impl Listener for UnixListener {
    type Stream = UnixStream;

    async fn accept(&mut self) -> io::Result<UnixStream> {
        UnixListener::accept(self).await.map(|(stream, _)| stream)
    }
}

/// A listener that never fails: after an error it waits and tries again.
pub(super) struct Patient<L> {
    listener: L,
    pause: Duration,
    said: log::Once,
}

impl<L: Listener> Patient<L> {
    pub(super) fn new(listener: L) -> Self {
        Patient { listener, pause: FIRST_PAUSE, said: log::Once::default() }
    }

    pub(super) async fn accept(&mut self) -> L::Stream {
        loop {
            match self.listener.accept().await {
                Ok(stream) => {
                    self.pause = FIRST_PAUSE;
                    return stream;
                }
                Err(error) if is_of_the_connection(&error) => {}
                // Probably no file descriptors or memory are left. The connection stays in the
                // queue, so trying again at once would keep a core busy.
                Err(error) => {
                    self.warn(&error);
                    sleep(self.pause).await;
                    self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    fn warn(&self, error: &io::Error) {
        self.said.warn(format_args!(
            "hyper::serve: no connection can be accepted: {error}. Those that wait are accepted as soon \
             as it is possible. If file descriptors are short, raise the limit (ulimit -n), or close \
             idle connections sooner. This is said once"
        ));
    }
}

/// Whether the connection ended before it was accepted.
fn is_of_the_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused
    )
}
