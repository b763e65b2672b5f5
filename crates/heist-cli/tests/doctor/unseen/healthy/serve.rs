//! Servers, with their clients.

use crate::programs::{Program, all, burn};
use heist::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use heist::net::{TcpListener, TcpStream, UdpSocket};
use heist::runtime::Builder;
use heist::sync::{Semaphore, broadcast};
use heist::task::JoinSet;
use heist::{spawn, time};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub const ALL: &[Program] =
    &[ECHO_200, ECHO_16_WORKERS, ECHO_CURRENT_THREAD, HTTP, BURSTY, CHAT, UDP, LIGHT, UNUSED];

/// Serves until it is aborted.
async fn echo(listener: TcpListener) {
    loop {
        let (mut socket, _) = listener.accept().await.unwrap();
        spawn(async move {
            let mut buffer = [0; 256];
            while let Ok(read @ 1..) = socket.read(&mut buffer).await {
                socket.write_all(&buffer[..read]).await.unwrap();
            }
        });
    }
}

async fn echo_with(clients: usize, rounds: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = spawn(echo(listener));
    let client = move || async move {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let mut buffer = [7; 100];
        for _ in 0..rounds {
            socket.write_all(&buffer).await.unwrap();
            socket.read_exact(&mut buffer).await.unwrap();
        }
    };
    all((0..clients).map(|_| spawn(client())).collect()).await;
    server.abort();
}

const ECHO_200: Program = Program {
    build: |builder| {
        builder.worker_threads(4);
    },
    ..Program::new("echo, 200 clients", |runtime| {
        runtime.block_on(runtime.spawn(echo_with(200, 25))).unwrap();
    })
};

const ECHO_16_WORKERS: Program = Program {
    build: |builder| {
        builder.worker_threads(16);
    },
    ..Program::new("echo, 16 workers", |runtime| {
        runtime.block_on(runtime.spawn(echo_with(32, 60))).unwrap();
    })
};

const ECHO_CURRENT_THREAD: Program = Program {
    build: |builder| {
        *builder = Builder::new_current_thread();
        builder.enable_all().trace(heist::trace::Config::new());
    },
    ..Program::new("echo, current thread", |runtime| runtime.block_on(echo_with(20, 50)))
};

/// Answers to requests of a line, until the client goes.
async fn answer(socket: TcpStream) {
    let (from, mut to) = socket.into_split();
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.is_empty() {
            burn(30);
            to.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await.unwrap();
        }
    }
}

async fn get(address: SocketAddr, times: usize) {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let mut response = [0; 43];
    for _ in 0..times {
        socket.write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
        socket.read_exact(&mut response).await.unwrap();
        assert!(response.ends_with(b"hello"));
    }
}

const HTTP: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("HTTP server", |runtime| {
        let clients = runtime.spawn(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = spawn(async move {
                loop {
                    let (socket, _) = listener.accept().await.unwrap();
                    spawn(answer(socket));
                }
            });
            all((0..32).map(|_| spawn(get(address, 60))).collect()).await;
            server.abort();
        });
        runtime.block_on(clients).unwrap();
    })
};

/// Much at once, then nothing for long.
const BURSTY: Program = Program {
    build: |builder| {
        builder.worker_threads(4);
    },
    ..Program::new("bursty server", |runtime| {
        let server = runtime.spawn(async {
            for _ in 0..8 {
                let mut burst = JoinSet::new();
                for _ in 0..50 {
                    burst.spawn(async {
                        burn(60);
                        time::sleep(Duration::from_millis(1)).await;
                        burn(60);
                    });
                }
                burst.join_all().await;
                time::sleep(Duration::from_millis(50)).await;
            }
        });
        runtime.block_on(server).unwrap();
    })
};

/// Everybody gets every message, and has something to do with it.
const CHAT: Program = Program {
    build: |builder| {
        builder.worker_threads(3);
    },
    ..Program::new("chat room", |runtime| {
        let room = runtime.spawn(async {
            let (sender, _) = broadcast::channel(64);
            let members = (0..100).map(|_| {
                let mut messages = sender.subscribe();
                spawn(async move {
                    while messages.recv().await.is_ok() {
                        burn(25);
                    }
                })
            });
            let members = members.collect();
            for number in 0..60u32 {
                time::sleep(Duration::from_millis(4)).await;
                sender.send(number).unwrap();
            }
            drop(sender);
            all(members).await;
        });
        runtime.block_on(room).unwrap();
    })
};

const UDP: Program = Program {
    build: |builder| {
        builder.worker_threads(2);
    },
    ..Program::new("UDP echo", |runtime| {
        let clients = runtime.spawn(async {
            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let address = socket.local_addr().unwrap();
            let server = spawn(async move {
                let mut buffer = [0; 64];
                loop {
                    let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
                    socket.send_to(&buffer[..length], from).await.unwrap();
                }
            });
            let client = || async move {
                let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                socket.connect(address).await.unwrap();
                for _ in 0..50 {
                    socket.send(&[1; 20]).await.unwrap();
                    assert_eq!(socket.recv(&mut [0; 64]).await.unwrap(), 20);
                    burn(60);
                }
            };
            all((0..8).map(|_| spawn(client())).collect()).await;
            server.abort();
        });
        runtime.block_on(clients).unwrap();
    })
};

/// A request now and then, and each asks another service first. Never more than four at once.
const LIGHT: Program = Program {
    build: |builder| {
        builder.worker_threads(4);
    },
    ..Program::new("light load", |runtime| {
        let server = runtime.spawn(async {
            let permits = Arc::new(Semaphore::new(4));
            let mut requests = JoinSet::new();
            for _ in 0..150 {
                time::sleep(Duration::from_millis(2)).await;
                let permits = Arc::clone(&permits);
                requests.spawn(async move {
                    let _permit = permits.acquire().await.unwrap();
                    burn(40);
                    time::sleep(Duration::from_millis(5)).await;
                    burn(40);
                });
            }
            requests.join_all().await;
        });
        runtime.block_on(server).unwrap();
    })
};

/// Listens, and nobody comes.
const UNUSED: Program = Program::new("unused server", |runtime| {
    runtime.block_on(async {
        let server = spawn(echo(TcpListener::bind("127.0.0.1:0").await.unwrap()));
        time::sleep(Duration::from_millis(300)).await;
        server.abort();
    });
});
