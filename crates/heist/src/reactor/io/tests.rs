//! Descriptors of this process, with reactors that are turned by hand.

use super::{Direction, Evented, Interest, Ready};
use crate::reactor::timers::Clock;
use crate::reactor::{Config, Reactors};
use std::future::Future;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::ReadBuf;

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// Counts how often it is woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Bell {
    fn new() -> (Arc<Bell>, Waker) {
        let bell = Arc::new(Bell::default());
        (bell.clone(), bell.into())
    }

    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn pair() -> (UnixStream, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    far.set_nonblocking(true).unwrap();
    (near, far)
}

fn reactors(seats: usize) -> Arc<Reactors> {
    let config = Config {
        seats,
        is_guarded: false,
        has_io: true,
        has_time: false,
        clock: Clock::new(false),
    };
    Arc::new(Reactors::new(config).unwrap())
}

fn read(
    source: &Evented<UnixStream>,
    cx: &mut Context<'_>,
    room: usize,
) -> Poll<io::Result<Vec<u8>>> {
    let mut memory = vec![0; room];
    let mut buf = ReadBuf::new(&mut memory);
    source.poll_read(cx, &mut buf).map_ok(|()| buf.filled().to_vec())
}

fn got(bytes: Poll<io::Result<Vec<u8>>>) -> Vec<u8> {
    match bytes {
        Poll::Ready(result) => result.unwrap(),
        Poll::Pending => panic!("nothing was there"),
    }
}

#[test]
fn a_read_waits_for_an_event() {
    let reactors = reactors(1);
    let (near, mut far) = pair();
    let source = Evented::new(reactors.clone(), near, BOTH);
    let (bell, waker) = Bell::new();
    let mut cx = Context::from_waker(&waker);

    assert!(read(&source, &mut cx, 8).is_pending());
    far.write_all(b"ping").unwrap();
    reactors[0].turn();
    assert_eq!(bell.rings(), 1);
    assert_eq!(got(read(&source, &mut cx, 8)), b"ping");
    assert!(read(&source, &mut cx, 8).is_pending());
}

#[test]
fn a_ready_future_waits_for_an_event() {
    let reactors = reactors(1);
    let (near, mut far) = pair();
    let source = Evented::assumed(reactors.clone(), near, BOTH, Ready::EMPTY);
    let (bell, waker) = Bell::new();
    let mut cx = Context::from_waker(&waker);

    let mut ready = pin!(source.ready(Interest::READABLE));
    assert!(ready.as_mut().poll(&mut cx).is_pending());
    reactors[0].turn();
    assert_eq!(bell.rings(), 0, "it is writable only");
    far.write_all(b"ping").unwrap();
    reactors[0].turn();
    assert_eq!(bell.rings(), 1);
    let Poll::Ready(Ok(event)) = ready.poll(&mut cx) else { panic!("it is ready") };
    assert!(event.ready.is_readable() && !event.ready.is_writable());
}
