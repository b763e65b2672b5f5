//! A server: a listener, a service, and how it ends.

use super::connection::Connections;
use super::listener::{Listener, Patient};
use crate::tokio_parts::io::{AsyncRead, AsyncWrite};
use crate::tokio_parts::select;
use ::hyper::body::{Body, Incoming};
use ::hyper::{Request, Response};
use std::error::Error;
use std::fmt;
use std::future::{Future, IntoFuture, Pending, Ready, pending, ready};
use std::io;
use std::pin::{Pin, pin};
use tower_service::Service;

/// Serves HTTP/1 and HTTP/2, whichever a client begins with, by a tower service: an axum `Router`,
/// tonic's `Routes` … Every connection is a task on the workers of the current runtime, every request
/// of HTTP/2 too.
///
/// Connections are kept alive and may be upgraded. One that is broken, or talks nonsense, ends alone;
/// one that takes more than 30 seconds for the head of a request ends too. Where no connection can be
/// accepted, because the process has no file descriptors left, say, the server waits a little and
/// tries again; it says so once, on stderr, or as an event with the feature `tracing`.
///
/// ```
/// # use ::hyper::{Request, Response, body::Incoming};
/// # use std::{convert::Infallible, future::{Ready, ready}, task::{Context, Poll}};
/// # #[derive(Clone)]
/// # struct Router;
/// # impl tower_service::Service<Request<Incoming>> for Router {
/// #     type Response = Response<String>;
/// #     type Error = Infallible;
/// #     type Future = Ready<Result<Self::Response, Infallible>>;
/// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
/// #         Poll::Ready(Ok(()))
/// #     }
/// #     fn call(&mut self, _: Request<Incoming>) -> Self::Future {
/// #         ready(Ok(Response::new("hello".into())))
/// #     }
/// # }
/// # impl Router {
/// #     fn new() -> Self { Router }
/// #     fn route(self, _: &str, _: ()) -> Self { self }
/// # }
/// # fn get(_: impl Fn() -> Ready<&'static str>) {}
/// # fn hello() -> Ready<&'static str> { ready("hello") }
/// use heist::net::TcpListener;
/// use heist::sync::oneshot;
/// # use heist::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
///
/// # fn main() -> std::io::Result<()> { heist::runtime::Runtime::new()?.block_on(async {
/// let router = Router::new().route("/", get(hello));
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// # let address = listener.local_addr()?;
/// let (stop, stopped) = oneshot::channel::<()>();
/// let server = heist::hyper::serve(listener, router)
///     .with_graceful_shutdown(async { drop(stopped.await) });
/// let server = heist::spawn(server.into_future());
///
/// # let mut client = TcpStream::connect(address).await?;
/// # client.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
/// # let mut answer = String::new();
/// # client.read_to_string(&mut answer).await?;
/// # assert!(answer.ends_with("hello"), "{answer}");
/// stop.send(()).unwrap();
/// server.await?;
/// # Ok(()) }) }
/// ```
pub fn serve<L, S, B>(listener: L, service: S) -> Serve<L, S, Plain<L>, Pending<()>>
where
    L: Listener,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
{
    let handshake: Plain<L> = |stream| ready(Ok(stream));
    Serve { listener, service, handshake, signal: pending() }
}

/// The handshake of connections that have none.
type Plain<L> = fn(<L as Listener>::Stream) -> Ready<io::Result<<L as Listener>::Stream>>;

/// A server, made by [`serve`]. It serves while it is awaited. If it is dropped it takes no more
/// connections; those that there are answer what has been asked, and end.
#[must_use = "nothing is served unless it is awaited"]
pub struct Serve<L, S, H, G> {
    listener: L,
    service: S,
    handshake: H,
    signal: G,
}

impl<L: Listener, S, H, G> Serve<L, S, H, G> {
    /// What becomes of a connection before it is served: TLS, mostly. Each does it in its own task,
    /// and one that has not done it after 30 seconds is closed.
    ///
    /// ```ignore
    /// let acceptor = tokio_rustls::TlsAcceptor::from(config);
    /// serve(listener, router).with_handshake(move |stream| acceptor.accept(stream)).await;
    /// ```
    pub fn with_handshake<I, F, T>(self, handshake: I) -> Serve<L, S, I, G>
    where
        I: FnMut(L::Stream) -> F + Send + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Serve { listener, service, signal, .. } = self;
        Serve { listener, service, handshake, signal }
    }

    /// Ends the server when `signal` is ready: the listener is closed, requests that have begun are
    /// answered, connections that wait for a request are closed, and when none is left the server is
    /// done. To bound that, put the server into a [`timeout`](crate::time::timeout).
    pub fn with_graceful_shutdown<F>(self, signal: F) -> Serve<L, S, H, F>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Serve { listener, service, handshake, .. } = self;
        Serve { listener, service, handshake, signal }
    }
}

impl<L, S, B, H, F, T, G> IntoFuture for Serve<L, S, H, G>
where
    L: Listener,
    H: FnMut(L::Stream) -> F + Send + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    G: Future<Output = ()> + Send + 'static,
{
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Serve { listener, service, mut handshake, signal } = self;
        Box::pin(async move {
            let connections = Connections::new();
            let mut listener = Patient::new(listener);
            let mut signal = pin!(signal);
            loop {
                let stream = select! {
                    biased;
                    () = signal.as_mut() => break,
                    stream = listener.accept() => stream,
                };
                connections.add(handshake(stream), service.clone());
            }
            drop(listener);
            connections.close().await;
        })
    }
}

impl<L, S, H, G> fmt::Debug for Serve<L, S, H, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve").finish_non_exhaustive()
    }
}
