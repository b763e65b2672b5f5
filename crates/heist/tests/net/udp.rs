//! UDP.

use crate::support::net::{on_both, poll_once};
use heist::io::{Interest, ReadBuf};
use heist::net::UdpSocket;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

async fn bound() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.unwrap()
}

/// Two sockets, each connected to the other.
async fn pair() -> (UdpSocket, UdpSocket) {
    let (one, other) = (bound().await, bound().await);
    one.connect(other.local_addr().unwrap()).await.unwrap();
    other.connect(one.local_addr().unwrap()).await.unwrap();
    (one, other)
}

#[test]
fn what_is_sent_arrives_and_says_from_where() {
    on_both(|| async {
        let (one, other) = (bound().await, bound().await);
        let (one_addr, other_addr) = (one.local_addr().unwrap(), other.local_addr().unwrap());
        let mut buf = [0; 64];
        let mut recv = Box::pin(other.recv_from(&mut buf));
        assert!(poll_once(&mut recv).await.is_pending());
        assert_eq!(one.send_to(b"hello", other_addr).await.unwrap(), 5);
        assert_eq!(recv.await.unwrap(), (5, one_addr));
        assert_eq!(&buf[..5], b"hello");

        // By name; and the ways to poll and to try.
        let name = format!("localhost:{}", one_addr.port());
        let by_name = other.send_to(b"again", (Ipv4Addr::LOCALHOST, one_addr.port())).await;
        assert_eq!(by_name.unwrap(), 5);
        assert!(heist::net::lookup_host(name).await.unwrap().any(|addr| addr == one_addr));
        let mut room = [MaybeUninit::uninit(); 64];
        let mut room = ReadBuf::uninit(&mut room);
        let from = poll_fn(|cx| one.poll_recv_from(cx, &mut room)).await.unwrap();
        assert_eq!((from, room.filled()), (other_addr, &b"again"[..]));
        let sent = poll_fn(|cx| one.poll_send_to(cx, b"third", other_addr)).await;
        assert_eq!(sent.unwrap(), 5);
        other.readable().await.unwrap();
        assert_eq!(other.try_recv_from(&mut buf).unwrap(), (5, one_addr));
        assert_eq!(other.try_send_to(b"fourth", one_addr).unwrap(), 6);
        let mut all = b"> ".to_vec();
        assert_eq!(one.recv_buf_from(&mut all).await.unwrap(), (6, other_addr));
        assert_eq!(all, b"> fourth");
    });
}

#[test]
fn connected_sockets_hear_each_other_only() {
    on_both(|| async {
        let (one, other) = pair().await;
        assert_eq!(one.peer_addr().unwrap(), other.local_addr().unwrap());
        let stranger = bound().await;
        stranger.send_to(b"strange", one.local_addr().unwrap()).await.unwrap();
        other.send(b"known").await.unwrap();
        let mut buf = [0; 64];
        assert_eq!(one.recv(&mut buf).await.unwrap(), 5);
        assert_eq!(&buf[..5], b"known");
        assert_eq!(one.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);

        assert_eq!(poll_fn(|cx| one.poll_send(cx, b"polled")).await.unwrap(), 6);
        let mut room = ReadBuf::new(&mut buf);
        poll_fn(|cx| other.poll_recv(cx, &mut room)).await.unwrap();
        assert_eq!(room.filled(), b"polled");
        assert_eq!(one.try_send(b"tried").unwrap(), 5);
        poll_fn(|cx| other.poll_recv_ready(cx)).await.unwrap();
        assert_eq!(other.try_recv(&mut buf).unwrap(), 5);
        poll_fn(|cx| one.poll_send_ready(cx)).await.unwrap();
        one.writable().await.unwrap();
        one.send(b"to the end").await.unwrap();
        let mut all = vec![];
        assert_eq!(other.recv_buf(&mut all).await.unwrap(), 10);
        assert_eq!(all, b"to the end");
    });
}

#[test]
fn what_may_wait_waits_only_if_it_must() {
    on_both(|| async {
        let (one, other) = pair().await;
        let mut readable = Box::pin(other.ready(Interest::READABLE));
        assert!(poll_once(&mut readable).await.is_pending());
        let mut all = vec![];
        for kind in [
            other.try_recv(&mut [0; 8]).unwrap_err().kind(),
            other.try_recv_from(&mut [0; 8]).unwrap_err().kind(),
            other.try_recv_buf(&mut all).unwrap_err().kind(),
            other.try_recv_buf_from(&mut all).unwrap_err().kind(),
            other.try_peek(&mut [0; 8]).unwrap_err().kind(),
            other.try_peek_from(&mut [0; 8]).unwrap_err().kind(),
            other.try_peek_sender().unwrap_err().kind(),
        ] {
            assert_eq!(kind, ErrorKind::WouldBlock);
        }
        let one_addr = one.local_addr().unwrap();
        one.send(b"1").await.unwrap();
        one.send(b"22").await.unwrap();
        assert!(readable.await.unwrap().is_readable());
        assert_eq!(other.try_recv_buf(&mut all).unwrap(), 1);
        assert_eq!(other.try_recv_buf_from(&mut all).unwrap(), (2, one_addr));
        assert_eq!(all, b"122");
        assert_eq!(other.try_recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn a_datagram_that_does_not_fit_is_cut() {
    on_both(|| async {
        let (one, other) = pair().await;
        for _ in 0..4 {
            one.send(b"long").await.unwrap();
        }
        one.send(b"next").await.unwrap();
        let mut buf = [0; 2];
        assert_eq!(other.recv(&mut buf).await.unwrap(), 2);
        assert_eq!(&buf, b"lo");
        assert_eq!(other.recv_from(&mut buf).await.unwrap().0, 2);
        let mut room = ReadBuf::new(&mut buf);
        poll_fn(|cx| other.poll_recv(cx, &mut room)).await.unwrap();
        assert_eq!(room.filled(), b"lo");
        assert_eq!(other.recv(&mut []).await.unwrap(), 0);
        // What did not fit is gone: the next is the next.
        let mut buf = [0; 8];
        assert_eq!(other.recv(&mut buf).await.unwrap(), 4);
        assert_eq!(&buf[..4], b"next");
    });
}

#[test]
fn an_empty_datagram_is_one_too_and_a_huge_one_is_an_error() {
    on_both(|| async {
        let (one, other) = pair().await;
        assert_eq!(one.send(b"").await.unwrap(), 0);
        assert_eq!(other.recv_from(&mut [0; 8]).await.unwrap().0, 0);
        let error = one.send(&vec![0; 70_000]).await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::MSGSIZE.raw_os_error()));
    });
}

#[test]
fn a_peek_takes_nothing() {
    on_both(|| async {
        let (one, other) = pair().await;
        let from = one.local_addr().unwrap();
        let mut buf = [0; 8];
        let mut sender = Box::pin(other.peek_sender());
        assert!(poll_once(&mut sender).await.is_pending());
        one.send(b"hello").await.unwrap();
        assert_eq!(sender.await.unwrap(), from);
        assert_eq!(poll_fn(|cx| other.poll_peek_sender(cx)).await.unwrap(), from);
        assert_eq!(other.try_peek_sender().unwrap(), from);
        assert_eq!(other.peek(&mut buf).await.unwrap(), 5);
        assert_eq!(other.try_peek(&mut buf).unwrap(), 5);
        assert_eq!(other.peek_from(&mut buf).await.unwrap(), (5, from));
        assert_eq!(other.try_peek_from(&mut buf).unwrap(), (5, from));
        let mut room = ReadBuf::new(&mut buf);
        poll_fn(|cx| other.poll_peek(cx, &mut room)).await.unwrap();
        assert_eq!(room.filled(), b"hello");
        room.clear();
        assert_eq!(poll_fn(|cx| other.poll_peek_from(cx, &mut room)).await.unwrap(), from);
        assert_eq!(room.filled(), b"hello");
        assert_eq!(other.recv(&mut buf).await.unwrap(), 5);
        assert_eq!(other.try_peek(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

/// A datagram without a receiver is reported as an error only: there is nothing to read.
#[test]
fn an_unreachable_peer_wakes_the_receiver() {
    on_both(|| async {
        let socket = bound().await;
        let deaf = bound().await.local_addr().unwrap();
        socket.connect(deaf).await.unwrap();
        let mut buf = [0; 8];
        {
            let mut recv = pin!(socket.recv(&mut buf));
            assert!(poll_once(&mut recv).await.is_pending());
            socket.send(b"anybody?").await.unwrap();
            assert_eq!(recv.await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        }
        let mut room = ReadBuf::new(&mut buf);
        let is_pending =
            poll_fn(|cx| Poll::Ready(socket.poll_recv(cx, &mut room).is_pending())).await;
        assert!(is_pending);
        socket.send(b"anybody?").await.unwrap();
        let error = poll_fn(|cx| socket.poll_recv(cx, &mut room)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert!(socket.take_error().unwrap().is_none());
    });
}

#[test]
fn several_tasks_may_receive() {
    on_both(|| async {
        let socket = Arc::new(bound().await);
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let socket = Arc::clone(&socket);
                heist::spawn(async move {
                    let mut buf = [0; 1];
                    socket.recv(&mut buf).await.unwrap();
                    buf[0]
                })
            })
            .collect();
        let sender = bound().await;
        for number in 0..8 {
            sender.send_to(&[number], socket.local_addr().unwrap()).await.unwrap();
        }
        let mut got = vec![];
        for task in tasks {
            got.push(task.await.unwrap());
        }
        got.sort();
        assert_eq!(got, [0, 1, 2, 3, 4, 5, 6, 7]);
    });
}

#[test]
fn operations_of_ones_own() {
    on_both(|| async {
        let (one, other) = pair().await;
        let mut buf = [0; 8];
        let mut read = Box::pin(other.async_io(Interest::READABLE, || {
            Ok(rustix::net::recv(&other, &mut buf, rustix::net::RecvFlags::empty())?.0)
        }));
        assert!(poll_once(&mut read).await.is_pending());
        assert_eq!(
            one.try_io(Interest::WRITABLE, || Ok(rustix::io::write(&one, b"x")?)).unwrap(),
            1
        );
        assert_eq!(read.await.unwrap(), 1);
        let blocked = other.try_io(Interest::READABLE, || {
            Ok(rustix::net::recv(&other, &mut buf, rustix::net::RecvFlags::empty())?.0)
        });
        assert_eq!(blocked.unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn options_are_those_of_the_system() {
    on_both(|| async {
        let socket = bound().await;
        for on in [true, false] {
            socket.set_broadcast(on).unwrap();
            assert_eq!(socket.broadcast().unwrap(), on);
            socket.set_multicast_loop_v4(on).unwrap();
            assert_eq!(socket.multicast_loop_v4().unwrap(), on);
        }
        socket.set_multicast_ttl_v4(5).unwrap();
        assert_eq!(socket.multicast_ttl_v4().unwrap(), 5);
        socket.set_ttl(43).unwrap();
        assert_eq!(socket.ttl().unwrap(), 43);
        socket.set_tos_v4(0x10).unwrap();
        assert_eq!(socket.tos_v4().unwrap(), 0x10);
        #[expect(deprecated)]
        socket.set_tos(0x08).unwrap();
        #[expect(deprecated)]
        let tos = socket.tos().unwrap();
        assert_eq!(tos, 0x08);
        assert_eq!(socket.device().unwrap(), None);
        assert!(socket.bind_device(Some(b"heist-none")).is_err());
        if let Ok(socket) = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).await {
            for on in [true, false] {
                socket.set_multicast_loop_v6(on).unwrap();
                assert_eq!(socket.multicast_loop_v6().unwrap(), on);
            }
            socket.set_tclass_v6(0x20).unwrap();
            assert_eq!(socket.tclass_v6().unwrap(), 0x20);
            // Leaving a group that one is not in is an error; joining may be, without a route.
            let group = Ipv6Addr::new(0xff01, 0, 0, 0, 0, 0, 0, 0x4e15);
            assert!(socket.leave_multicast_v6(&group, 0).is_err());
            if socket.join_multicast_v6(&group, 0).is_ok() {
                socket.leave_multicast_v6(&group, 0).unwrap();
            }
        }
    });
}

#[test]
fn a_group_is_joined_and_left() {
    on_both(|| async {
        let group = Ipv4Addr::new(224, 0, 0, 211);
        let receiver = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap();
        assert!(receiver.leave_multicast_v4(group, Ipv4Addr::LOCALHOST).is_err());
        receiver.join_multicast_v4(group, Ipv4Addr::LOCALHOST).unwrap();
        // The same twice is an error: so the first was heard.
        assert!(receiver.join_multicast_v4(group, Ipv4Addr::LOCALHOST).is_err());
        receiver.leave_multicast_v4(group, Ipv4Addr::LOCALHOST).unwrap();
    });
}

#[test]
fn sockets_of_the_standard_library_come_and_go() {
    on_both(|| async {
        let std = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        std.set_nonblocking(true).unwrap();
        let fd = std.as_raw_fd();
        let socket = UdpSocket::from_std(std).unwrap();
        assert_eq!((socket.as_raw_fd(), socket.as_fd().as_raw_fd()), (fd, fd));
        assert!(format!("{socket:?}").contains("127.0.0.1"));
        socket.send_to(b"me", socket.local_addr().unwrap()).await.unwrap();
        assert_eq!(socket.recv(&mut [0; 8]).await.unwrap(), 2);
        let std = socket.into_std().unwrap();
        assert_eq!(std.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        UdpSocket::try_from(std).unwrap();
    });
}

#[test]
fn the_first_address_that_works_is_taken() {
    on_both(|| async {
        let socket = bound().await;
        let used = socket.local_addr().unwrap();
        assert_eq!(UdpSocket::bind(used).await.unwrap_err().kind(), ErrorKind::AddrInUse);
        let free: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
        let bound = UdpSocket::bind(&[used, free][..]).await.unwrap();
        assert_ne!(bound.local_addr().unwrap(), used);
        // An IPv4 socket accepts no IPv6 address.
        let six: SocketAddr = (Ipv6Addr::LOCALHOST, 1).into();
        bound.connect(&[six, used][..]).await.unwrap();
        assert_eq!(bound.peer_addr().unwrap(), used);
        assert!(bound.connect(six).await.is_err());
        for error in [
            UdpSocket::bind(&[][..]).await.err().unwrap(),
            bound.connect(&[][..]).await.unwrap_err(),
            bound.send_to(b"x", &[][..]).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
    });
}
