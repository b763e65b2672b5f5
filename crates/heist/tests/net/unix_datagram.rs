//! Unix datagrams.

use crate::support::net::{TempDir, on_both, poll_once};
use heist::io::{Interest, ReadBuf};
use heist::net::UnixDatagram;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net;
use std::task::Poll;

#[test]
fn what_is_sent_arrives_and_says_from_where() {
    on_both(|| async {
        let dir = TempDir::new();
        let (one_path, other_path) = (dir.path("one"), dir.path("other"));
        let one = UnixDatagram::bind(&one_path).unwrap();
        let other = UnixDatagram::bind(&other_path).unwrap();
        assert_eq!(one.local_addr().unwrap().as_pathname(), Some(&*one_path));
        let mut buf = [0; 64];
        {
            let mut recv = Box::pin(other.recv_from(&mut buf));
            assert!(poll_once(&mut recv).await.is_pending());
            assert_eq!(one.send_to(b"hello", &other_path).await.unwrap(), 5);
            let (count, from) = recv.await.unwrap();
            assert_eq!((count, from.as_pathname()), (5, Some(&*one_path)));
        }
        assert_eq!(poll_fn(|cx| other.poll_send_to(cx, b"polled", &one_path)).await.unwrap(), 6);
        let mut room = ReadBuf::new(&mut buf);
        let from = poll_fn(|cx| one.poll_recv_from(cx, &mut room)).await.unwrap();
        assert_eq!((from.as_pathname(), room.filled()), (Some(&*other_path), &b"polled"[..]));
        assert_eq!(one.try_send_to(b"tried", &other_path).unwrap(), 5);
        other.readable().await.unwrap();
        let (count, from) = other.try_recv_from(&mut buf).unwrap();
        assert_eq!((count, from.as_pathname()), (5, Some(&*one_path)));
        let mut all = b"> ".to_vec();
        one.send_to(b"buffered", &other_path).await.unwrap();
        let (count, from) = other.recv_buf_from(&mut all).await.unwrap();
        assert_eq!((count, from.as_pathname()), (8, Some(&*one_path)));
        one.send_to(b"!", &other_path).await.unwrap();
        other.readable().await.unwrap();
        assert_eq!(other.try_recv_buf_from(&mut all).unwrap().0, 1);
        assert_eq!(all, b"> buffered!");

        let unnamed = UnixDatagram::unbound().unwrap();
        unnamed.send_to(b"who?", &one_path).await.unwrap();
        let (_, from) = one.recv_from(&mut buf).await.unwrap();
        assert!(from.is_unnamed());
        unnamed.send_to(b"who?", &one_path).await.unwrap();
        let from = poll_fn(|cx| one.poll_recv_from(cx, &mut ReadBuf::new(&mut buf))).await;
        assert!(from.unwrap().is_unnamed());
    });
}

#[test]
fn a_sender_with_the_longest_path_is_no_worse() {
    on_both(|| async {
        let dir = TempDir::new();
        let server = UnixDatagram::bind(dir.path("server")).unwrap();
        let client = UnixDatagram::unbound().unwrap();
        let addr = rustix::net::SocketAddrUnix::new(dir.longest_path()).unwrap();
        rustix::net::bind(&client, &addr).unwrap();
        client.connect(dir.path("server")).unwrap();
        for _ in 0..3 {
            client.send(b"hello").await.unwrap();
        }
        let mut buf = [0; 8];
        assert_eq!(server.recv_from(&mut buf).await.unwrap().0, 5);
        let mut room = ReadBuf::new(&mut buf);
        poll_fn(|cx| server.poll_recv_from(cx, &mut room)).await.unwrap();
        assert_eq!(room.filled(), b"hello");
        let mut all = vec![];
        assert_eq!(server.recv_buf_from(&mut all).await.unwrap().0, 5);
    });
}

#[test]
fn a_pair_is_connected() {
    on_both(|| async {
        let (one, other) = UnixDatagram::pair().unwrap();
        let mut buf = [0; 64];
        {
            let mut recv = Box::pin(other.recv(&mut buf));
            assert!(poll_once(&mut recv).await.is_pending());
            assert_eq!(one.send(b"hello").await.unwrap(), 5);
            assert_eq!(recv.await.unwrap(), 5);
        }
        assert_eq!(poll_fn(|cx| one.poll_send(cx, b"polled")).await.unwrap(), 6);
        let mut room = ReadBuf::new(&mut buf);
        poll_fn(|cx| other.poll_recv(cx, &mut room)).await.unwrap();
        assert_eq!(room.filled(), b"polled");
        one.writable().await.unwrap();
        poll_fn(|cx| one.poll_send_ready(cx)).await.unwrap();
        assert_eq!(one.try_send(b"tried").unwrap(), 5);
        poll_fn(|cx| other.poll_recv_ready(cx)).await.unwrap();
        assert_eq!(other.try_recv(&mut buf).unwrap(), 5);
        let mut all = vec![];
        one.send(b"to the end").await.unwrap();
        assert_eq!(other.recv_buf(&mut all).await.unwrap(), 10);
        one.send(b".").await.unwrap();
        assert!(other.ready(Interest::READABLE).await.unwrap().is_readable());
        assert_eq!(other.try_recv_buf(&mut all).unwrap(), 1);
        assert_eq!(all, b"to the end.");
        assert_eq!(other.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(one.peer_addr().unwrap().is_unnamed());
        assert!(one.take_error().unwrap().is_none());
    });
}

#[test]
fn a_sender_waits_for_room() {
    on_both(|| async {
        let (one, other) = UnixDatagram::pair().unwrap();
        let mut sent = 0;
        while one.try_send(&[1; 1000]).is_ok() {
            sent += 1;
        }
        assert_eq!(one.try_send(&[1; 1000]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut send = Box::pin(one.send(&[2; 1000]));
        assert!(poll_once(&mut send).await.is_pending());
        let receiver = heist::spawn(async move {
            let mut buf = [0; 1000];
            let mut received = 0;
            while buf[0] != 2 {
                assert_eq!(other.recv(&mut buf).await.unwrap(), 1000);
                received += 1;
            }
            received
        });
        assert_eq!(send.await.unwrap(), 1000);
        // Nothing was lost.
        assert_eq!(receiver.await.unwrap(), sent + 1);
    });
}

#[test]
fn a_datagram_that_does_not_fit_is_cut() {
    on_both(|| async {
        let (one, other) = UnixDatagram::pair().unwrap();
        one.send(b"long").await.unwrap();
        one.send(b"next").await.unwrap();
        let mut buf = [0; 2];
        assert_eq!(other.recv(&mut buf).await.unwrap(), 2);
        let mut buf = [0; 8];
        assert_eq!(other.recv(&mut buf).await.unwrap(), 4);
        assert_eq!(&buf[..4], b"next");
    });
}

#[test]
fn one_is_connected_to_a_path() {
    on_both(|| async {
        let dir = TempDir::new();
        let server = UnixDatagram::bind(dir.path("server")).unwrap();
        let client = UnixDatagram::unbound().unwrap();
        assert!(client.peer_addr().is_err());
        let error = client.send(b"x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotConnected);
        client.connect(dir.path("server")).unwrap();
        assert_eq!(client.peer_addr().unwrap().as_pathname(), Some(&*dir.path("server")));
        client.send(b"x").await.unwrap();
        assert_eq!(server.recv(&mut [0; 8]).await.unwrap(), 1);

        assert_eq!(client.connect(dir.path("none")).unwrap_err().kind(), ErrorKind::NotFound);
        let error = client.send_to(b"x", dir.path("none")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let error = UnixDatagram::bind(dir.path("server")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        drop(server);
        let error = client.send(b"x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn nothing_is_sent_behind_the_end() {
    on_both(|| async {
        let (one, other) = UnixDatagram::pair().unwrap();
        other.send(b"last").await.unwrap();
        assert_eq!(one.recv(&mut [0; 8]).await.unwrap(), 4);
        assert_eq!(one.try_recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut ready = Box::pin(one.ready(Interest::READABLE));
        assert!(poll_once(&mut ready).await.is_pending());
        one.shutdown(Shutdown::Both).unwrap();
        assert!(ready.await.unwrap().is_read_closed());
        assert_eq!(one.send(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(other.send(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn operations_of_ones_own() {
    on_both(|| async {
        let (one, other) = UnixDatagram::pair().unwrap();
        let mut buf = [0; 8];
        let mut read =
            Box::pin(one.async_io(Interest::READABLE, || Ok(rustix::io::read(&one, &mut buf)?)));
        assert!(poll_once(&mut read).await.is_pending());
        let write = || Ok(rustix::io::write(&other, b"x")?);
        assert_eq!(other.try_io(Interest::WRITABLE, write).unwrap(), 1);
        assert_eq!(read.await.unwrap(), 1);
        let is_pending = poll_fn(|cx| Poll::Ready(one.poll_recv_ready(cx).is_pending())).await;
        assert!(!is_pending || one.try_recv(&mut [0; 8]).is_err());
    });
}

#[test]
fn sockets_of_the_standard_library_come_and_go() {
    on_both(|| async {
        let (std, peer) = net::UnixDatagram::pair().unwrap();
        std.set_nonblocking(true).unwrap();
        let fd = std.as_raw_fd();
        let socket = UnixDatagram::from_std(std).unwrap();
        assert_eq!((socket.as_raw_fd(), socket.as_fd().as_raw_fd()), (fd, fd));
        assert!(format!("{socket:?}").contains("UnixDatagram"));
        peer.send(b"x").unwrap();
        assert_eq!(socket.recv(&mut [0; 8]).await.unwrap(), 1);
        let std = socket.into_std().unwrap();
        assert_eq!(std.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        UnixDatagram::try_from(std).unwrap();
    });
}
