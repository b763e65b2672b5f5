//! What the table of crates in the repository's README says: which work as they are, and which call
//! Tokio's runtime. What stands there of axum, hyper, rustls, tungstenite and quinn is tested in
//! the other modules, without a Tokio runtime; of reqwest and sqlx, with one.

use crate::support::{connect, request, runtime, runtime_with_tokio};
use futures_util::SinkExt;
use heist::net::{TcpListener, TcpStream};
use std::convert::Infallible;
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio_stream::StreamExt;
use tokio_util::codec::{Framed, LinesCodec};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::time::DelayQueue;
use tower::timeout::Timeout;
use tower::{Service, ServiceExt, service_fn};

const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(1);

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (accepted, client) =
        heist::join!(listener.accept(), connect(listener.local_addr().unwrap()));
    (accepted.unwrap().0, client)
}

/// Runs in a runtime with a Tokio runtime beside it, and panics without: it calls that by name.
fn assert_needs_tokio<F: Future<Output = ()>>(work: impl Fn() -> F) {
    let without = catch_unwind(AssertUnwindSafe(|| runtime().block_on(work()))).unwrap_err();
    let message = without.downcast_ref::<&str>().map_or_else(
        || without.downcast_ref::<String>().cloned().unwrap_or_default(),
        ToString::to_string,
    );
    assert!(message.contains("Tokio 1.x runtime"), "{message}");
    runtime_with_tokio().block_on(work());
}

#[test]
fn codecs_of_tokio_util_take_our_sockets() {
    runtime().block_on(async {
        let (one, other) = pair().await;
        let mut lines = Framed::new(one, LinesCodec::new());
        let mut echo = Framed::new(other, LinesCodec::new());
        let answers = heist::spawn(async move {
            while let Some(line) = echo.next().await {
                echo.send(format!("{} again", line.unwrap())).await.unwrap();
            }
        });
        lines.send("hello").await.unwrap();
        assert_eq!(lines.next().await.unwrap().unwrap(), "hello again");
        drop(lines);
        answers.await.unwrap();
    });
}

#[test]
fn cancellation_tokens_need_no_runtime() {
    runtime().block_on(async {
        let token = CancellationToken::new();
        let waits = heist::spawn(token.child_token().cancelled_owned());
        token.cancel();
        waits.await.unwrap();
    });
}

#[test]
fn a_task_tracker_that_does_not_spawn_needs_no_runtime() {
    runtime().block_on(async {
        let tracker = TaskTracker::new();
        let task = heist::spawn(tracker.track_future(async { 7 }));
        tracker.close();
        tracker.wait().await;
        assert_eq!(task.await.unwrap(), 7);
    });
}

#[test]
fn a_task_tracker_spawns_on_tokio() {
    assert_needs_tokio(|| async {
        let tracker = TaskTracker::new();
        let task = tracker.spawn(async { 7 });
        tracker.close();
        tracker.wait().await;
        assert_eq!(task.await.unwrap(), 7);
    });
}

#[test]
fn delay_queues_take_tokios_time() {
    assert_needs_tokio(|| async {
        let mut queue = DelayQueue::new();
        queue.insert("soon", SHORT);
        assert_eq!(queue.next().await.unwrap().into_inner(), "soon");
    });
}

#[test]
fn combinators_of_tokio_stream_need_no_runtime() {
    runtime().block_on(async {
        let numbers = tokio_stream::iter(0..10);
        let odd = numbers.filter(|number| number % 2 == 1);
        assert_eq!(odd.collect::<Vec<_>>().await, [1, 3, 5, 7, 9]);
    });
}

#[test]
fn timeouts_of_streams_take_tokios_time() {
    assert_needs_tokio(|| async {
        let mut numbers = Box::pin(tokio_stream::iter([7]).timeout(LONG));
        assert_eq!(numbers.next().await.unwrap(), Ok(7));
        let mut never = Box::pin(tokio_stream::pending::<()>().timeout(SHORT));
        never.next().await.unwrap().unwrap_err();
    });
}

#[test]
fn timeouts_of_tower_take_tokios_time() {
    assert_needs_tokio(|| async {
        let answers = service_fn(|()| ready(Ok::<_, Infallible>(7)));
        assert_eq!(Timeout::new(answers, LONG).oneshot(()).await.unwrap(), 7);
        let hangs = service_fn(|()| pending::<Result<(), Infallible>>());
        Timeout::new(hangs, SHORT).oneshot(()).await.unwrap_err();
    });
}

#[test]
fn buffers_of_tower_spawn_on_tokio() {
    assert_needs_tokio(|| async {
        let answers = service_fn(|()| ready(Ok::<_, Infallible>(7)));
        let mut buffer = tower::buffer::Buffer::new(answers, 1);
        assert_eq!(buffer.ready().await.unwrap().call(()).await.unwrap(), 7);
    });
}

/// It opens the socket itself, where `client_async` is given one.
#[test]
fn connecting_by_tungstenite_takes_tokios_sockets() {
    assert_needs_tokio(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/", listener.local_addr().unwrap());
        let server = heist::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            tokio_tungstenite::accept_async(stream).await.unwrap();
        });
        tokio_tungstenite::connect_async(url).await.unwrap();
        server.await.unwrap();
    });
}

#[test]
fn h2_takes_our_sockets() {
    runtime().block_on(async {
        let (one, other) = pair().await;
        let server = heist::spawn(async move {
            let mut connection = h2::server::handshake(other).await.unwrap();
            while let Some(asked) = connection.accept().await {
                let (_, mut respond) = asked.unwrap();
                let mut body = respond.send_response(hyper::Response::new(()), false).unwrap();
                body.send_data("hello".into(), true).unwrap();
            }
        });
        let (sender, connection) = h2::client::handshake(one).await.unwrap();
        let connection = heist::spawn(connection);
        let mut sender = sender.ready().await.unwrap();
        let (answer, _) = sender.send_request(request("/").map(drop), true).unwrap();
        let mut body = answer.await.unwrap().into_body();
        assert_eq!(body.data().await.unwrap().unwrap(), "hello");
        drop(body);
        drop(sender);
        connection.await.unwrap().unwrap();
        server.await.unwrap();
    });
}
