//! Descriptors of the user's own in a runtime.

use crate::support::runtime;
use heist::io::unix::AsyncFd;
use heist::io::{Interest, Ready};
use heist::runtime::{Builder, is_rt_shutdown_err};
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

fn pair() -> (UnixStream, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    far.set_nonblocking(true).unwrap();
    (near, far)
}

fn register<T: AsRawFd>(inner: T) -> AsyncFd<T> {
    // SAFETY: (type) all that is registered here keeps its descriptor open.
    unsafe { AsyncFd::register(inner) }.map_err(io::Error::from).unwrap()
}

async fn read_exact(fd: &AsyncFd<UnixStream>, mut bytes: &mut [u8]) {
    while !bytes.is_empty() {
        let len = fd.async_io(Interest::READABLE, |mut fd| fd.read(bytes)).await.unwrap();
        assert_ne!(len, 0, "the other side is still there");
        bytes = &mut bytes[len..];
    }
}

async fn write_all(fd: &AsyncFd<UnixStream>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let len = fd.async_io(Interest::WRITABLE, |mut fd| fd.write(bytes)).await.unwrap();
        bytes = &bytes[len..];
    }
}

/// No event is lost, whichever worker waits: each byte is answered before the next is sent.
#[test]
fn pairs_talk_across_workers() {
    let runtime = runtime(2);
    let talk = async {
        let mut tasks = Vec::new();
        for number in 0..32_u8 {
            let (near, far) = pair();
            let (near, far) = (register(near), register(far));
            tasks.push(heist::spawn(async move {
                for round in 0..200 {
                    write_all(&near, &[number ^ round]).await;
                    let mut answer = [0];
                    read_exact(&near, &mut answer).await;
                    assert_eq!(answer, [!(number ^ round)]);
                }
            }));
            tasks.push(heist::spawn(async move {
                for _ in 0..200 {
                    let mut byte = [0];
                    read_exact(&far, &mut byte).await;
                    write_all(&far, &[!byte[0]]).await;
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    };
    runtime.block_on(runtime.spawn(talk)).unwrap();
}

/// More than fits, in both directions at once, in one task each.
#[test]
fn a_large_message_arrives_whole() {
    let runtime = runtime(2);
    let message: Arc<Vec<u8>> = Arc::new((0..3_000_000_u32).map(|n| (n % 251) as u8).collect());
    runtime.block_on(async {
        let (near, far) = pair();
        let (near, far) = (Arc::new(register(near)), Arc::new(register(far)));
        let tasks = [near, far].map(|fd| {
            let (writer, sent) = (fd.clone(), message.clone());
            let write = heist::spawn(async move { write_all(&writer, &sent).await });
            let read = heist::spawn(async move {
                let mut bytes = vec![0; 3_000_000];
                read_exact(&fd, &mut bytes).await;
                bytes
            });
            (write, read)
        });
        for (write, read) in tasks {
            write.await.unwrap();
            assert_eq!(read.await.unwrap(), *message);
        }
    });
}

#[test]
fn any_number_of_tasks_may_wait() {
    let runtime = runtime(2);
    runtime.block_on(async {
        let (near, mut far) = pair();
        let near = Arc::new(register(near));
        let tasks: Vec<_> = (0..10)
            .map(|_| {
                let near = near.clone();
                heist::spawn(async move { near.readable().await.unwrap().ready() })
            })
            .collect();
        let given_up = heist::spawn({
            let near = near.clone();
            async move { near.readable().await.map(|_| ()) }
        });
        given_up.abort();
        far.write_all(b"x").unwrap();
        for task in tasks {
            assert_eq!(task.await.unwrap(), Ready::READABLE);
        }
    });
}

#[test]
fn a_guard_says_what_is_not_ready_any_more() {
    let runtime = runtime(1);
    runtime.block_on(async {
        let (near, mut far) = pair();
        let mut near = register(near);
        far.write_all(b"x").unwrap();
        let mut guard = near.readable_mut().await.unwrap();
        assert_eq!(guard.ready(), Ready::READABLE);
        assert_eq!(guard.try_io(|near| near.get_mut().read(&mut [0; 8])).unwrap().unwrap(), 1);
        assert!(guard.try_io(|near| near.get_mut().read(&mut [0; 8])).is_err());
        assert_eq!(guard.ready(), Ready::EMPTY);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(pin!(near.readable()).poll(&mut cx).is_pending());

        far.write_all(b"x").unwrap();
        let mut guard = near.readable().await.unwrap();
        guard.clear_ready_matching(Ready::WRITABLE);
        assert_eq!(guard.ready(), Ready::READABLE);
        guard.clear_ready_matching(Ready::READABLE);
        assert_eq!(guard.ready(), Ready::EMPTY);
        assert!(pin!(near.readable()).poll(&mut cx).is_pending());

        drop(far);
        let mut guard = near.readable().await.unwrap();
        assert!(guard.ready().is_read_closed());
        guard.clear_ready();
        let Poll::Ready(Ok(guard)) = pin!(near.readable()).poll(&mut cx) else {
            panic!("what is closed stays closed")
        };
        assert_eq!(guard.ready(), Ready::READ_CLOSED);
    });
}

#[test]
fn a_descriptor_that_cannot_be_watched_is_given_back() {
    #[derive(Debug)]
    struct Number(RawFd);
    impl AsRawFd for Number {
        fn as_raw_fd(&self) -> RawFd {
            self.0
        }
    }
    let runtime = runtime(1);
    let _entered = runtime.enter();
    // SAFETY: (type) there is no such descriptor, and so none that could be closed.
    let error = unsafe { AsyncFd::register(Number(-1)) }.unwrap_err();
    let (Number(-1), error) = error.into_parts() else { panic!("what was given comes back") };
    assert_eq!(error.raw_os_error(), Some(9), "EBADF");
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    // SAFETY: (type) a File keeps its descriptor open.
    let error: io::Error = unsafe { AsyncFd::register(file) }.unwrap_err().into();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
}

#[test]
fn a_waiter_learns_that_the_runtime_is_gone() {
    let runtime = runtime(1);
    let (near, _far) = pair();
    let near = {
        let _entered = runtime.enter();
        register(near)
    };
    let mut readable = pin!(near.readable());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(readable.as_mut().poll(&mut cx).is_pending());
    drop(runtime);
    let Poll::Ready(Err(error)) = readable.poll(&mut cx) else { panic!("the runtime is gone") };
    assert!(is_rt_shutdown_err(&error));
    let Poll::Ready(Err(error)) = near.poll_write_ready(&mut cx) else { panic!("it is gone") };
    assert!(is_rt_shutdown_err(&error));
}

/// W9: to be told that it is ready takes a unit.
#[test]
fn w9_waiting_takes_budget() {
    let runtime = runtime(1);
    runtime.block_on(async {
        let (near, _far) = pair();
        let near = register(near);
        let _ = near.writable().await.unwrap();
        let count = async move {
            let count = poll_fn(|cx| {
                let is_ready = |_: &i32| near.poll_write_ready(cx).is_ready();
                Poll::Ready((0..1000).take_while(is_ready).count())
            });
            count.await
        };
        assert_eq!(heist::spawn(count).await.unwrap(), 128);
    });
}

#[test]
#[should_panic(expected = "AsyncFd::register: this runtime does no I/O")]
fn a_runtime_without_io_says_so() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let _entered = runtime.enter();
    register(pair().0);
}
