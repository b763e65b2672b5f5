//! Signals: which listeners receive them, and what else may go wrong.
//!
//! Signals are the whole process's, and tests run beside each other: each test has a kind of its
//! own. A signal is raised in the thread that sends it, so that its handler has run when that
//! returns.

mod support;

use heist::runtime::{Builder, Runtime};
use heist::signal::unix::{Signal, SignalKind, signal};
use heist::signal::{self, ctrl_c};
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use support::runtime;
use support::signals::raise;

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A kind that only one test uses.
fn real_time(number: i32) -> SignalKind {
    SignalKind::from_raw(libc::SIGRTMIN() + number)
}

/// Whether it has been told of a signal that nobody has taken yet.
async fn is_told(signal: &mut Signal) -> bool {
    poll_fn(|cx| Poll::Ready(signal.poll_recv(cx).is_ready())).await
}

#[test]
fn all_listeners_are_told() {
    let kind = real_time(0);
    for rt in [current_thread(), runtime(1), runtime(2)] {
        rt.block_on(async {
            let listeners: Vec<Signal> = (0..10).map(|_| signal(kind).unwrap()).collect();
            let waiting: Vec<_> = listeners
                .into_iter()
                .map(|mut listener| heist::spawn(async move { listener.recv().await }))
                .collect();
            raise(kind);
            for listener in waiting {
                assert_eq!(listener.await.unwrap(), Some(()));
            }
        });
    }
}

#[test]
fn kinds_are_told_apart() {
    current_thread().block_on(async {
        let kinds = [real_time(1), real_time(2), real_time(3)];
        let mut listeners = kinds.map(|kind| signal(kind).unwrap());
        for (sent, kind) in kinds.into_iter().enumerate() {
            raise(kind);
            listeners[sent].recv().await;
            for listener in &mut listeners {
                assert!(!is_told(listener).await, "{listener:?} was told of {kind:?}");
            }
        }
        // Several at once.
        kinds.into_iter().for_each(raise);
        for listener in &mut listeners {
            listener.recv().await;
        }
    });
}

#[test]
fn every_kind_with_a_name_can_be_listened_to() {
    let kinds = [
        (SignalKind::alarm(), libc::SIGALRM),
        (SignalKind::child(), libc::SIGCHLD),
        (SignalKind::hangup(), libc::SIGHUP),
        (SignalKind::io(), libc::SIGIO),
        (SignalKind::pipe(), libc::SIGPIPE),
        (SignalKind::quit(), libc::SIGQUIT),
        (SignalKind::terminate(), libc::SIGTERM),
        (SignalKind::user_defined1(), libc::SIGUSR1),
        (SignalKind::user_defined2(), libc::SIGUSR2),
        (SignalKind::window_change(), libc::SIGWINCH),
    ];
    current_thread().block_on(async {
        for (kind, number) in kinds {
            assert_eq!(i32::from(kind), number);
            let mut listener = signal(kind).unwrap();
            raise(kind);
            listener.recv().await;
        }
    });
}

#[test]
fn ctrl_c_is_sigint() {
    current_thread().block_on(async {
        let mut pressed = pin!(ctrl_c());
        assert!(poll_fn(|cx| Poll::Ready(pressed.as_mut().poll(cx).is_pending())).await);
        raise(SignalKind::interrupt());
        pressed.await.unwrap();
        signal::unix::signal(SignalKind::interrupt()).map(drop).unwrap();
    });
}

/// A second signal after the first was told is told.
#[test]
fn signals_in_turn_are_told_one_by_one() {
    let kind = real_time(5);
    for rt in [current_thread(), runtime(2)] {
        rt.block_on(async {
            let mut listener = signal(kind).unwrap();
            for _ in 0..1000 {
                raise(kind);
                listener.recv().await;
            }
        });
    }
}

/// A `recv` that is dropped takes no signal along.
#[test]
fn a_cancelled_recv_loses_nothing() {
    let kind = real_time(6);
    current_thread().block_on(async {
        let mut listener = signal(kind).unwrap();
        for _ in 0..100 {
            {
                let mut receives = pin!(listener.recv());
                assert!(poll_fn(|cx| Poll::Ready(receives.as_mut().poll(cx).is_pending())).await);
                raise(kind);
            }
            heist::task::yield_now().await;
            listener.recv().await;
        }
    });
}

#[test]
fn some_signals_cannot_be_listened_to() {
    current_thread().block_on(async {
        let forbidden = [libc::SIGKILL, libc::SIGSTOP, libc::SIGILL, libc::SIGFPE, libc::SIGSEGV];
        for number in forbidden {
            let error = signal(SignalKind::from_raw(number)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Other);
            assert!(error.to_string().contains("must not have a handler"), "{error}");
        }
        for number in [i32::MIN, -1, 0, libc::SIGRTMAX() + 1, 10_000, i32::MAX] {
            let error = signal(SignalKind::from_raw(number)).unwrap_err();
            assert!(error.to_string().contains("there is no signal"), "{error}");
        }
        // Between those that have names and the real-time ones are some that the C library keeps
        // for itself.
        assert!(signal(SignalKind::from_raw(32)).is_err());
        assert!(signal(SignalKind::from_raw(32)).is_err(), "also the second time");
    });
}

#[test]
fn without_io_it_panics_and_says_what_to_do() {
    let message = |f: &dyn Fn()| {
        let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        payload.downcast_ref::<String>().cloned().unwrap()
    };
    let without_io = Builder::new_current_thread().enable_time().build().unwrap();
    let said = message(&|| without_io.block_on(async { drop(signal(SignalKind::hangup())) }));
    assert!(said.contains("signal") && said.contains("enable_io"), "{said}");
    let said = message(&|| drop(signal(SignalKind::hangup())));
    assert!(said.contains("signal: "), "{said}");
}

#[test]
fn after_shutdown_there_is_an_error() {
    let rt = runtime(1);
    let handle = rt.handle().clone();
    drop(rt);
    let _entered = handle.enter();
    let error = signal(real_time(8)).unwrap_err();
    assert!(heist::runtime::is_rt_shutdown_err(&error), "{error}");
}

/// L3: a listener is told though the only worker is stuck in a task.
#[test]
fn l3_signals_are_told_beside_a_stuck_worker() {
    let kind = real_time(12);
    let rt = runtime(1);
    let mut listener = rt.block_on(async { signal(kind).unwrap() });
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let listens = rt.spawn(async move {
        listener.recv().await;
        writer.write_all(&[1]).unwrap();
    });
    let stuck = rt.spawn(async move {
        raise(kind);
        reader.read_exact(&mut [0]).unwrap();
    });
    rt.block_on(async { (listens.await.unwrap(), stuck.await.unwrap()) });
}

/// Of several wakers the last is woken.
#[test]
fn the_last_waker_counts() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let kind = real_time(13);
    let rt = current_thread();
    rt.block_on(async {
        let mut listener = signal(kind).unwrap();
        let counts: [Arc<Count>; 2] = std::array::from_fn(|_| Arc::new(Count(AtomicUsize::new(0))));
        for count in &counts {
            let waker = Waker::from(Arc::clone(count));
            assert!(listener.poll_recv(&mut Context::from_waker(&waker)).is_pending());
        }
        let mut other = signal(kind).unwrap();
        raise(kind);
        other.recv().await;
        assert_eq!(counts.map(|count| count.0.load(Ordering::SeqCst)), [0, 1]);
        assert!(is_told(&mut listener).await);
    });
}

/// A waker that panics keeps nobody else from being woken, then or later.
#[test]
fn a_waker_that_panics_affects_no_other_task() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("a waker that panics"));
        }
    }
    let kind = real_time(14);
    current_thread().block_on(async {
        let mut hostile = signal(kind).unwrap();
        let mut listener = signal(kind).unwrap();
        for _ in 0..3 {
            let waker = Waker::from(Arc::new(Panics));
            while hostile.poll_recv(&mut Context::from_waker(&waker)).is_ready() {}
            raise(kind);
            listener.recv().await;
        }
    });
}

/// W9: each signal takes one unit of the budget.
#[test]
fn w9_recv_takes_budget() {
    let kind = real_time(15);
    let rt = current_thread();
    rt.block_on(async {
        let mut listeners: Vec<Signal> = (0..200).map(|_| signal(kind).unwrap()).collect();
        raise(kind);
        // All of them are ready when the first is.
        listeners[0].recv().await;
        let ready = heist::spawn(async move {
            let mut ready = 0;
            for listener in &mut listeners[1..] {
                ready += usize::from(is_told(listener).await);
            }
            ready
        });
        assert_eq!(ready.await.unwrap(), 128);
    });
}
