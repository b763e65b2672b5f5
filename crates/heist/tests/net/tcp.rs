//! TCP streams and listeners: what they promise while nothing goes wrong.

use crate::support::net::{on_both, poll_once, tcp_pair, with_std_peer};
use heist::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use heist::net::{TcpListener, TcpStream};
use heist_testing::Rng;
use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

/// More than the buffers of both ends can hold.
const MUCH: usize = 16 << 20;

/// Writes until there is no more room; how much that was.
async fn fill(stream: &TcpStream) -> usize {
    let mut written = 0;
    loop {
        match stream.try_write(&[7; 1 << 16]) {
            Ok(count) => written += count,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                return written;
            }
        }
        assert!(written < MUCH, "there is always room");
    }
}

#[test]
fn what_is_sent_arrives() {
    on_both(|| async {
        let (mut client, mut server) = tcp_pair().await;
        let mut rng = Rng::new(1);
        let data: Arc<[u8]> = (0..MUCH).map(|_| rng.next_u64() as u8).collect();
        let sent = Arc::clone(&data);
        let sender = heist::spawn(async move {
            let mut rng = Rng::new(2);
            let mut rest = &sent[..];
            while !rest.is_empty() {
                let count = rest.len().min(1 + rng.below(100_000) as usize);
                client.write_all(&rest[..count]).await.unwrap();
                rest = &rest[count..];
            }
            client.shutdown().await.unwrap();
            let mut back = vec![];
            client.read_to_end(&mut back).await.unwrap();
            back
        });
        let mut received = vec![];
        server.read_to_end(&mut received).await.unwrap();
        assert!(received == *data);
        server.write_all(&received).await.unwrap();
        drop(server);
        assert!(sender.await.unwrap() == *data);
    });
}

#[test]
fn both_ends_know_both_addresses() {
    on_both(|| async {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let listener = match TcpListener::bind(host).await {
                Ok(listener) => listener,
                // A system without IPv6.
                Err(_) if host.starts_with('[') => continue,
                Err(error) => panic!("{error}"),
            };
            let addr = listener.local_addr().unwrap();
            assert_ne!(addr.port(), 0);
            let client = TcpStream::connect(addr).await.unwrap();
            let (server, from) = listener.accept().await.unwrap();
            assert_eq!(client.peer_addr().unwrap(), addr);
            assert_eq!(server.local_addr().unwrap(), addr);
            assert_eq!(client.local_addr().unwrap(), from);
            assert_eq!(server.peer_addr().unwrap(), from);
        }
    });
}

#[test]
fn an_accepted_socket_does_not_block_and_is_not_inherited() {
    on_both(|| async {
        let (client, server) = tcp_pair().await;
        for stream in [&client, &server] {
            let flags = rustix::fs::fcntl_getfl(stream).unwrap();
            assert!(flags.contains(rustix::fs::OFlags::NONBLOCK));
            let flags = rustix::io::fcntl_getfd(stream).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        }
    });
}

#[test]
fn every_task_that_accepts_gets_a_connection() {
    on_both(|| async {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let addr = listener.local_addr().unwrap();
        let accepts: Vec<_> = (0..10)
            .map(|_| {
                let listener = Arc::clone(&listener);
                heist::spawn(async move { listener.accept().await.unwrap().1 })
            })
            .collect();
        let mut clients = vec![];
        for _ in 0..10 {
            clients.push(TcpStream::connect(addr).await.unwrap());
        }
        let mut from: Vec<SocketAddr> = vec![];
        for accept in accepts {
            from.push(accept.await.unwrap());
        }
        let mut expected: Vec<_> =
            clients.iter().map(|client| client.local_addr().unwrap()).collect();
        expected.sort();
        from.sort();
        assert_eq!(from, expected);
    });
}

#[test]
fn an_accept_that_is_dropped_takes_no_connection() {
    on_both(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        {
            let mut accept = pin!(listener.accept());
            assert!(poll_once(&mut accept).await.is_pending());
        }
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (_, from) = listener.accept().await.unwrap();
        assert_eq!(from, client.local_addr().unwrap());
    });
}

#[test]
fn poll_accept_waits_and_accepts() {
    on_both(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let is_pending = poll_fn(|cx| Poll::Ready(listener.poll_accept(cx).is_pending())).await;
        assert!(is_pending);
        let connect = heist::spawn(TcpStream::connect(listener.local_addr().unwrap()));
        let (_, from) = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
        assert_eq!(connect.await.unwrap().unwrap().local_addr().unwrap(), from);
    });
}

#[test]
fn a_peek_takes_nothing() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let mut buf = [0; 8];
        {
            let mut peek = pin!(stream.peek(&mut buf));
            assert!(poll_once(&mut peek).await.is_pending());
            peer.write_all(b"hello").unwrap();
            assert_eq!(peek.await.unwrap(), 5);
        }
        assert_eq!(&buf[..5], b"hello");
        let (mut read, write) = stream.into_split();
        let mut room = ReadBuf::new(&mut buf);
        room.put_slice(b">");
        assert_eq!(poll_fn(|cx| read.poll_peek(cx, &mut room)).await.unwrap(), 5);
        assert_eq!(room.filled(), b">hello");
        let mut stream = read.reunite(write).unwrap();
        let mut two = [0; 2];
        assert_eq!(stream.split().0.peek(&mut two).await.unwrap(), 2);
        assert_eq!(&two, b"he");
        let mut room = [std::mem::MaybeUninit::uninit(); 4];
        let mut room = ReadBuf::uninit(&mut room);
        assert_eq!(poll_fn(|cx| stream.poll_peek(cx, &mut room)).await.unwrap(), 4);
        assert_eq!(room.filled(), b"hell");

        peer.write_all(b"!").unwrap();
        drop(peer);
        let mut all = String::new();
        stream.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, "hello!");
        assert_eq!(stream.peek(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn several_buffers_go_in_one_call() {
    on_both(|| async {
        let (mut stream, mut peer) = with_std_peer().await;
        assert!(stream.is_write_vectored());
        let parts = [IoSlice::new(b"one "), IoSlice::new(b""), IoSlice::new(b"two ")];
        let written =
            poll_fn(|cx| Pin::new(&mut stream).poll_write_vectored(cx, &parts)).await.unwrap();
        assert_eq!(written, 8);
        assert_eq!(stream.try_write_vectored(&parts).unwrap(), 8);
        let (_, mut half) = stream.split();
        assert!(half.is_write_vectored());
        assert_eq!(half.try_write_vectored(&parts).unwrap(), 8);
        assert_eq!(
            poll_fn(|cx| Pin::new(&mut half).poll_write_vectored(cx, &parts)).await.unwrap(),
            8
        );
        let mut said = [0; 32];
        peer.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"one two one two one two one two ");

        peer.write_all(b"answer").unwrap();
        stream.readable().await.unwrap();
        let (mut one, mut two) = ([0; 2], [0; 8]);
        let mut bufs = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
        assert_eq!(stream.try_read_vectored(&mut bufs).unwrap(), 6);
        assert_eq!((&one, &two[..4]), (b"an", &b"swer"[..]));
    });
}

#[test]
fn a_read_goes_to_the_end_of_a_buffer() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let mut all = b"> ".to_vec();
        assert_eq!(stream.try_read_buf(&mut all).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(all, b"> ");
        peer.write_all(b"hello").unwrap();
        stream.readable().await.unwrap();
        assert_eq!(stream.try_read_buf(&mut all).unwrap(), 5);
        assert_eq!(all, b"> hello");
    });
}

#[test]
fn readiness_follows_the_data() {
    on_both(|| async {
        let (client, server) = tcp_pair().await;
        // Nothing can be there: nobody has written.
        let mut readable = pin!(client.readable());
        assert!(poll_once(&mut readable).await.is_pending());
        assert_eq!(client.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(client.ready(Interest::WRITABLE).await.unwrap().is_writable());

        assert_eq!(server.try_write(b"hello").unwrap(), 5);
        readable.await.unwrap();
        let mut buf = [0; 3];
        assert_eq!(client.try_read(&mut buf).unwrap(), 3);
        // There is more, and it goes on saying so.
        client.readable().await.unwrap();
        poll_fn(|cx| client.poll_read_ready(cx)).await.unwrap();
        assert_eq!(client.try_read(&mut buf).unwrap(), 2);
        assert_eq!(client.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        let is_pending = poll_fn(|cx| Poll::Ready(client.poll_read_ready(cx).is_pending())).await;
        assert!(is_pending);
    });
}

#[test]
fn a_full_socket_is_writable_again_when_the_peer_has_read() {
    on_both(|| async {
        let (client, mut server) = tcp_pair().await;
        let mut written = fill(&client).await;
        let mut writable = Box::pin(client.writable());
        assert!(poll_once(&mut writable).await.is_pending());
        let is_pending = poll_fn(|cx| Poll::Ready(client.poll_write_ready(cx).is_pending())).await;
        assert!(is_pending);

        let reader = heist::spawn(async move {
            let mut count = 0;
            let mut buf = vec![0; 1 << 16];
            loop {
                match server.read(&mut buf).await.unwrap() {
                    0 => return count,
                    more => count += more,
                }
            }
        });
        writable.await.unwrap();
        written += client.try_write(b"more").unwrap();
        drop(client);
        assert_eq!(reader.await.unwrap(), written);
    });
}

#[test]
fn the_end_is_a_kind_of_readiness() {
    on_both(|| async {
        let (client, mut server) = tcp_pair().await;
        let mut closed = pin!(client.ready(Interest::READABLE));
        assert!(poll_once(&mut closed).await.is_pending());
        server.shutdown().await.unwrap();
        assert!(closed.await.unwrap().is_read_closed());
        assert_eq!(client.try_read(&mut [0; 8]).unwrap(), 0);
        // An end does not end.
        client.readable().await.unwrap();
        assert_eq!(client.try_read(&mut [0; 8]).unwrap(), 0);
    });
}

#[test]
fn try_io_calls_only_what_may_succeed() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let would_block = || Err::<(), _>(ErrorKind::WouldBlock.into());
        peer.write_all(b"x").unwrap();
        stream.readable().await.unwrap();
        let mut readable = pin!(stream.readable());
        assert!(poll_once(&mut readable).await.is_ready());
        // An error that is not WouldBlock, and a success, leave the readiness as it is.
        let refused = stream.try_io(Interest::READABLE, || Err::<(), _>(ErrorKind::Other.into()));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Other);
        assert_eq!(stream.try_io(Interest::READABLE, || Ok(5)).unwrap(), 5);

        // WouldBlock takes it back, though there is something to read.
        let (mut calls, mut waits) = (0, pin!(stream.readable()));
        loop {
            let blocked = stream.try_io(Interest::READABLE, would_block);
            assert_eq!(blocked.unwrap_err().kind(), ErrorKind::WouldBlock);
            // An event of before may still come once.
            if poll_once(&mut waits).await.is_pending() {
                break;
            }
            waits.set(stream.readable());
            calls += 1;
            assert!(calls < 100);
        }
        let not_called = stream
            .try_io(Interest::READABLE, || -> std::io::Result<()> { panic!("it is not ready") });
        assert_eq!(not_called.unwrap_err().kind(), ErrorKind::WouldBlock);
        // The other direction is not concerned.
        assert_eq!(stream.try_io(Interest::WRITABLE, || Ok(6)).unwrap(), 6);
        peer.write_all(b"y").unwrap();
        waits.await.unwrap();
    });
}

#[test]
fn async_io_calls_again_until_it_is_ready() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let mut calls = 0;
        let mut buf = [0; 8];
        let mut read = Box::pin(stream.async_io(Interest::READABLE, || {
            calls += 1;
            Ok(rustix::io::read(&stream, &mut buf)?)
        }));
        assert!(poll_once(&mut read).await.is_pending());
        peer.write_all(b"hello").unwrap();
        assert_eq!(read.await.unwrap(), 5);
        assert!(calls > 1);
        assert_eq!(&buf[..5], b"hello");
    });
}

#[test]
fn options_are_those_of_the_system() {
    on_both(|| async {
        let (client, server) = tcp_pair().await;
        for on in [true, false] {
            client.set_nodelay(on).unwrap();
            assert_eq!(client.nodelay().unwrap(), on);
            assert_eq!(socket2::SockRef::from(&client).tcp_nodelay().unwrap(), on);
            client.set_quickack(on).unwrap();
            assert_eq!(client.quickack().unwrap(), on);
        }
        client.set_ttl(41).unwrap();
        assert_eq!(client.ttl().unwrap(), 41);
        assert_eq!(client.linger().unwrap(), None);
        client.set_zero_linger().unwrap();
        assert_eq!(client.linger().unwrap(), Some(std::time::Duration::ZERO));
        #[expect(deprecated)]
        client.set_linger(None).unwrap();
        assert_eq!(client.linger().unwrap(), None);
        assert!(client.take_error().unwrap().is_none());
        assert!(server.take_error().unwrap().is_none());

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.set_ttl(42).unwrap();
        assert_eq!(listener.ttl().unwrap(), 42);
    });
}

#[test]
fn sockets_of_the_standard_library_come_and_go() {
    on_both(|| async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        let fd = client.as_raw_fd();
        let mut client = TcpStream::try_from(client).unwrap();
        assert_eq!((client.as_raw_fd(), client.as_fd().as_raw_fd()), (fd, fd));
        assert!(format!("{client:?} {listener:?}").contains("127.0.0.1"));
        assert_eq!(AsRef::<TcpStream>::as_ref(&client).as_raw_fd(), fd);
        let (mut server, _) = listener.accept().await.unwrap();
        server.write_all(b"hello").await.unwrap();
        let mut buf = [0; 2];
        client.read_exact(&mut buf).await.unwrap();

        // Registered or not, it is the same socket afterwards.
        let mut client = client.into_std().unwrap();
        assert_eq!(client.as_raw_fd(), fd);
        client.set_nonblocking(false).unwrap();
        let mut rest = [0; 3];
        client.read_exact(&mut rest).unwrap();
        assert_eq!(&rest, b"llo");
        let listener = listener.into_std().unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        TcpListener::try_from(listener).unwrap();
    });
}

#[test]
fn a_stream_may_be_used_in_another_runtime() {
    let first = crate::support::runtime(1);
    let (mut client, mut server) = first.block_on(tcp_pair());
    let second = crate::support::runtime(1);
    let echo = second.spawn(async move {
        let mut buf = [0; 5];
        server.read_exact(&mut buf).await.unwrap();
        server.write_all(&buf).await.unwrap();
    });
    let mut buf = [0; 5];
    first.block_on(async {
        client.write_all(b"hello").await.unwrap();
        client.read_exact(&mut buf).await.unwrap();
    });
    assert_eq!(&buf, b"hello");
    second.block_on(echo).unwrap();
}

/// W9: a socket that is always ready does not keep its worker.
#[test]
fn a_stream_that_never_waits_lets_others_run() {
    let rt = crate::support::runtime(1);
    let done = rt.spawn(async {
        let (mut client, mut server) = tcp_pair().await;
        let other = heist::spawn(async {});
        let mut buf = [0];
        for _ in 0..1000 {
            client.write_all(b"x").await.unwrap();
            server.read_exact(&mut buf).await.unwrap();
        }
        other.is_finished()
    });
    assert!(rt.block_on(done).unwrap());
}
