//! The connections of a server.

use super::{Executor, Io, Timer};
use crate::time::timeout;
use crate::tokio_parts::io::{AsyncRead, AsyncWrite};
use crate::tokio_parts::select;
use crate::tokio_parts::sync::watch;
use ::hyper::body::{Body, Incoming};
use ::hyper::{Request, Response};
use hyper_util::server::conn::auto::{self, UpgradeableConnection};
use hyper_util::service::TowerToHyperService;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::time::Duration;
use tower_service::Service;

/// Timeout of a handshake, such as that of TLS. Guessed: as long as hyper waits for the head of a
/// request.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// The connections of a server, each in a task of its own.
pub(super) struct Connections {
    http: auto::Builder<Executor>,
    /// The connections have its receivers. A message means that they should answer the requests
    /// that have begun, and end.
    closing: watch::Sender<()>,
}

impl Connections {
    pub(super) fn new() -> Self {
        let mut http = auto::Builder::new(Executor);
        http.http1().timer(Timer);
        http.http2().timer(Timer);
        Connections { http, closing: watch::Sender::new(()) }
    }

    /// Serves the stream that `handshake` returns. Errors end only this connection.
    pub(super) fn add<F, T, S, B>(&self, handshake: F, service: S)
    where
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let http = self.http.clone();
        let mut closing = self.closing.subscribe();
        crate::task::spawn(async move {
            let stream = select! {
                biased;
                _ = closing.changed() => return,
                stream = timeout(HANDSHAKE, handshake) => stream,
            };
            if let Ok(Ok(stream)) = stream {
                let service = TowerToHyperService::new(service);
                let connection = http.serve_connection_with_upgrades(Io::new(stream), service);
                drive(pin!(connection), closing).await;
            }
        });
    }

    /// Ends all connections, and waits until they have ended.
    pub(super) async fn close(self) {
        let _ = self.closing.send(());
        self.closing.closed().await;
    }
}

/// Runs a connection to its end, and shuts it down gracefully when `closing` changes or is closed.
///
/// The notice is polled once, which registers the task's waker. Afterwards only its version number
/// is checked; polling it each time would take locks that all connections share.
async fn drive<S, B, T>(
    mut connection: Pin<&mut UpgradeableConnection<'_, Io<T>, TowerToHyperService<S>, Executor>>,
    mut closing: watch::Receiver<()>,
) where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let number = closing.clone();
    let mut notice = pin!(closing.changed());
    let (mut is_asked_for, mut is_closing) = (false, false);
    let end = poll_fn(|cx| {
        if !is_closing && (!is_asked_for || number.has_changed().unwrap_or(true)) {
            is_asked_for = true;
            if notice.as_mut().poll(cx).is_ready() {
                is_closing = true;
                connection.as_mut().graceful_shutdown();
            }
        }
        connection.as_mut().poll(cx)
    });
    // Errors of a client are not the server's concern.
    let _ = end.await;
}
