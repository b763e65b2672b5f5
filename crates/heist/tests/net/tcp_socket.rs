//! TCP sockets that are not connected yet, and the ways to bind and to connect.

use crate::support::net::on_both;
use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpSocket, TcpStream};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd};
use std::time::Duration;

fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// An address without a listener: a socket that does not listen occupies it.
fn deaf_address() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(any_port()).unwrap();
    let addr = socket.local_addr().unwrap();
    (socket, addr)
}

#[test]
fn a_socket_becomes_a_listener_or_a_stream() {
    on_both(|| async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(any_port()).unwrap();
        let listener = socket.listen(u32::MAX).unwrap();
        let addr = listener.local_addr().unwrap();

        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(any_port()).unwrap();
        let from = socket.local_addr().unwrap();
        let mut client = socket.connect(addr).await.unwrap();
        assert_eq!(client.local_addr().unwrap(), from);
        let (mut server, accepted_from) = listener.accept().await.unwrap();
        assert_eq!(accepted_from, from);
        client.write_all(b"hello").await.unwrap();
        let mut buf = [0; 5];
        server.read_exact(&mut buf).await.unwrap();
    });
}

#[test]
fn options_are_those_of_the_system() {
    let socket = TcpSocket::new_v4().unwrap();
    for on in [true, false] {
        socket.set_keepalive(on).unwrap();
        assert_eq!(socket.keepalive().unwrap(), on);
        socket.set_reuseaddr(on).unwrap();
        assert_eq!(socket.reuseaddr().unwrap(), on);
        socket.set_reuseport(on).unwrap();
        assert_eq!(socket.reuseport().unwrap(), on);
        socket.set_nodelay(on).unwrap();
        assert_eq!(socket.nodelay().unwrap(), on);
        assert_eq!(socket2::SockRef::from(&socket).tcp_nodelay().unwrap(), on);
    }
    // Linux doubles what it is told.
    socket.set_send_buffer_size(10_000).unwrap();
    assert!((10_000..=20_000).contains(&socket.send_buffer_size().unwrap()));
    socket.set_recv_buffer_size(12_000).unwrap();
    assert!((12_000..=24_000).contains(&socket.recv_buffer_size().unwrap()));
    assert_eq!(socket.linger().unwrap(), None);
    socket.set_zero_linger().unwrap();
    assert_eq!(socket.linger().unwrap(), Some(Duration::ZERO));
    #[expect(deprecated)]
    socket.set_linger(Some(Duration::from_secs(3))).unwrap();
    assert_eq!(socket.linger().unwrap(), Some(Duration::from_secs(3)));
    socket.set_tos_v4(0x10).unwrap();
    assert_eq!(socket.tos_v4().unwrap(), 0x10);
    #[expect(deprecated)]
    socket.set_tos(0x08).unwrap();
    #[expect(deprecated)]
    let tos = socket.tos().unwrap();
    assert_eq!(tos, 0x08);
    assert_eq!(socket.device().unwrap(), None);
    // It needs a right that tests may have or not; a device that is not there is an error in any
    // case.
    assert!(socket.bind_device(Some(b"heist-none")).is_err());
    assert!(socket.take_error().unwrap().is_none());
    if let Ok(socket) = TcpSocket::new_v6() {
        socket.set_tclass_v6(0x20).unwrap();
        assert_eq!(socket.tclass_v6().unwrap(), 0x20);
    }
}

#[test]
fn a_descriptor_comes_and_goes() {
    let socket = TcpSocket::new_v4().unwrap();
    let fd = socket.as_raw_fd();
    assert_eq!(socket.as_fd().as_raw_fd(), fd);
    let raw = socket.into_raw_fd();
    assert_eq!(raw, fd);
    // SAFETY: (FFI) its previous owner has just released it.
    let socket = unsafe { TcpSocket::from_raw_fd(raw) };
    socket.bind(any_port()).unwrap();
    assert!(format!("{socket:?}").contains(&fd.to_string()));

    let std: std::net::TcpStream = std::os::fd::OwnedFd::from(
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap(),
    )
    .into();
    let fd = std.as_raw_fd();
    assert_eq!(TcpSocket::from_std_stream(std).as_raw_fd(), fd);
}

#[test]
fn sockets_with_reuseport_share_a_port() {
    on_both(|| async {
        let bound = |addr| {
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseport(true).unwrap();
            socket.bind(addr).unwrap();
            socket.listen(8).unwrap()
        };
        let one = bound(any_port());
        let other = bound(one.local_addr().unwrap());
        assert_eq!(one.local_addr().unwrap(), other.local_addr().unwrap());
    });
}

#[test]
fn a_used_port_is_an_error() {
    on_both(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        assert_eq!(TcpListener::bind(addr).await.unwrap_err().kind(), ErrorKind::AddrInUse);
        let socket = TcpSocket::new_v4().unwrap();
        assert_eq!(socket.bind(addr).unwrap_err().kind(), ErrorKind::AddrInUse);
    });
}

/// The side that closes first keeps the address for a while; `SO_REUSEADDR` lets a listener have
/// it.
#[test]
fn a_port_with_closed_connections_can_be_bound_again() {
    on_both(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(addr).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        drop(server);
        drop(listener);
        assert_eq!(client.read(&mut [0; 8]).await.unwrap(), 0);
        drop(client);
        TcpListener::bind(addr).await.unwrap();
    });
}

#[test]
fn the_first_address_that_works_is_taken() {
    on_both(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (used, free) = (listener.local_addr().unwrap(), any_port());
        let bound = TcpListener::bind(&[used, free][..]).await.unwrap();
        assert_ne!(bound.local_addr().unwrap(), used);

        let (_socket, deaf) = deaf_address();
        let client = TcpStream::connect(&[deaf, used][..]).await.unwrap();
        assert_eq!(client.peer_addr().unwrap(), used);
        let (_, from) = listener.accept().await.unwrap();
        assert_eq!(from, client.local_addr().unwrap());
    });
}

#[test]
fn without_an_address_that_works_there_is_the_last_error() {
    on_both(|| async {
        let (_socket, deaf) = deaf_address();
        let error = TcpStream::connect(deaf).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpStream::connect(&[deaf, deaf][..]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpStream::connect(&[][..]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = TcpListener::bind(&[][..]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let socket = TcpSocket::new_v4().unwrap();
        let error = socket.connect(deaf).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

/// The listener never accepts and has room for very few clients: the others wait until they give
/// up.
#[test]
fn a_connect_that_hangs_can_be_cancelled() {
    on_both(|| async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(any_port()).unwrap();
        let listener = socket.listen(0).unwrap();
        let addr = listener.local_addr().unwrap();
        let connects: Vec<_> = (0..16).map(|_| heist::spawn(TcpStream::connect(addr))).collect();
        let (mut connected, mut cancelled) = (vec![], 0);
        // Those that hang are behind the ones that do not.
        listener.accept().await.unwrap();
        for connect in connects {
            connect.abort();
            match connect.await {
                Ok(stream) => connected.push(stream.unwrap()),
                Err(error) => {
                    assert!(error.is_cancelled());
                    cancelled += 1;
                }
            }
        }
        assert!(cancelled > 0, "all of {} are connected", connected.len());
    });
}
