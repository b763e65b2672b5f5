//! An axum `Router` on heist: HTTP/1 with a connection that is kept alive, HTTP/2, and an end at
//! which nobody is cut off.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use heist::hyper::{Executor, Io, serve};
use heist::net::{TcpListener, TcpStream};
use heist::sync::{Notify, oneshot};
use heist::time::{Duration, sleep};
use http_body_util::{BodyExt, Empty};
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

type BoxError = Box<dyn Error + Send + Sync>;

async fn hello(Path(name): Path<String>) -> String {
    format!("hello, {name}")
}

async fn slow(State(begun): State<Arc<Notify>>) -> &'static str {
    begun.notify_one();
    sleep(Duration::from_millis(50)).await;
    "worth the wait"
}

#[heist::main]
pub async fn main() -> Result<(), BoxError> {
    let begun = Arc::new(Notify::new());
    let router = Router::new().route("/hello/{name}", get(hello)).route("/slow", get(slow));
    let router = router.with_state(Arc::clone(&begun));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let server = serve(listener, router).with_graceful_shutdown(async { drop(stopped.await) });
    let server = heist::spawn(server.into_future());

    let mut http1 = connect_http1(address).await?;
    for name in ["you", "you again"] {
        let path = format!("/hello/{}", name.replace(' ', "%20"));
        let answer = http1.send_request(get_request(address, &path)?).await?;
        assert_eq!(text(answer).await?, format!("hello, {name}"));
        println!("HTTP/1.1, the same connection: hello, {name}");
        http1.ready().await?;
    }

    // Requests of HTTP/2 share a connection, and do not wait for each other.
    let http2 = connect_http2(address).await?;
    let ask = |path: &str| {
        let request = get_request(address, path);
        let mut sender = http2.clone();
        heist::spawn(async move { text(sender.send_request(request?).await?).await })
    };
    let (late, soon) = (ask("/slow"), ask("/hello/you"));
    println!("HTTP/2: {}", soon.await??);
    begun.notified().await;

    stop.send(()).expect("the server waits for it");
    // The answer that is on its way arrives, although the server takes no more connections.
    assert_eq!(late.await??, "worth the wait");
    server.await?;
    assert!(TcpStream::connect(address).await.is_err());
    println!("the server has ended");
    Ok(())
}

async fn connect_http1(to: SocketAddr) -> Result<http1::SendRequest<Empty<Bytes>>, BoxError> {
    let stream = TcpStream::connect(to).await?;
    let (sender, connection) = http1::handshake(Io::new(stream)).await?;
    heist::spawn(connection);
    Ok(sender)
}

async fn connect_http2(to: SocketAddr) -> Result<http2::SendRequest<Empty<Bytes>>, BoxError> {
    let stream = TcpStream::connect(to).await?;
    let (sender, connection) = http2::handshake(Executor, Io::new(stream)).await?;
    heist::spawn(connection);
    Ok(sender)
}

fn get_request(host: SocketAddr, path: &str) -> Result<hyper::Request<Empty<Bytes>>, BoxError> {
    Ok(hyper::Request::get(format!("http://{host}{path}")).body(Empty::new())?)
}

async fn text(answer: Response<Incoming>) -> Result<String, BoxError> {
    Ok(String::from_utf8(answer.into_body().collect().await?.to_bytes().into())?)
}
