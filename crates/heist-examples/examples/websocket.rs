//! WebSockets by tokio-tungstenite: a chat in which everybody hears what anybody says.

use futures_util::{SinkExt, StreamExt};
use heist::net::{TcpListener, TcpStream};
use heist::sync::broadcast;
use std::error::Error;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};

#[heist::main]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    heist::spawn(serve(listener));

    let url = format!("ws://{address}/");
    let (mut alice, _) = client_async(&url, TcpStream::connect(address).await?).await?;
    let (mut bob, _) = client_async(&url, TcpStream::connect(address).await?).await?;
    alice.send("hello, Bob".into()).await?;
    assert_eq!(bob.next().await.ok_or("Bob is alone")??, "hello, Bob".into());
    bob.send("hello, Alice".into()).await?;
    for expected in ["hello, Bob", "hello, Alice"] {
        let heard = alice.next().await.ok_or("Alice is alone")??;
        println!("Alice hears: {heard}");
        assert_eq!(heard, expected.into());
    }
    alice.close(None).await?;
    while let Some(last) = alice.next().await {
        assert!(last?.is_close());
    }
    println!("Alice has left");
    Ok(())
}

/// Accepts every client that completes the handshake.
pub async fn serve(listener: TcpListener) {
    let (room, _) = broadcast::channel(16);
    while let Ok((stream, _)) = listener.accept().await {
        let room = room.clone();
        heist::spawn(async move {
            // Subscribes first, so that a guest misses nothing after the handshake.
            let heard = room.subscribe();
            match accept_async(stream).await {
                Ok(guest) => chat(guest, room, heard).await,
                Err(error) => println!("server: not let in: {error}"),
            }
        });
    }
}

/// Until the guest leaves, or talks nonsense.
async fn chat(
    guest: WebSocketStream<TcpStream>,
    room: broadcast::Sender<Message>,
    mut heard: broadcast::Receiver<Message>,
) {
    let (mut to, mut from) = guest.split();
    loop {
        heist::select! {
            said = from.next() => match said {
                Some(Ok(said)) if said.is_text() => drop(room.send(said)),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
            Ok(message) = heard.recv() => if to.send(message).await.is_err() { return },
        }
    }
}
