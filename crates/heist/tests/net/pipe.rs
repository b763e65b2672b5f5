//! Pipes and FIFOs.

use crate::support::net::{TempDir, on_both, poll_once};
use heist::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest};
use heist::net::unix::pipe::{OpenOptions, Receiver, Sender, pipe};
use rustix::fs::{CWD, Mode, OFlags, fcntl_getfl, mkfifoat};
use std::fs::File;
use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::pin::Pin;
use std::task::Poll;

fn fifo(dir: &TempDir) -> PathBuf {
    let path = dir.path("fifo");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    path
}

/// A pipe that blocks.
fn blocking_pipe() -> (OwnedFd, OwnedFd) {
    rustix::pipe::pipe().unwrap()
}

#[test]
fn what_is_sent_arrives() {
    on_both(|| async {
        let (mut sender, mut receiver) = pipe().unwrap();
        let much: Vec<u8> = (0..1 << 20).map(|n| (n % 251) as u8).collect();
        let sent = much.clone();
        let writer = heist::spawn(async move {
            sender.write_all(&sent).await.unwrap();
            // There is nothing to shut down, so it does nothing.
            sender.shutdown().await.unwrap();
            sender.write_all(b"!").await.unwrap();
        });
        let mut got = vec![];
        receiver.read_to_end(&mut got).await.unwrap();
        assert_eq!(got.pop(), Some(b'!'));
        assert!(got == much);
        writer.await.unwrap();
    });
}

#[test]
fn readiness_follows_the_data() {
    on_both(|| async {
        let (sender, receiver) = pipe().unwrap();
        let mut readable = Box::pin(receiver.readable());
        assert!(poll_once(&mut readable).await.is_pending());
        assert_eq!(receiver.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        sender.writable().await.unwrap();
        assert_eq!(sender.try_write(b"abcd").unwrap(), 4);
        let parts = [IoSlice::new(b"e"), IoSlice::new(b"f")];
        assert_eq!(sender.try_write_vectored(&parts).unwrap(), 2);
        readable.await.unwrap();
        poll_fn(|cx| receiver.poll_read_ready(cx)).await.unwrap();
        assert!(receiver.ready(Interest::READABLE).await.unwrap().is_readable());
        let mut buf = [0; 2];
        assert_eq!(receiver.try_read(&mut buf).unwrap(), 2);
        assert_eq!(receiver.try_read_vectored(&mut [IoSliceMut::new(&mut buf)]).unwrap(), 2);
        let mut all = vec![];
        assert_eq!(receiver.try_read_buf(&mut all).unwrap(), 2);
        assert_eq!((&buf, &*all), (b"cd", &b"ef"[..]));
        let read = || Ok(rustix::io::read(&receiver, &mut [0; 8])?);
        assert_eq!(receiver.try_io(read).unwrap_err().kind(), ErrorKind::WouldBlock);

        while sender.try_write(&[0; 4096]).is_ok() {}
        let is_pending = poll_fn(|cx| Poll::Ready(sender.poll_write_ready(cx).is_pending())).await;
        assert!(is_pending);
        let write = || Ok(rustix::io::write(&sender, b"x")?);
        assert_eq!(sender.try_io(write).unwrap_err().kind(), ErrorKind::WouldBlock);
        receiver.readable().await.unwrap();
        receiver.try_read(&mut vec![0; 1 << 20]).unwrap();
        assert!(sender.ready(Interest::WRITABLE).await.unwrap().is_writable());
        assert_eq!(sender.try_io(write).unwrap(), 1);
    });
}

#[test]
fn either_end_sees_that_the_other_is_gone() {
    on_both(|| async {
        let (sender, mut receiver) = pipe().unwrap();
        let mut buf = [0; 8];
        let mut read = Box::pin(receiver.read(&mut buf));
        assert!(poll_once(&mut read).await.is_pending());
        drop(sender);
        assert_eq!(read.await.unwrap(), 0);

        let (mut sender, receiver) = pipe().unwrap();
        assert!(sender.is_write_vectored());
        let much = vec![0; 1 << 20];
        let parts = [IoSlice::new(&much), IoSlice::new(&much)];
        poll_fn(|cx| Pin::new(&mut sender).poll_write_vectored(cx, &parts)).await.unwrap();
        let mut write = Box::pin(sender.write_all(&much));
        assert!(poll_once(&mut write).await.is_pending());
        drop(receiver);
        assert_eq!(write.await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        sender.flush().await.unwrap();
    });
}

#[test]
fn a_fifo_has_two_ends() {
    on_both(|| async {
        let dir = TempDir::new();
        let path = fifo(&dir);
        let options = OpenOptions::new();
        // Nobody reads.
        let error = options.open_sender(&path).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NXIO.raw_os_error()));
        let mut receiver = options.open_receiver(&path).unwrap();
        // A pipe without a writer so far is not at its end.
        let mut buf = [0; 8];
        assert_eq!(receiver.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        {
            let mut read = Box::pin(receiver.read(&mut buf));
            assert!(poll_once(&mut read).await.is_pending());
            let mut sender = options.open_sender(&path).unwrap();
            sender.write_all(b"hello").await.unwrap();
            assert_eq!(read.await.unwrap(), 5);
        }
        // But that the last one is gone is.
        assert_eq!(receiver.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn a_fifo_open_in_both_ways_has_no_end() {
    on_both(|| async {
        let dir = TempDir::new();
        let path = fifo(&dir);
        let mut options = OpenOptions::new();
        options.read_write(true);
        let mut sender = options.open_sender(&path).unwrap();
        sender.write_all(b"hello").await.unwrap();
        let mut receiver = options.clone().open_receiver(&path).unwrap();
        drop(sender);
        let mut buf = [0; 5];
        receiver.read_exact(&mut buf).await.unwrap();
        let mut read = Box::pin(receiver.read(&mut buf));
        assert!(poll_once(&mut read).await.is_pending());
    });
}

#[test]
fn what_is_no_pipe_is_refused() {
    on_both(|| async {
        let dir = TempDir::new();
        let path = dir.path("file");
        std::fs::write(&path, "text").unwrap();
        let mut options = OpenOptions::default();
        for error in [
            options.open_receiver(&path).unwrap_err(),
            options.open_sender(&path).unwrap_err(),
            Receiver::from_file(File::open(&path).unwrap()).unwrap_err(),
            Sender::from_file(File::create(&path).unwrap()).unwrap_err(),
            Receiver::from_owned_fd(File::open(&path).unwrap().into()).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(options.open_receiver(dir.path("no")).unwrap_err().kind(), ErrorKind::NotFound);
        // A regular file cannot be waited for.
        options.unchecked(true);
        assert!(options.open_receiver(&path).is_err());
        assert!(Receiver::from_file_unchecked(File::open(&path).unwrap()).is_err());
    });
}

#[test]
fn something_like_a_pipe_works_unchecked() {
    on_both(|| async {
        let (one, mut peer) = std::os::unix::net::UnixStream::pair().unwrap();
        one.set_nonblocking(true).unwrap();
        let fd = OwnedFd::from(one.try_clone().unwrap());
        let mut receiver = Receiver::from_owned_fd_unchecked(OwnedFd::from(one)).unwrap();
        let mut sender = Sender::from_owned_fd_unchecked(fd).unwrap();
        sender.write_all(b"x").await.unwrap();
        peer.read_exact(&mut [0]).unwrap();
        peer.write_all(b"y").unwrap();
        assert_eq!(receiver.read_u8().await.unwrap(), b'y');
    });
}

#[test]
fn the_wrong_end_is_refused() {
    on_both(|| async {
        let (read, write) = blocking_pipe();
        let error = Sender::from_owned_fd(read).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = Receiver::from_owned_fd(write).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn descriptors_come_and_go() {
    on_both(|| async {
        let (read, write) = blocking_pipe();
        let (read_fd, write_fd) = (read.as_raw_fd(), write.as_raw_fd());
        let mut receiver = Receiver::from_owned_fd(read).unwrap();
        let mut sender = Sender::from_file(File::from(write)).unwrap();
        for fd in [receiver.as_fd(), sender.as_fd()] {
            assert!(fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK));
        }
        assert_eq!((receiver.as_raw_fd(), sender.as_raw_fd()), (read_fd, write_fd));
        assert!(format!("{sender:?} {receiver:?}").contains(&read_fd.to_string()));
        sender.write_all(b"hello").await.unwrap();
        receiver.read_u8().await.unwrap();

        let receiver = receiver.into_nonblocking_fd().unwrap();
        assert!(fcntl_getfl(&receiver).unwrap().contains(OFlags::NONBLOCK));
        let receiver = Receiver::from_owned_fd_unchecked(receiver).unwrap();
        let receiver = receiver.into_blocking_fd().unwrap();
        assert!(!fcntl_getfl(&receiver).unwrap().contains(OFlags::NONBLOCK));
        let sender = sender.into_nonblocking_fd().unwrap();
        assert!(fcntl_getfl(&sender).unwrap().contains(OFlags::NONBLOCK));
        let sender = Sender::from_file_unchecked(sender.into()).unwrap();
        let sender = sender.into_blocking_fd().unwrap();
        assert!(!fcntl_getfl(&sender).unwrap().contains(OFlags::NONBLOCK));
        drop(sender);
        let mut rest = String::new();
        File::from(receiver).read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "ello");
    });
}
