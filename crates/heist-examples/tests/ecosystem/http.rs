//! What a server does for clients that behave.

use crate::support::{Server, ask, ask2, connect, hello, http1, http2, request, runtime, talk};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use heist::hyper::{Io, Listener, serve};
use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use heist::sync::Notify;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, StatusCode};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts connections.
struct Counting {
    listener: TcpListener,
    accepted: Arc<AtomicUsize>,
}

impl Listener for Counting {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _) = self.listener.accept().await?;
        self.accepted.fetch_add(1, Ordering::SeqCst);
        Ok(stream)
    }
}

#[test]
fn a_connection_is_kept_alive() {
    runtime().block_on(async {
        let accepted = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = Counting { listener, accepted: accepted.clone() };
        heist::spawn(serve(listener, hello()).into_future());

        let mut sender = http1(connect(address).await).await;
        for _ in 0..20 {
            assert_eq!(ask(&mut sender, "/").await, (200, "hello".into()));
        }
        assert_eq!(ask(&mut sender, "/nowhere").await.0, 404);
        assert_eq!(accepted.load(Ordering::SeqCst), 1);
    });
}

/// A request that waits for another one of its connection: they run side by side.
#[test]
fn requests_of_http2_share_a_connection_and_do_not_wait_for_each_other() {
    let meeting = Arc::new(Notify::new());
    let (wait, go) = (meeting.clone(), meeting);
    let router = Router::new()
        .route("/wait", get(|| async move { wait.notified().await }))
        .route("/go", get(|| async move { go.notify_one() }));
    runtime().block_on(async {
        let server = Server::start(router).await;
        let sender = http2(connect(server.address).await).await;
        let waits = heist::spawn(ask2(sender.clone(), "/wait"));
        assert_eq!(ask2(sender, "/go").await.0, 200);
        assert_eq!(waits.await.unwrap().0, 200);
    });
}

/// More than fits into any buffer, there and back, by both versions.
#[test]
fn long_bodies_arrive_whole() {
    let echo = Router::new().route("/", post(|body: Bytes| async move { body }));
    let echo = echo.layer(DefaultBodyLimit::disable());
    let sent: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let request = |body: &[u8]| {
        let request = Request::post("http://localhost/").header("host", "localhost");
        request.body(Full::new(Bytes::copy_from_slice(body))).unwrap()
    };
    runtime().block_on(async {
        let server = Server::start(echo).await;
        let stream = Io::new(connect(server.address).await);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
        heist::spawn(connection);
        let answer = sender.send_request(request(&sent)).await.unwrap();
        assert!(answer.into_body().collect().await.unwrap().to_bytes() == sent);

        let stream = Io::new(connect(server.address).await);
        let handshake = hyper::client::conn::http2::handshake(heist::hyper::Executor, stream);
        let (mut sender, connection) = handshake.await.unwrap();
        heist::spawn(connection);
        let answer = sender.send_request(request(&sent)).await.unwrap();
        assert!(answer.into_body().collect().await.unwrap().to_bytes() == sent);
    });
}

/// A body that comes in pieces, each of which waits for the client to have seen the one before.
#[test]
fn what_is_written_is_sent_at_once() {
    let seen = Arc::new(Notify::new());
    let may_go_on = seen.clone();
    let pieces = move || async move {
        let pieces = futures_util::stream::unfold(0, move |number| {
            let may_go_on = may_go_on.clone();
            async move {
                if number > 0 {
                    may_go_on.notified().await;
                }
                (number < 5).then(|| (Ok::<_, io::Error>(format!("piece {number}")), number + 1))
            }
        });
        Body::from_stream(pieces)
    };
    runtime().block_on(async {
        let server = Server::start(Router::new().route("/", get(pieces))).await;
        let mut sender = http1(connect(server.address).await).await;
        let mut body = sender.send_request(request("/")).await.unwrap().into_body();
        for number in 0..5 {
            let piece = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(piece, format!("piece {number}"));
            seen.notify_one();
        }
        assert!(body.frame().await.is_none());
    });
}

/// hyper hands the socket back, and it is read and written by tokio's traits.
#[test]
fn a_connection_can_be_upgraded() {
    async fn upgrade(mut request: Request<Body>) -> Response<Body> {
        let upgraded = hyper::upgrade::on(&mut request);
        heist::spawn(async move {
            let (mut reader, mut writer) = heist::io::split(Io::new(upgraded.await.unwrap()));
            heist::io::copy(&mut reader, &mut writer).await.unwrap();
            writer.shutdown().await.unwrap();
        });
        let answer = Response::builder().status(StatusCode::SWITCHING_PROTOCOLS);
        answer
            .header("connection", "upgrade")
            .header("upgrade", "echo")
            .body(Body::empty())
            .unwrap()
    }
    runtime().block_on(async {
        let server = Server::start(Router::new().route("/", get(upgrade))).await;
        let head = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
        // The first bytes of the new protocol come with the head: hyper has read them already.
        let mut answer = talk(server.address, format!("{head}first").as_bytes()).await;
        let body =
            answer.split_off(answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4);
        assert!(answer.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&answer));
        assert_eq!(body, b"first");
    });
}

#[test]
fn unix_sockets_are_served_too() {
    let directory = std::env::temp_dir().join(format!("heist-http-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("socket");
    runtime().block_on(async {
        let listener = UnixListener::bind(&path).unwrap();
        heist::spawn(serve(listener, hello()).into_future());
        let mut sender = http1(UnixStream::connect(&path).await.unwrap()).await;
        assert_eq!(ask(&mut sender, "/").await, (200, "hello".into()));
    });
    std::fs::remove_dir_all(&directory).unwrap();
}

/// One byte at a time, and each has been on its way before the next is written.
#[test]
fn a_slow_client_is_served() {
    runtime().block_on(async {
        let server = Server::hello().await;
        let mut stream = connect(server.address).await;
        stream.set_nodelay(true).unwrap();
        for byte in b"GET / HTTP/1.0\r\n\r\n" {
            stream.write_all(&[*byte]).await.unwrap();
            heist::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("hello"), "{answer}");
    });
}
