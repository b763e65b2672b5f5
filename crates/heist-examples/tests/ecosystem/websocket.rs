//! The chat of the example, with clients whose handshake is wrong.

use crate::support::{connect, runtime, talk};
use crate::websocket_example::serve;
use futures_util::{SinkExt, StreamExt};
use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::TcpListener;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

#[test]
fn wrong_handshakes_and_frames_harm_nobody() {
    runtime().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        heist::spawn(serve(listener));
        let url = format!("ws://{address}/");
        let (mut guest, _) = client_async(&url, connect(address).await).await.unwrap();

        let head = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                    sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
        let no_key = head.replace("sec-websocket-key", "x");
        for wrong in ["", "\0\u{1}\u{2}", "GET / HTTP/1.1\r\nhost: a\r\n\r\n", &no_key] {
            let answer = talk(address, wrong.as_bytes()).await;
            assert!(!answer.starts_with(b"HTTP/1.1 101"), "{wrong:?}");
        }
        // Let in, and then a frame that no client may send: it is not masked.
        let mut rude = connect(address).await;
        rude.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(rude.read_u8().await.unwrap());
        }
        assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
        rude.write_all(&[0x81, 5, b'h', b'e', b'l', b'l', b'o']).await.unwrap();
        rude.read_to_end(&mut answer).await.unwrap();

        let long = "x".repeat(200_000);
        for said in ["one", "two", &long] {
            guest.send(said.into()).await.unwrap();
            assert_eq!(guest.next().await.unwrap().unwrap(), Message::from(said));
        }
    });
}
