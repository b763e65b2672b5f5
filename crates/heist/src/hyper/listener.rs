//! Where connections come from, and what to do when none can be had.

use crate::env::log;
use crate::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use crate::time::sleep;
use crate::tokio_parts::io::{AsyncRead, AsyncWrite};
use std::future::Future;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// How long to wait after a first failure, and at most. Guessed: the first is short enough not to be
/// noticed, the last costs nothing and still takes connections soon after files are closed.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Something that accepts connections, for [`serve`](super::serve).
pub trait Listener: Send + 'static {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next connection.
    ///
    /// An error is no reason to stop: [`serve`](super::serve) tries again, after a pause unless the
    /// error is one of the connection alone.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// Without Nagle's delay: answers are written in one piece.
impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // It may be broken already. Whoever reads from it will see.
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

/// A listener that never fails: where no connection can be had, it waits and tries again.
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
                // No file descriptors or no memory are left, most likely. The connection stays in the
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

/// Whether it was over before it was accepted.
fn is_of_the_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused
    )
}
