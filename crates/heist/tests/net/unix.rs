//! Unix streams and listeners.

use crate::support::net::{TempDir, on_both, poll_once};
use heist::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest};
use heist::net::unix::{ReuniteError, SocketAddr};
use heist::net::{UnixListener, UnixSocket, UnixStream};
use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::net;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// A name that begins with a zero, and that nobody else has.
fn abstract_name() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("\0heist-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A stream, and the other end as one of the standard library, which blocks.
fn with_std_peer() -> (UnixStream, net::UnixStream) {
    let (stream, peer) = net::UnixStream::pair().unwrap();
    stream.set_nonblocking(true).unwrap();
    (UnixStream::from_std(stream).unwrap(), peer)
}

#[test]
fn what_is_sent_arrives() {
    on_both(|| async {
        let dir = TempDir::new();
        let listener = UnixListener::bind(dir.path("socket")).unwrap();
        let echo = heist::spawn(async move {
            let (stream, from) = listener.accept().await.unwrap();
            assert!(from.is_unnamed());
            let (mut read, mut write) = stream.into_split();
            heist::io::copy(&mut read, &mut write).await.unwrap()
        });
        let mut client = UnixStream::connect(dir.path("socket")).await.unwrap();
        let much: Vec<u8> = (0..4 << 20).map(|n| (n % 251) as u8).collect();
        let mut got = vec![0; much.len()];
        let (mut read, mut write) = client.split();
        let (written, read) = heist::join!(write.write_all(&much), read.read_exact(&mut got));
        written.unwrap();
        read.unwrap();
        assert!(got == much);
        client.shutdown().await.unwrap();
        assert_eq!(client.read(&mut got).await.unwrap(), 0);
        assert_eq!(echo.await.unwrap(), much.len() as u64);
    });
}

#[test]
fn a_listener_has_a_path_a_name_or_an_automatic_address() {
    on_both(|| async {
        let dir = TempDir::new();
        let path = dir.path("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let addr = listener.local_addr().unwrap();
        assert_eq!(addr.as_pathname(), Some(&*path));
        assert_eq!((addr.is_unnamed(), addr.as_abstract_name()), (false, None));
        assert!(format!("{addr:?} {listener:?}").contains("socket"));
        let client = UnixStream::connect_addr(&addr).await.unwrap();
        assert_eq!(client.peer_addr().unwrap().as_pathname(), Some(&*path));
        assert!(client.local_addr().unwrap().is_unnamed());
        assert!(listener.take_error().unwrap().is_none());

        let name = abstract_name();
        let listener = UnixListener::bind(&name).unwrap();
        let addr = listener.local_addr().unwrap();
        assert_eq!(addr.as_abstract_name(), Some(&name.as_bytes()[1..]));
        assert_eq!((addr.is_unnamed(), addr.as_pathname()), (false, None));
        UnixStream::connect(&name).await.unwrap();
        UnixStream::connect_addr(&addr).await.unwrap();
        let std: net::SocketAddr = addr.into();
        let addr = SocketAddr::from(std);
        drop(listener);
        let listener = UnixListener::bind_addr(&addr).unwrap();
        UnixStream::connect(&name).await.unwrap();
        drop(listener);

        let unnamed = net::SocketAddr::from_pathname("").unwrap().into();
        let listener = UnixListener::bind_addr(&unnamed).unwrap();
        let addr = listener.local_addr().unwrap();
        assert!(addr.as_abstract_name().is_some());
        UnixStream::connect_addr(&addr).await.unwrap();
    });
}

#[test]
fn a_client_may_have_an_address() {
    on_both(|| async {
        let dir = TempDir::new();
        let listener = UnixListener::bind(dir.path("server")).unwrap();
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(dir.path("client")).unwrap();
        let _client = socket.connect(dir.path("server")).await.unwrap();
        let (server, from) = listener.accept().await.unwrap();
        assert_eq!(from.as_pathname(), Some(&*dir.path("client")));
        assert_eq!(server.peer_addr().unwrap().as_pathname(), from.as_pathname());

        let name = abstract_name();
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(&name).unwrap();
        let _client = socket.connect(dir.path("server")).await.unwrap();
        let (_, from) = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
        assert_eq!(from.as_abstract_name(), Some(&name.as_bytes()[1..]));
    });
}

#[test]
fn a_client_with_the_longest_path_is_no_worse() {
    on_both(|| async {
        let dir = TempDir::new();
        let listener = UnixListener::bind(dir.path("server")).unwrap();
        let socket = UnixSocket::new_stream().unwrap();
        let addr = rustix::net::SocketAddrUnix::new(dir.longest_path()).unwrap();
        rustix::net::bind(&socket, &addr).unwrap();
        let mut client = socket.connect(dir.path("server")).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(server.read_u8().await.unwrap(), b'x');
    });
}

#[test]
fn bad_paths_are_errors() {
    on_both(|| async {
        let dir = TempDir::new();
        let there = dir.path("there");
        let listener = UnixListener::bind(&there).unwrap();
        assert_eq!(UnixListener::bind(&there).unwrap_err().kind(), ErrorKind::AddrInUse);
        drop(listener);
        // The path stays, and nobody listens.
        let refused = UnixStream::connect(&there).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let missing = UnixStream::connect(dir.path("missing")).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        let long = "x".repeat(200);
        let zero = "a\0b";
        for bad in [&*long, &format!("\0{long}"), zero] {
            assert_eq!(UnixListener::bind(bad).unwrap_err().kind(), ErrorKind::InvalidInput);
            let error = UnixStream::connect(bad).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let error = UnixSocket::new_stream().unwrap().bind(bad).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
    });
}

/// Unix sockets do not wait for a place in the queue, unlike TCP: that is said at once.
#[test]
fn a_full_listener_is_an_error() {
    on_both(|| async {
        let dir = TempDir::new();
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(dir.path("socket")).unwrap();
        let listener = socket.listen(0).unwrap();
        let mut clients = vec![];
        let error = loop {
            match UnixStream::connect(dir.path("socket")).await {
                Ok(client) => clients.push(client),
                Err(error) => break error,
            }
            assert!(clients.len() < 100);
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        listener.accept().await.unwrap();
        UnixStream::connect(dir.path("socket")).await.unwrap();
    });
}

#[test]
fn accepting_waits_and_loses_nothing() {
    on_both(|| async {
        let dir = TempDir::new();
        let listener = UnixListener::bind(dir.path("socket")).unwrap();
        {
            let mut accept = Box::pin(listener.accept());
            assert!(poll_once(&mut accept).await.is_pending());
        }
        let connect = heist::spawn(UnixStream::connect(dir.path("socket")));
        let (mut server, _) = listener.accept().await.unwrap();
        let flags = rustix::fs::fcntl_getfl(&server).unwrap();
        assert!(flags.contains(rustix::fs::OFlags::NONBLOCK));
        let flags = rustix::io::fcntl_getfd(&server).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        let mut client = connect.await.unwrap().unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(server.read_u8().await.unwrap(), b'x');
    });
}

#[test]
fn the_peer_is_known() {
    on_both(|| async {
        let dir = TempDir::new();
        let listener = UnixListener::bind(dir.path("socket")).unwrap();
        let client = UnixStream::connect(dir.path("socket")).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let (one, _other) = UnixStream::pair().unwrap();
        for stream in [&client, &server, &one] {
            let peer = stream.peer_cred().unwrap();
            assert_eq!(peer.pid(), Some(std::process::id() as i32));
            assert_eq!(peer.uid(), rustix::process::getuid().as_raw());
            assert_eq!(peer.gid(), rustix::process::getgid().as_raw());
            assert_eq!(peer, peer.clone());
        }
        // A socket without a peer has one without a number.
        let socket = UnixSocket::new_stream().unwrap();
        let socket = net::UnixStream::from(socket.as_fd().try_clone_to_owned().unwrap());
        let alone = UnixStream::from_std(socket).unwrap();
        assert_eq!(alone.peer_cred().unwrap().pid(), None);
    });
}

#[test]
fn readiness_follows_the_data() {
    on_both(|| async {
        let (one, other) = UnixStream::pair().unwrap();
        let mut readable = Box::pin(one.readable());
        assert!(poll_once(&mut readable).await.is_pending());
        assert_eq!(one.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        other.writable().await.unwrap();
        assert_eq!(other.try_write(b"abcd").unwrap(), 4);
        assert_eq!(other.try_write_vectored(&[IoSlice::new(b"ef")]).unwrap(), 2);
        readable.await.unwrap();
        poll_fn(|cx| one.poll_read_ready(cx)).await.unwrap();
        let mut buf = [0; 2];
        assert_eq!(one.try_read(&mut buf).unwrap(), 2);
        assert_eq!(one.try_read_vectored(&mut [IoSliceMut::new(&mut buf)]).unwrap(), 2);
        let mut all = vec![];
        assert_eq!(one.try_read_buf(&mut all).unwrap(), 2);
        assert_eq!((&buf, &*all), (b"cd", &b"ef"[..]));
        assert_eq!(one.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);

        while other.try_write(&[0; 1 << 16]).is_ok() {}
        let is_pending = poll_fn(|cx| Poll::Ready(other.poll_write_ready(cx).is_pending())).await;
        assert!(is_pending);
        one.readable().await.unwrap();
        while one.try_read(&mut [0; 1 << 16]).is_ok() {}
        assert!(other.ready(Interest::WRITABLE).await.unwrap().is_writable());
        drop(one);
        assert!(other.ready(Interest::READABLE).await.unwrap().is_read_closed());
        assert_eq!(other.try_read(&mut [0; 8]).unwrap(), 0);
        assert_eq!(other.try_write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert!(other.take_error().unwrap().is_none());
    });
}

#[test]
fn operations_of_ones_own() {
    on_both(|| async {
        let (one, other) = UnixStream::pair().unwrap();
        let mut buf = [0; 8];
        let mut read =
            Box::pin(one.async_io(Interest::READABLE, || Ok(rustix::io::read(&one, &mut buf)?)));
        assert!(poll_once(&mut read).await.is_pending());
        let write = || Ok(rustix::io::write(&other, b"x")?);
        assert_eq!(other.try_io(Interest::WRITABLE, write).unwrap(), 1);
        assert_eq!(read.await.unwrap(), 1);
    });
}

#[test]
fn a_peer_that_leaves_data_unread_resets() {
    on_both(|| async {
        let (mut stream, peer) = with_std_peer();
        stream.write_all(b"unread").await.unwrap();
        let mut buf = [0; 8];
        let mut read = Box::pin(stream.read(&mut buf));
        assert!(poll_once(&mut read).await.is_pending());
        drop(peer);
        assert_eq!(read.await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(stream.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn an_end_in_one_direction_leaves_the_other() {
    on_both(|| async {
        let (mut stream, mut peer) = with_std_peer();
        assert!(stream.is_write_vectored());
        let parts = [IoSlice::new(b"one "), IoSlice::new(b"two")];
        let written =
            poll_fn(|cx| Pin::new(&mut stream).poll_write_vectored(cx, &parts)).await.unwrap();
        assert_eq!(written, 7);
        stream.flush().await.unwrap();
        stream.shutdown().await.unwrap();
        let mut all = String::new();
        peer.read_to_string(&mut all).unwrap();
        assert_eq!(all, "one two");
        peer.write_all(b"still here").unwrap();
        drop(peer);
        let mut all = String::new();
        stream.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, "still here");
        // The peer is gone: there is nobody to shut down.
        stream.shutdown().await.unwrap();
    });
}

#[test]
fn halves_are_those_of_a_stream() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer();
        let fd = stream.as_raw_fd();
        let (read, write) = stream.into_split();
        assert_eq!((read.as_ref().as_raw_fd(), write.as_ref().as_raw_fd()), (fd, fd));
        assert!(read.local_addr().unwrap().is_unnamed() && read.peer_addr().unwrap().is_unnamed());
        assert!(
            write.local_addr().unwrap().is_unnamed() && write.peer_addr().unwrap().is_unnamed()
        );
        write.writable().await.unwrap();
        assert!(write.ready(Interest::WRITABLE).await.unwrap().is_writable());
        assert_eq!(write.try_write(b"ab").unwrap(), 2);
        assert_eq!(write.try_write_vectored(&[IoSlice::new(b"cd")]).unwrap(), 2);
        peer.write_all(b"efghij").unwrap();
        read.readable().await.unwrap();
        assert!(read.ready(Interest::READABLE).await.unwrap().is_readable());
        let mut buf = [0; 2];
        assert_eq!(read.try_read(&mut buf).unwrap(), 2);
        assert_eq!(read.try_read_vectored(&mut [IoSliceMut::new(&mut buf)]).unwrap(), 2);
        let mut all = vec![];
        assert_eq!(read.try_read_buf(&mut all).unwrap(), 2);
        assert_eq!(all, b"ij");

        let (strange, _stranger) = with_std_peer();
        let (strange_read, strange_write) = strange.into_split();
        let error = read.reunite(strange_write).unwrap_err();
        assert!(error.to_string().contains("not of the same stream"));
        let ReuniteError(read, strange_write) = error;
        strange_write.reunite(strange_read).unwrap();
        let mut stream = write.reunite(read).unwrap();
        stream.write_all(b"k").await.unwrap();

        let (read, write) = stream.into_split();
        write.forget();
        peer.set_nonblocking(true).unwrap();
        let mut all = [0; 8];
        assert_eq!(peer.read(&mut all).unwrap(), 5);
        assert_eq!(peer.read(&mut all).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(read);
        assert_eq!(peer.read(&mut all).unwrap(), 0);

        let (stream, mut peer) = with_std_peer();
        let (mut read, mut write) = stream.into_split();
        write.write_all(b"x").await.unwrap();
        drop(write);
        assert_eq!(peer.read(&mut all).unwrap(), 1);
        assert_eq!(peer.read(&mut all).unwrap(), 0);
        peer.write_all(b"y").unwrap();
        assert_eq!(read.read_u8().await.unwrap(), b'y');
    });
}

#[test]
fn sockets_of_the_standard_library_come_and_go() {
    on_both(|| async {
        let dir = TempDir::new();
        let std = net::UnixListener::bind(dir.path("socket")).unwrap();
        std.set_nonblocking(true).unwrap();
        let listener = UnixListener::try_from(std).unwrap();
        assert_eq!(listener.as_fd().as_raw_fd(), listener.as_raw_fd());
        let std = net::UnixStream::connect(dir.path("socket")).unwrap();
        std.set_nonblocking(true).unwrap();
        let fd = std.as_raw_fd();
        let mut client = UnixStream::try_from(std).unwrap();
        assert_eq!((client.as_raw_fd(), client.as_fd().as_raw_fd()), (fd, fd));
        assert_eq!(AsRef::<UnixStream>::as_ref(&client).as_raw_fd(), fd);
        assert!(format!("{client:?}").contains("UnixStream"));
        let (mut server, _) = listener.accept().await.unwrap();
        server.write_all(b"hello").await.unwrap();
        client.read_u8().await.unwrap();
        let mut client = client.into_std().unwrap();
        client.set_nonblocking(false).unwrap();
        let mut rest = [0; 4];
        client.read_exact(&mut rest).unwrap();
        assert_eq!(&rest, b"ello");
        let listener = listener.into_std().unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn a_socket_becomes_what_it_was_made_for() {
    on_both(|| async {
        let dir = TempDir::new();
        let datagram = || UnixSocket::new_datagram().unwrap();
        let error = datagram().listen(1).unwrap_err();
        assert!(error.to_string().contains("cannot listen"), "{error}");
        let error = datagram().connect(dir.path("x")).await.unwrap_err();
        assert!(error.to_string().contains("becomes no stream"), "{error}");
        let error = UnixSocket::new_stream().unwrap().datagram().unwrap_err();
        assert!(error.to_string().contains("for streams"), "{error}");
        // An unbound socket cannot listen.
        assert!(UnixSocket::new_stream().unwrap().listen(1).is_err());

        let socket = datagram();
        let fd = socket.as_raw_fd();
        assert_eq!(socket.as_fd().as_raw_fd(), fd);
        assert!(format!("{socket:?}").contains(&fd.to_string()));
        let raw = socket.into_raw_fd();
        // SAFETY: (FFI) its previous owner has just released it.
        let socket = unsafe { UnixSocket::from_raw_fd(raw) };
        socket.bind(dir.path("datagram")).unwrap();
        let socket = socket.datagram().unwrap();
        assert_eq!(socket.as_raw_fd(), fd);
        assert_eq!(socket.local_addr().unwrap().as_pathname(), Some(&*dir.path("datagram")));
    });
}
