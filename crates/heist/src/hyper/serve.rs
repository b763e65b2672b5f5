//! `serve`: a server with a listener, a service and a graceful shutdown.

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

/// Serves HTTP/1 and HTTP/2 with a tower service, such as an axum `Router` or tonic's `Routes`.
///
/// The protocol is detected for each connection. Every connection, and every HTTP/2 request, is a
/// task on the current runtime.
///
/// Connections are kept alive and may be upgraded. One that is broken or violates the protocol ends
/// alone, and so does one that takes more than 30 seconds for the head of a request. If no
/// connection can be accepted, for example because the process has no file descriptors left, the
/// server pauses and retries. It reports that once, on stderr or, with the feature `tracing`, as an
/// event.
///
/// # Examples
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

/// The type of the handshake of plain connections.
type Plain<L> = fn(<L as Listener>::Stream) -> Ready<io::Result<<L as Listener>::Stream>>;

/// A server, created by [`serve`], which serves while it is awaited.
///
/// Dropping it closes the listener. Existing connections answer the requests that have begun, and
/// end.
#[must_use = "nothing is served unless it is awaited"]
pub struct Serve<L, S, H, G> {
    listener: L,
    service: S,
    handshake: H,
    signal: G,
}

impl<L: Listener, S, H, G> Serve<L, S, H, G> {
    /// Sets a function that is applied to each connection before it is served, such as a TLS
    /// handshake.
    ///
    /// It runs in the task of the connection, which is closed if that takes more than 30 seconds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use ::hyper::{Request, Response, body::Incoming};
    /// # use heist::net::{TcpListener, TcpStream};
    /// # use std::{convert::Infallible, future::{Ready, ready}, io, task::{Context, Poll}};
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
    /// # #[derive(Clone)]
    /// # struct TlsAcceptor;
    /// # impl TlsAcceptor {
    /// #     fn accept(&self, stream: TcpStream) -> Ready<io::Result<TcpStream>> {
    /// #         ready(Ok(stream))
    /// #     }
    /// # }
    /// # async fn serve(listener: TcpListener, acceptor: TlsAcceptor, router: Router) {
    /// // With a `tokio_rustls::TlsAcceptor`, for example:
    /// heist::hyper::serve(listener, router)
    ///     .with_handshake(move |stream| acceptor.accept(stream))
    ///     .await;
    /// # }
    /// # heist::runtime::Runtime::new()?.block_on(async {
    /// #     use heist::io::{AsyncReadExt, AsyncWriteExt};
    /// #     let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// #     let address = listener.local_addr()?;
    /// #     heist::spawn(serve(listener, TlsAcceptor, Router));
    /// #     let mut client = TcpStream::connect(address).await?;
    /// #     client.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
    /// #     let mut answer = String::new();
    /// #     client.read_to_string(&mut answer).await?;
    /// #     assert!(answer.ends_with("hello"), "{answer}");
    /// #     io::Result::Ok(())
    /// # })?;
    /// # Ok::<(), io::Error>(())
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

    /// Sets a future that ends the server when it completes.
    ///
    /// The listener is then closed, requests that have begun are answered, idle connections are
    /// closed, and the server completes when no connection is left. Use
    /// [`timeout`](crate::time::timeout) to limit how long that takes.
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
