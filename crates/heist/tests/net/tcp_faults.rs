//! What goes wrong with TCP: resets at every point, ends in one direction, runtimes that go down.

use crate::support::net::{on_both, poll_once, reset, tcp_pair, with_std_peer};
use heist::io::{AsyncReadExt, AsyncWriteExt, Interest};
use heist::net::{TcpListener, TcpStream};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::pin::pin;

#[test]
fn an_end_in_one_direction_leaves_the_other() {
    on_both(|| async {
        let (mut stream, mut peer) = with_std_peer().await;
        peer.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
        stream.write_all(b"you cannot answer").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut heard = String::new();
        peer.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "you cannot answer");
        assert_eq!(stream.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_reset_before_it_is_accepted() {
    on_both(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        reset(std::net::TcpStream::connect(addr).unwrap());
        let (mut broken, _) = listener.accept().await.unwrap();
        let error = broken.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        // The listener goes on.
        let client = TcpStream::connect(addr).await.unwrap();
        let (_, from) = listener.accept().await.unwrap();
        assert_eq!(from, client.local_addr().unwrap());
    });
}

#[test]
fn a_reset_while_a_task_reads() {
    on_both(|| async {
        let (mut stream, peer) = with_std_peer().await;
        let mut buf = [0; 8];
        let mut read = pin!(stream.read(&mut buf));
        assert!(poll_once(&mut read).await.is_pending());
        reset(peer);
        assert_eq!(read.await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_reset_behind_data_takes_the_data_along() {
    on_both(|| async {
        let (mut stream, mut peer) = with_std_peer().await;
        peer.write_all(b"never read").unwrap();
        reset(peer);
        // Linux drops what was not read; another system might hand it out first.
        let mut all = vec![];
        let error = stream.read_to_end(&mut all).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_reset_while_a_task_writes() {
    on_both(|| async {
        let (mut stream, peer) = with_std_peer().await;
        let much = vec![0; 16 << 20];
        let mut write = pin!(stream.write_all(&much));
        assert!(poll_once(&mut write).await.is_pending());
        reset(peer);
        assert_eq!(write.await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_reset_while_halves_read_and_write() {
    on_both(|| async {
        let (stream, peer) = with_std_peer().await;
        let (mut read, mut write) = stream.into_split();
        let reader = heist::spawn(async move { read.read(&mut [0; 8]).await });
        let writer = heist::spawn(async move { write.write_all(&vec![0; 16 << 20]).await });
        heist::task::yield_now().await;
        reset(peer);
        let errors = [reader.await.unwrap().map(drop), writer.await.unwrap()];
        // The first to come gets the reset, and the other one an end or a broken pipe.
        let kind = |result: &std::io::Result<()>| result.as_ref().err().map(|error| error.kind());
        assert!(errors.iter().any(|result| kind(result) == Some(ErrorKind::ConnectionReset)));
        assert!(errors[1].is_err());
    });
}

#[test]
fn a_reset_while_tasks_peek_and_wait() {
    on_both(|| async {
        let (stream, peer) = with_std_peer().await;
        let mut buf = [0; 8];
        let mut peek = pin!(stream.peek(&mut buf));
        assert!(poll_once(&mut peek).await.is_pending());
        reset(peer);
        assert_eq!(peek.await.unwrap_err().kind(), ErrorKind::ConnectionReset);

        let (stream, peer) = with_std_peer().await;
        assert_eq!(stream.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut ready = pin!(stream.ready(Interest::READABLE));
        assert!(poll_once(&mut ready).await.is_pending());
        reset(peer);
        assert!(ready.await.unwrap().is_read_closed());
        stream.writable().await.unwrap();
        let error = stream.take_error().unwrap().unwrap();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        // It was taken.
        assert!(stream.take_error().unwrap().is_none());
    });
}

#[test]
fn a_reset_between_writes() {
    on_both(|| async {
        let (mut stream, peer) = with_std_peer().await;
        stream.write_all(b"x").await.unwrap();
        assert_eq!(stream.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        reset(peer);
        stream.readable().await.unwrap();
        assert_eq!(stream.write(b"x").await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(stream.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        // The peer is gone: there is nobody to shut down.
        stream.shutdown().await.unwrap();
    });
}

/// The connection was there, and is gone before anybody looks.
#[test]
fn our_own_reset_reaches_the_peer() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        stream.set_zero_linger().unwrap();
        drop(stream);
        let error = peer.read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

/// The next socket often has the number of the last: nothing of the old one may reach it.
#[test]
fn a_number_that_is_used_again_is_another_socket() {
    on_both(|| async {
        let mut reused = 0;
        let mut last = None;
        for round in 0..200 {
            let (stream, mut peer) = with_std_peer().await;
            reused += usize::from(last == Some(stream.as_raw_fd()));
            last = Some(stream.as_raw_fd());
            // Nothing was sent on this one: whatever is ready here was meant for another.
            assert_eq!(stream.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
            {
                let mut readable = pin!(stream.readable());
                assert!(poll_once(&mut readable).await.is_pending(), "in round {round}");
            }
            // It is closed with an event under way, in one way or another.
            match round % 3 {
                0 => peer.write_all(b"late").unwrap(),
                1 => reset(peer),
                _ => {}
            }
        }
        assert!(reused > 0, "no number was ever used again");
    });
}

#[test]
fn dropping_one_half_does_not_disturb_a_task_with_the_other() {
    on_both(|| async {
        let (stream, mut peer) = with_std_peer().await;
        let (mut read, write) = stream.into_split();
        let reader = heist::spawn(async move {
            let mut all = String::new();
            read.read_to_string(&mut all).await.unwrap();
            all
        });
        heist::task::yield_now().await;
        drop(write);
        peer.write_all(b"hello").unwrap();
        drop(peer);
        assert_eq!(reader.await.unwrap(), "hello");
    });
}

#[test]
fn a_stream_outlives_its_runtime_and_says_so() {
    let rt = crate::support::runtime(1);
    let (mut client, server) = rt.block_on(tcp_pair());
    let other = crate::support::runtime(1);
    let waiting = other.spawn(async move {
        let result = client.read(&mut [0; 8]).await;
        (client, result)
    });
    // Let it wait.
    other.block_on(other.spawn(heist::task::yield_now())).unwrap();
    drop(rt);
    let (client, result) = other.block_on(waiting).unwrap();
    assert!(heist::runtime::is_rt_shutdown_err(&result.unwrap_err()));
    let error = other.block_on(client.readable()).unwrap_err();
    assert!(heist::runtime::is_rt_shutdown_err(&error));
    // What needs nobody to wait for it still works.
    client.local_addr().unwrap();
    let mut server = server.into_std().unwrap();
    server.set_nonblocking(false).unwrap();
    drop(client);
    assert_eq!(server.read(&mut [0; 8]).unwrap(), 0);
}
