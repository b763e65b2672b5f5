//! The halves of TCP streams.

use crate::support::net::{on_both, tcp_pair, with_std_peer};
use heist::io::{AsyncReadExt, AsyncWriteExt, Interest};
use heist::net::TcpStream;
use heist::net::tcp::ReuniteError;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::AsRawFd;

/// Reads what is there, and the end.
fn rest_of(peer: &mut std::net::TcpStream) -> String {
    let mut rest = String::new();
    peer.read_to_string(&mut rest).unwrap();
    rest
}

/// Writes this much and reads as much, at once.
async fn swap(mut stream: TcpStream, much: usize) -> bool {
    let (sent, mut got) = (vec![3; much], vec![0; much]);
    let (mut read, mut write) = stream.split();
    let (written, read) = heist::join!(write.write_all(&sent), read.read_exact(&mut got));
    written.unwrap();
    read.unwrap();
    got == sent
}

#[test]
fn borrowed_halves_read_and_write_at_once() {
    on_both(|| async {
        let (client, server) = tcp_pair().await;
        // Neither could write all of it if nobody read meanwhile.
        let other = heist::spawn(swap(client, 16 << 20));
        assert!(swap(server, 16 << 20).await);
        assert!(other.await.unwrap());
    });
}

#[test]
fn borrowed_halves_have_the_methods_of_their_stream() {
    on_both(|| async {
        let (mut stream, mut peer) = with_std_peer().await;
        let (local, remote) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        let fd = stream.as_raw_fd();
        let (read, mut write) = stream.split();
        assert_eq!(read.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!((read.local_addr().unwrap(), read.peer_addr().unwrap()), (local, remote));
        assert_eq!((write.local_addr().unwrap(), write.peer_addr().unwrap()), (local, remote));
        assert_eq!((read.as_ref().as_raw_fd(), write.as_ref().as_raw_fd()), (fd, fd));
        write.writable().await.unwrap();
        assert!(write.ready(Interest::WRITABLE).await.unwrap().is_writable());
        assert_eq!(write.try_write(b"one ").unwrap(), 4);
        assert_eq!(write.try_write_vectored(&[IoSlice::new(b"two")]).unwrap(), 3);
        write.flush().await.unwrap();
        write.shutdown().await.unwrap();
        assert_eq!(rest_of(&mut peer), "one two");

        peer.write_all(b"abcdef").unwrap();
        read.readable().await.unwrap();
        assert!(read.ready(Interest::READABLE).await.unwrap().is_readable());
        let mut buf = [0; 2];
        assert_eq!(read.try_read(&mut buf).unwrap(), 2);
        assert_eq!(read.try_read_vectored(&mut [IoSliceMut::new(&mut buf)]).unwrap(), 2);
        assert_eq!(&buf, b"cd");
        let mut all = vec![];
        assert_eq!(read.try_read_buf(&mut all).unwrap(), 2);
        assert_eq!(all, b"ef");
    });
}

#[test]
fn owned_halves_have_the_methods_of_their_stream() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let (local, remote) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        let fd = stream.as_raw_fd();
        let (mut read, write) = stream.into_split();
        assert_eq!(read.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!((read.local_addr().unwrap(), read.peer_addr().unwrap()), (local, remote));
        assert_eq!((write.local_addr().unwrap(), write.peer_addr().unwrap()), (local, remote));
        assert_eq!((read.as_ref().as_raw_fd(), write.as_ref().as_raw_fd()), (fd, fd));
        write.writable().await.unwrap();
        assert!(write.ready(Interest::WRITABLE).await.unwrap().is_writable());
        assert_eq!(write.try_write(b"one ").unwrap(), 4);
        assert_eq!(write.try_write_vectored(&[IoSlice::new(b"two")]).unwrap(), 3);
        drop(write);
        assert_eq!(rest_of(&mut peer), "one two");

        peer.write_all(b"abcdef").unwrap();
        read.readable().await.unwrap();
        assert!(read.ready(Interest::READABLE).await.unwrap().is_readable());
        let mut buf = [0; 2];
        assert_eq!(read.peek(&mut buf).await.unwrap(), 2);
        assert_eq!(read.try_read(&mut buf).unwrap(), 2);
        assert_eq!(read.try_read_vectored(&mut [IoSliceMut::new(&mut buf)]).unwrap(), 2);
        assert_eq!(&buf, b"cd");
        let mut all = vec![];
        assert_eq!(read.try_read_buf(&mut all).unwrap(), 2);
        assert_eq!(all, b"ef");
    });
}

#[test]
fn owned_halves_go_to_different_tasks() {
    on_both(|| async {
        let (client, server) = tcp_pair().await;
        let echo = heist::spawn(async move {
            let (mut read, mut write) = server.into_split();
            heist::io::copy(&mut read, &mut write).await.unwrap()
        });
        let (mut read, mut write) = client.into_split();
        let sent = vec![9; 4 << 20];
        let all = sent.clone();
        let writer = heist::spawn(async move {
            write.write_all(&all).await.unwrap();
            write.shutdown().await.unwrap();
            write
        });
        let mut got = vec![];
        read.read_to_end(&mut got).await.unwrap();
        assert!(got == sent);
        assert_eq!(echo.await.unwrap(), sent.len() as u64);
        read.reunite(writer.await.unwrap()).unwrap();
    });
}

#[test]
fn dropping_the_half_that_writes_is_an_end_and_forgetting_it_is_none() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let (mut read, write) = stream.into_split();
        drop(write);
        assert_eq!(peer.read(&mut [0; 8]).unwrap(), 0);
        // The other direction goes on.
        peer.write_all(b"hello").unwrap();
        let mut buf = [0; 5];
        read.read_exact(&mut buf).await.unwrap();

        let (stream, mut peer) = with_std_peer().await;
        let (read, write) = stream.into_split();
        write.forget();
        peer.set_nonblocking(true).unwrap();
        assert_eq!(peer.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        peer.set_nonblocking(false).unwrap();
        drop(read);
        assert_eq!(peer.read(&mut [0; 8]).unwrap(), 0);
    });
}

#[test]
fn a_half_that_was_shut_down_can_be_reunited_and_dropped() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let (read, mut write) = stream.into_split();
        write.shutdown().await.unwrap();
        // Twice does no harm.
        write.shutdown().await.unwrap();
        let mut stream = write.reunite(read).unwrap();
        assert_eq!(peer.read(&mut [0; 8]).unwrap(), 0);
        assert_eq!(stream.write_all(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        peer.write_all(b"x").unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'x');
    });
}

#[test]
fn reuniting_does_not_shut_down() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let (read, write) = stream.into_split();
        let mut stream = read.reunite(write).unwrap();
        stream.write_all(b"still here").await.unwrap();
        drop(stream);
        assert_eq!(rest_of(&mut peer), "still here");
    });
}

#[test]
fn halves_of_different_streams_come_back() {
    on_both(|| async {
        let (one, other) = tcp_pair().await;
        let (one_fd, other_fd) = (one.as_raw_fd(), other.as_raw_fd());
        let (read_one, write_one) = one.into_split();
        let (read_other, write_other) = other.into_split();
        let error = read_one.reunite(write_other).unwrap_err();
        assert!(error.to_string().contains("not of the same stream"));
        let ReuniteError(read_one, write_other) = error;
        let ReuniteError(read_other, write_one) = write_one.reunite(read_other).unwrap_err();
        assert_eq!(read_one.reunite(write_one).unwrap().as_raw_fd(), one_fd);
        assert_eq!(write_other.reunite(read_other).unwrap().as_raw_fd(), other_fd);
    });
}
