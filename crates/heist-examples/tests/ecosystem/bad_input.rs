//! Clients that do not behave: whatever they do, others are served.

use crate::support::{Server, assert_serves, connect, hello, http1, request, runtime, talk};
use axum::routing::get;
use heist::io::{AsyncReadExt, AsyncWriteExt};
use std::net::SocketAddr;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[test]
fn garbage_is_refused() {
    runtime().block_on(async {
        let server = Server::hello().await;
        let noise: Vec<u8> =
            (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for length in [1, 2, 23, 24, 25, 1000, 100_000] {
            let answer = talk(server.address, &noise[..length]).await;
            assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400 "), "{answer:?}");
        }
        assert_serves(server.address).await;
        for length in [1, 8, 9, 1000, 100_000] {
            talk(server.address, &[PREFACE, &noise[..length]].concat()).await;
        }
        assert_serves(server.address).await;
    });
}

#[test]
fn heads_that_are_wrong_are_refused() {
    let endless = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(1_000_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(10_000));
    let wrong = [
        ("GET / HTTP/7.9\r\n\r\n", 400),
        ("GET  HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\ncontent-length: banana\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\nx\u{0}: y\r\n\r\n", 400),
        (&endless, 431),
        (&many, 431),
    ];
    runtime().block_on(async {
        let server = Server::hello().await;
        for (head, status) in wrong {
            let answer = talk(server.address, head.as_bytes()).await;
            let expected = format!("HTTP/1.1 {status} ");
            // What the client has not finished sending may cost it the answer.
            let is_cut_off = head.len() > 100_000 && answer.is_empty();
            let answer = String::from_utf8_lossy(&answer);
            assert!(is_cut_off || answer.starts_with(&expected), "{:.60}: {answer}", head);
        }
        assert_serves(server.address).await;
    });
}

/// Closed, or reset, after each byte of a request and of the preface of HTTP/2.
#[test]
fn clients_that_go_away_at_any_point_harm_nobody() {
    runtime().block_on(async {
        let server = Server::hello().await;
        let head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc";
        for bytes in [&head[..], PREFACE] {
            for length in 0..=bytes.len() {
                go_away(server.address, &bytes[..length], false).await;
                go_away(server.address, &bytes[..length], true).await;
            }
        }
        assert_serves(server.address).await;
        // And those connections are gone: the server has nobody to wait for.
        server.close().await.await.unwrap();
    });
}

async fn go_away(address: SocketAddr, bytes: &[u8], with_a_reset: bool) {
    let mut stream = connect(address).await;
    stream.write_all(bytes).await.unwrap();
    if with_a_reset {
        stream.set_zero_linger().unwrap();
    }
}

#[test]
fn a_handler_that_panics_ends_its_connection_alone() {
    async fn panics() {
        panic!("on purpose: a handler that panics");
    }
    runtime().block_on(async {
        let server = Server::start(hello().route("/panic", get(panics))).await;
        let mut sender = http1(connect(server.address).await).await;
        let error = sender.send_request(request("/panic")).await.unwrap_err();
        assert!(error.is_incomplete_message(), "{error:?}");
        assert_serves(server.address).await;
        server.close().await.await.unwrap();
    });
}

/// A client that asks and does not read: its answer fills every buffer there is. Others do not
/// wait.
#[test]
fn a_client_that_does_not_read_harms_nobody() {
    runtime().block_on(async {
        let flood = || async { "x".repeat(20_000_000) };
        let server = Server::start(hello().route("/flood", get(flood))).await;
        let mut deaf = connect(server.address).await;
        deaf.write_all(b"GET /flood HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        // The answer has begun.
        deaf.read_exact(&mut [0; 9]).await.unwrap();
        assert_serves(server.address).await;
    });
}
