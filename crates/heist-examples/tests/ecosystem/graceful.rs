//! How a server ends.

use crate::support::{Server, ask, ask2, connect, hello, http1, http2, runtime};
use axum::Router;
use axum::routing::get;
use heist::hyper::serve;
use heist::io::AsyncReadExt;
use heist::net::TcpListener;
use heist::sync::Notify;
use std::sync::Arc;

/// A request that says when it has begun, and ends when it is told to.
struct Held {
    begun: Arc<Notify>,
    end: Arc<Notify>,
    router: Router,
}

impl Held {
    fn new() -> Held {
        let [begun, end] = [(); 2].map(|()| Arc::new(Notify::new()));
        let (notify_begun, wait_for_end) = (begun.clone(), end.clone());
        let held = || async move {
            notify_begun.notify_one();
            wait_for_end.notified().await;
            "held"
        };
        Held { begun, end, router: hello().route("/held", get(held)) }
    }
}

#[test]
fn a_request_that_has_begun_is_answered() {
    runtime().block_on(async {
        let Held { begun, end, router } = Held::new();
        let server = Server::start(router).await;
        let mut sender = http1(connect(server.address).await).await;
        let answer = heist::spawn(async move { ask(&mut sender, "/held").await });
        begun.notified().await;
        let server = server.close().await;
        assert!(!server.is_finished() && !answer.is_finished());
        end.notify_one();
        assert_eq!(answer.await.unwrap(), (200, "held".into()));
        server.await.unwrap();
    });
}

#[test]
fn a_request_of_http2_that_has_begun_is_answered() {
    runtime().block_on(async {
        let Held { begun, end, router } = Held::new();
        let server = Server::start(router).await;
        let sender = http2(connect(server.address).await).await;
        let answer = heist::spawn(ask2(sender, "/held"));
        begun.notified().await;
        let server = server.close().await;
        assert!(!server.is_finished() && !answer.is_finished());
        end.notify_one();
        assert_eq!(answer.await.unwrap(), (200, "held".into()));
        server.await.unwrap();
    });
}

/// One that has never said anything, one that has been served, and one of HTTP/2.
#[test]
fn connections_that_wait_for_a_request_are_closed() {
    runtime().block_on(async {
        let server = Server::hello().await;
        let mut silent = connect(server.address).await;
        let mut used = http1(connect(server.address).await).await;
        assert_eq!(ask(&mut used, "/").await.0, 200);
        let used2 = http2(connect(server.address).await).await;
        assert_eq!(ask2(used2.clone(), "/").await.0, 200);

        server.close().await.await.unwrap();
        assert_eq!(silent.read(&mut [0]).await.unwrap(), 0);
        while !used.is_closed() || !used2.is_closed() {
            heist::task::yield_now().await;
        }
    });
}

/// As if it had been told to end: nobody is cut off.
#[test]
fn a_server_that_is_dropped_has_its_connections_end() {
    runtime().block_on(async {
        let Held { begun, end, router } = Held::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = heist::spawn(serve(listener, router).into_future());
        let mut sender = http1(connect(address).await).await;
        let answer = heist::spawn(async move { ask(&mut sender, "/held").await });
        begun.notified().await;
        let mut used = http1(connect(address).await).await;
        assert_eq!(ask(&mut used, "/").await.0, 200);

        server.abort();
        assert!(server.await.unwrap_err().is_cancelled());
        while !used.is_closed() {
            heist::task::yield_now().await;
        }
        end.notify_one();
        assert_eq!(answer.await.unwrap(), (200, "held".into()));
    });
}

/// Its runtime goes away in the middle of everything.
#[test]
fn a_runtime_that_ends_takes_its_servers_along() {
    let clients = runtime();
    let servers = runtime();
    let Held { begun, router, .. } = Held::new();
    let server = servers.block_on(Server::start(router));
    let mut sender = clients.block_on(async { http1(connect(server.address).await).await });
    let asked = clients.spawn(async move {
        sender.send_request(crate::support::request("/held")).await.map(drop).unwrap_err()
    });
    clients.block_on(begun.notified());
    drop(servers);
    assert!(clients.block_on(asked).unwrap().is_incomplete_message());
}
