//! Reading, writing, and what that says about readiness.

use super::{BOTH, WakeCounter, pair, reactors, watched};
use crate::reactor::Reactors;
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use crate::task::coop;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use std::future::Future;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::io::ReadBuf;

fn read<S: AsFd>(source: &Evented<S>, room: usize) -> Poll<io::Result<Vec<u8>>> {
    let mut memory = vec![0; room];
    let mut buf = ReadBuf::new(&mut memory);
    let mut cx = Context::from_waker(Waker::noop());
    source.poll_recv(&mut cx, &mut buf).map_ok(|()| buf.filled().to_vec())
}

fn got<T>(result: Poll<io::Result<T>>) -> T {
    match result {
        Poll::Ready(result) => result.unwrap(),
        Poll::Pending => panic!("it waits"),
    }
}

/// Assumed to be ready for everything.
fn assumed(reactors: &Arc<Reactors>) -> (Evented<UnixStream>, UnixStream) {
    let (near, far) = pair();
    (Evented::new(reactors.clone(), near, BOTH), far)
}

/// Both ends of a connection. The near one is watched, and known to be writable.
fn tcp(reactors: &Arc<Reactors>) -> (Evented<TcpStream>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (near, _) = listener.accept().unwrap();
    near.set_nonblocking(true).unwrap();
    let source = Evented::new(reactors.clone(), near, BOTH);
    assert!(read(&source, 1).is_pending());
    reactors[0].turn(Waker::wake);
    (source, far)
}

#[test]
fn what_is_there_is_read_without_a_reactor() {
    let reactors = reactors(1);
    let (source, mut far) = assumed(&reactors);
    far.write_all(b"ping").unwrap();
    assert_eq!(got(read(&source, 4)), b"ping");
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(got(source.poll_send(&mut cx, b"pong")), 4);
    assert_eq!(reactors[0].sources.len(), 0);
}

#[test]
fn a_read_waits_for_an_event() {
    let reactors = reactors(1);
    let (source, mut far) = assumed(&reactors);
    let (counter, waker) = WakeCounter::new();
    let mut cx = Context::from_waker(&waker);
    let mut memory = [0; 8];
    assert!(source.poll_recv(&mut cx, &mut ReadBuf::new(&mut memory)).is_pending());
    far.write_all(b"ping").unwrap();
    reactors[0].turn(Waker::wake);
    assert_eq!(counter.wakes(), 1);
    assert_eq!(got(read(&source, 8)), b"ping");
    assert!(read(&source, 8).is_pending());
}

#[test]
fn a_short_read_is_the_last_until_an_event_comes() {
    let reactors = reactors(1);
    let (source, mut far) = tcp(&reactors);
    far.write_all(b"pingpong").unwrap();
    // What is sent on loopback is there.
    reactors[0].turn(Waker::wake);
    assert_eq!(got(read(&source, 4)), b"ping");
    assert_eq!(got(read(&source, 8)), b"pong", "a full buffer says nothing");
    far.write_all(b"more").unwrap();
    assert!(read(&source, 8).is_pending(), "without a system call");
    reactors[0].turn(Waker::wake);
    assert_eq!(got(read(&source, 8)), b"more");
}

#[test]
fn the_end_is_read_after_a_short_read() {
    let reactors = reactors(1);
    let (source, mut far) = tcp(&reactors);
    far.write_all(b"last").unwrap();
    drop(far);
    reactors[0].turn(Waker::wake);
    assert_eq!(got(read(&source, 8)), b"last");
    assert_eq!(got(read(&source, 8)), b"");
    assert_eq!(got(read(&source, 8)), b"", "again and again");
}

#[test]
fn the_end_is_read_without_a_reactor() {
    let reactors = reactors(1);
    let (source, far) = assumed(&reactors);
    drop(far);
    (0..2).for_each(|_| assert_eq!(got(read(&source, 8)), b""));
    assert_eq!(reactors[0].sources.len(), 0);
}

#[test]
fn an_urgent_byte_makes_a_read_short_and_not_the_last() {
    let reactors = reactors(1);
    let (source, mut far) = tcp(&reactors);
    far.write_all(b"before").unwrap();
    rustix::net::send(&far, b"!", SendFlags::OOB).unwrap();
    far.write_all(b"behind").unwrap();
    reactors[0].turn(Waker::wake);
    assert_eq!(got(read(&source, 64)), b"before");
    assert_eq!(got(read(&source, 64)), b"behind");
}

#[test]
fn a_descriptor_on_the_way_makes_a_read_short_and_not_the_last() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let stdin = io::stdin();
    let fds = [stdin.as_fd()];
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&fds)));
    let bytes = [IoSlice::new(b"before")];
    rustix::net::sendmsg(&far, &bytes, &mut ancillary, SendFlags::empty()).unwrap();
    far.write_all(b"behind").unwrap();

    let mut cx = Context::from_waker(Waker::noop());
    let mut read_all = || {
        let mut memory = [0; 64];
        let mut buf = ReadBuf::new(&mut memory);
        source.poll_recv_all(&mut cx, &mut buf).map_ok(|()| buf.filled().to_vec())
    };
    assert!(read_all().is_pending());
    reactors[0].turn(Waker::wake);
    assert_eq!(got(read_all()), b"before");
    assert_eq!(got(read_all()), b"behind");
}

#[test]
fn reading_leaves_what_is_in_the_buffer() {
    let reactors = reactors(1);
    let (source, mut far) = assumed(&reactors);
    far.write_all(b"pong").unwrap();
    let mut memory = [MaybeUninit::uninit(); 16];
    let mut buf = ReadBuf::uninit(&mut memory);
    buf.put_slice(b"ping");
    let mut cx = Context::from_waker(Waker::noop());
    got(source.poll_recv(&mut cx, &mut buf));
    assert_eq!(buf.filled(), b"pingpong");
    assert_eq!(buf.initialized().len(), 8, "nothing is zeroed");
}

#[test]
fn a_read_into_no_room_says_nothing() {
    let reactors = reactors(1);
    let (source, mut far) = assumed(&reactors);
    assert_eq!(got(read(&source, 0)), b"");
    far.write_all(b"ping").unwrap();
    assert_eq!(got(read(&source, 4)), b"ping");
}

/// Fills it until it takes no more; how much that was.
fn fill(
    source: &Evented<UnixStream>,
    write: impl Fn(&mut Context<'_>) -> Poll<io::Result<usize>>,
) -> usize {
    let mut cx = Context::from_waker(Waker::noop());
    let mut total = 0;
    while let Poll::Ready(written) = write(&mut cx) {
        total += written.unwrap();
    }
    assert!(source.registration.is_registered());
    total
}

fn drain(far: &mut UnixStream, mut len: usize) {
    let mut memory = vec![0; 1 << 16];
    while len > 0 {
        len -= far.read(&mut memory).unwrap();
    }
}

#[test]
fn a_write_waits_for_room() {
    let reactors = reactors(1);
    let (source, mut far) = assumed(&reactors);
    let bytes = vec![1; 100_000];
    let written = fill(&source, |cx| source.poll_send(cx, &bytes));
    reactors[0].turn(Waker::wake);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(source.poll_send(&mut cx, &bytes).is_pending());
    drain(&mut far, written);
    assert!(source.poll_send(&mut cx, &bytes).is_pending(), "without a system call");
    reactors[0].turn(Waker::wake);
    assert!(source.poll_send(&mut cx, &bytes).is_ready());
}

#[test]
fn a_short_write_is_the_last_until_an_event_comes() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    let bytes = vec![1; 3_000_000];
    let mut cx = Context::from_waker(Waker::noop());
    assert!(source.poll_send(&mut cx, &bytes).is_pending());
    reactors[0].turn(Waker::wake);
    let written = got(source.poll_send(&mut cx, &bytes));
    assert!(written < bytes.len(), "that is more than fits");
    drain(&mut far, written);
    assert!(source.poll_send(&mut cx, &bytes).is_pending(), "without a system call");
    reactors[0].turn(Waker::wake);
    assert!(source.poll_send(&mut cx, &bytes).is_ready());
}

#[test]
fn several_buffers_are_written_as_one() {
    let reactors = reactors(1);
    let (source, mut far) = assumed(&reactors);
    let bufs = [IoSlice::new(b"ping"), IoSlice::new(b"pong")];
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(got(source.poll_write_vectored(&mut cx, &bufs)), 8);
    let mut memory = [0; 8];
    far.read_exact(&mut memory).unwrap();
    assert_eq!(&memory, b"pingpong");
    let many = vec![bufs[0]; 3000];
    let written = fill(&source, |cx| source.poll_write_vectored(cx, &many));
    assert!(written > 4 * 1024, "more buffers than fit in a call do not mean that it is full");
    drain(&mut far, written);
}

#[test]
fn an_operation_that_finds_nothing_is_called_once_an_event() {
    let reactors = reactors(1);
    let (source, _far) = watched(&reactors);
    let (counter, waker) = WakeCounter::new();
    let mut cx = Context::from_waker(&waker);
    let mut calls = 0;
    let mut poll = |cx: &mut Context<'_>| {
        let poll = source.poll_io::<()>(cx, Direction::Write, |_| {
            calls += 1;
            Err(io::ErrorKind::WouldBlock.into())
        });
        assert!(poll.is_pending());
        calls
    };
    assert_eq!(poll(&mut cx), 0);
    reactors[0].turn(Waker::wake);
    assert_eq!((poll(&mut cx), counter.wakes()), (1, 1));
    // As an error makes a datagram socket look.
    let mut wakers = Vec::new();
    let ready = Ready::WRITABLE | Ready::WRITE_CLOSED | Ready::ERROR;
    source.registration.source().event(ready, &mut wakers);
    assert_eq!((poll(&mut cx), wakers.len()), (2, 1));
    assert_eq!(poll(&mut cx), 2);
}

#[test]
fn an_operation_on_both_sides_does_not_forget_that_one_is_closed() {
    let reactors = reactors(1);
    let (source, far) = watched(&reactors);
    let (counter, waker) = WakeCounter::new();
    let mut cx = Context::from_waker(&waker);
    let mut calls = 0;
    let mut io = pin!(source.io::<()>(BOTH, |_| {
        calls += 1;
        Err(io::ErrorKind::WouldBlock.into())
    }));
    assert!(io.as_mut().poll(&mut cx).is_pending());
    far.shutdown(std::net::Shutdown::Write).unwrap();
    reactors[0].turn(Waker::wake);
    assert_eq!(counter.wakes(), 1);
    assert!(io.as_mut().poll(&mut cx).is_pending());
    assert_eq!(counter.wakes(), 2, "it wakes itself rather than go round and round");
    assert!(read(&source, 8).is_ready());
}

#[test]
fn what_is_interrupted_is_tried_again() {
    let reactors = reactors(1);
    let (source, _far) = assumed(&reactors);
    let mut calls = 0;
    let mut cx = Context::from_waker(Waker::noop());
    let result = source.poll_io(&mut cx, Direction::Read, |_| {
        calls += 1;
        if calls < 3 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(calls) }
    });
    assert_eq!(got(result), 3);
}

#[test]
fn try_io_asks_the_system_if_no_reactor_does() {
    let reactors = reactors(1);
    let (source, mut far) = assumed(&reactors);
    let try_read = || source.try_io(Interest::READABLE, |mut near| near.read(&mut [0; 8]));
    for _ in 0..3 {
        assert_eq!(try_read().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
    far.write_all(b"ping").unwrap();
    assert_eq!(try_read().unwrap(), 4);
    assert_eq!(reactors[0].sources.len(), 0);
}

#[test]
fn try_io_believes_the_reactor() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    assert!(read(&source, 8).is_pending());
    let try_read = || source.try_io(Interest::READABLE, |mut near| near.read(&mut [0; 8]));
    far.write_all(b"ping").unwrap();
    assert_eq!(try_read().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    reactors[0].turn(Waker::wake);
    assert_eq!(try_read().unwrap(), 4);
    assert_eq!(try_read().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    far.write_all(b"ping").unwrap();
    assert_eq!(try_read().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

/// W9: an operation that completes takes a unit, one that waits does not; without units nothing is
/// done.
#[test]
fn w9_operations_take_budget() {
    let reactors = reactors(1);
    let (source, mut far) = assumed(&reactors);
    far.write_all(&[1; 1000]).unwrap();
    let (counter, waker) = WakeCounter::new();
    let mut cx = Context::from_waker(&waker);
    let count = |operation: &mut dyn FnMut() -> bool| {
        coop::with_fresh_budget(|| (0..1000).take_while(|_| operation()).count())
    };
    assert_eq!(count(&mut || read(&source, 1).is_ready()), 128);
    assert_eq!(count(&mut || source.poll_send(&mut cx, b"x").is_ready()), 128);
    assert_eq!(counter.wakes(), 1, "the task is woken at once");
    let mut poll = || source.poll_io(&mut cx, Direction::Write, |_| Ok(())).is_ready();
    assert_eq!(count(&mut poll), 128);
    let mut io = || pin!(source.io(Interest::WRITABLE, |_| Ok(()))).poll(&mut cx).is_ready();
    assert_eq!(count(&mut io), 128);

    let (idle, _far) = watched(&reactors);
    let mut waits = || idle.poll_io::<()>(&mut cx, Direction::Read, |_| Ok(())).is_pending();
    assert_eq!(count(&mut waits), 1000);
    coop::with_fresh_budget(|| {
        assert!((0..1000).all(|_| read(&idle, 1).is_pending()));
        assert!(coop::has_budget_remaining());
    });
}
