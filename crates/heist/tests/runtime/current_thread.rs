//! The flavour without worker threads: the same promises, on the thread that waits.

use crate::support::Counted;
use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::UnixStream;
use heist::runtime::{Builder, Runtime, RuntimeFlavor};
use heist::task::yield_now;
use heist::time::sleep;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn tasks_run_on_the_thread_that_waits() {
    let runtime = runtime();
    assert_eq!(runtime.handle().runtime_flavor(), RuntimeFlavor::CurrentThread);
    let me = thread::current().id();
    let total = runtime.block_on(async {
        let joins: Vec<_> = (0..1000)
            .map(|number| {
                heist::spawn(async move {
                    yield_now().await;
                    (number, thread::current().id())
                })
            })
            .collect();
        let mut total = 0;
        for join in joins {
            let (number, thread) = join.await.unwrap();
            assert_eq!(thread, me);
            total += number;
        }
        total
    });
    assert_eq!(total, 999 * 1000 / 2);
}

/// F3: tasks that never stop leave the awaited future its turn.
#[test]
fn f3_the_awaited_future_is_not_starved() {
    let runtime = runtime();
    runtime.block_on(async {
        for _ in 0..3 {
            heist::spawn(async {
                loop {
                    yield_now().await;
                }
            });
        }
        for _ in 0..100 {
            yield_now().await;
        }
    });
}

/// F3: an awaited future that never waits leaves turns to all others: tasks spawned here and
/// elsewhere, timers, sockets, blocking closures.
#[test]
fn f3_an_awaited_future_that_never_waits_starves_nobody() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let elsewhere = thread::spawn(move || handle.spawn(async { yield_now().await }));
    runtime.block_on(async {
        let here = heist::spawn(async {
            for _ in 0..1000 {
                yield_now().await;
            }
        });
        let timer = heist::spawn(sleep(Duration::from_millis(1)));
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let socket = heist::spawn(async move { far.read_u8().await.unwrap() });
        yield_now().await;
        near.write_u8(7).await.unwrap();
        let closure = heist::task::spawn_blocking(|| ());
        let is_all_done = || {
            here.is_finished()
                && timer.is_finished()
                && socket.is_finished()
                && closure.is_finished()
        };
        while !is_all_done() || !elsewhere.is_finished() {
            yield_now().await;
        }
        let elsewhere = elsewhere.join().unwrap();
        while !elsewhere.is_finished() {
            yield_now().await;
        }
    });
}

/// A future that was woken while it ran is polled again without a search for other things.
#[test]
fn nothing_is_searched_for_while_the_awaited_future_is_woken() {
    let runtime = runtime();
    runtime.block_on(async {
        for _ in 0..1000 {
            yield_now().await;
        }
    });
    assert_eq!(runtime.metrics().worker_failed_search_count(0), 0);
}

/// Wakers are used again: one of a future that is gone wakes the next one for nothing, which does
/// no harm, and no wake-up is lost.
#[test]
fn wakers_of_futures_that_are_gone_do_no_harm() {
    for runtime in [runtime(), Runtime::new().unwrap()] {
        let old = runtime.block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        for round in 0..100 {
            let (sender, receiver) = heist::sync::oneshot::channel();
            let old = old.clone();
            let other = thread::spawn(move || {
                (0..round % 4).for_each(|_| old.wake_by_ref());
                sender.send(round).unwrap();
                (0..round % 3).for_each(|_| old.wake_by_ref());
            });
            assert_eq!(runtime.block_on(receiver).unwrap(), round);
            other.join().unwrap();
        }
    }
}

/// I1: asleep in `block_on`, it is woken by a spawn and by a wake-up from another thread.
#[test]
fn i1_woken_from_outside() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let (send, wakers) = mpsc::channel();
    let other = thread::spawn(move || {
        for _ in 0..1000 {
            let waker: std::task::Waker = wakers.recv().unwrap();
            waker.wake();
        }
        let (done, spawned) = mpsc::channel();
        handle.spawn(async move { done.send(()).unwrap() });
        spawned.recv().unwrap();
        wakers.recv().unwrap().wake();
    });
    let mut polls = 0;
    runtime.block_on(poll_fn(|cx| {
        polls += 1;
        let _ = send.send(cx.waker().clone());
        if polls > 1001 { Poll::Ready(()) } else { Poll::Pending }
    }));
    other.join().unwrap();
}

/// Several threads wait at once: one runs the tasks, and when it leaves another takes over.
#[test]
fn threads_take_turns() {
    let runtime = Arc::new(runtime());
    let start = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (runtime, start) = (runtime.clone(), start.clone());
            thread::spawn(move || {
                start.wait();
                for _ in 0..100 {
                    let join = runtime.spawn(async move {
                        yield_now().await;
                        number
                    });
                    assert_eq!(runtime.block_on(join).unwrap(), number);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// T6: what is left is dropped with the runtime, queued or waiting.
#[test]
fn t6_shutdown_drops_everything() {
    let (runtime, drops) = (runtime(), Arc::new(AtomicUsize::new(0)));
    let spawn = |waits: bool| {
        let held = Counted(drops.clone());
        runtime.spawn(async move {
            let _held = held;
            if waits {
                pending::<()>().await;
            }
        })
    };
    let waiting = spawn(true);
    runtime.block_on(yield_now());
    assert!(!waiting.is_finished());
    let queued = spawn(false);
    drop(runtime);
    assert_eq!(drops.load(Ordering::SeqCst), 2);
    assert!(waiting.is_finished() && queued.is_finished());
}

/// A future that panics in `block_on` leaves the runtime usable.
#[test]
fn a_panic_in_block_on_gives_the_worker_back() {
    let runtime = runtime();
    let panicked = catch_unwind(AssertUnwindSafe(|| runtime.block_on(async { panic!("oh") })));
    assert!(panicked.is_err());
    assert_eq!(runtime.block_on(runtime.spawn(async { 3 })).unwrap(), 3);
}

/// Waiting inside of a task would run nothing else; the panic says what to do instead.
#[test]
fn block_on_inside_a_task_is_refused() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let join = runtime.spawn(async move { handle.block_on(async {}) });
    let error = runtime.block_on(join).unwrap_err();
    assert!(error.to_string().contains("await the future instead"), "{error}");
}
