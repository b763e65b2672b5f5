//! Signals with several runtimes, some of which end.
//!
//! Any runtime of the process may be the one that hears of a signal. So these tests run one after
//! the other, and apart from others.

mod support;

use heist::runtime::Runtime;
use heist::signal::unix::{Signal, SignalKind, signal};
use heist::sync::mpsc;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::signals::raise;
use support::{current_thread, runtime};

const KIND: SignalKind = SignalKind::user_defined1();

fn one_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end of one runtime is none of the others' business.
#[test]
fn runtimes_do_not_depend_on_each_other() {
    let _alone = one_at_a_time();
    let kind = KIND;
    let mut runtimes: Vec<Runtime> =
        vec![current_thread(), runtime(1), runtime(2), current_thread()];
    let listen = |rt: &Runtime| rt.block_on(async { signal(kind).unwrap() });
    let mut listeners: Vec<Signal> = runtimes.iter().map(listen).collect();
    while let Some(rt) = runtimes.pop() {
        raise(kind);
        for (rt, listener) in runtimes.iter().zip(&mut listeners) {
            rt.block_on(listener.recv());
        }
        rt.block_on(listeners[runtimes.len()].recv());
    }
}

/// A listener whose runtime is gone goes on in another, also if it waits there already.
#[test]
fn a_listener_outlives_its_runtime() {
    let _alone = one_at_a_time();
    let kind = KIND;
    let first = runtime(1);
    let mut listener = first.block_on(async { signal(kind).unwrap() });
    let second = runtime(1);
    let (began, begins) = std::sync::mpsc::channel();
    let task = second.spawn(async move {
        for _ in 0..3 {
            let mut receives = pin!(listener.recv());
            poll_fn(|cx| {
                let poll = receives.as_mut().poll(cx);
                let _ = began.send(());
                poll
            })
            .await;
        }
    });
    begins.recv().unwrap();
    raise(kind);
    begins.recv().unwrap();
    drop(first);
    for _ in begins {
        raise(kind);
    }
    second.block_on(task).unwrap();

    // Also if it is in none while its runtime ends.
    let third = current_thread();
    let mut listener = third.block_on(async { signal(kind).unwrap() });
    drop((second, third));
    raise(kind);
    current_thread().block_on(listener.recv());
}

/// A runtime goes down while its tasks listen: they are dropped, and nobody is told twice.
#[test]
fn a_runtime_may_be_dropped_while_its_tasks_listen() {
    let _alone = one_at_a_time();
    let kind = KIND;
    let other = current_thread();
    let mut listener = other.block_on(async { signal(kind).unwrap() });
    for round in 0..50 {
        let rt = runtime(2);
        let (waits, mut waited) = mpsc::unbounded_channel();
        for _ in 0..4 {
            let waits = waits.clone();
            rt.spawn(async move {
                let mut listener = signal(kind).unwrap();
                waits.send(()).unwrap();
                loop {
                    listener.recv().await;
                }
            });
        }
        drop(waits);
        rt.block_on(async { while waited.recv().await.is_some() && !waited.is_empty() {} });
        if round % 2 == 0 {
            raise(kind);
        }
        drop(rt);
        raise(kind);
        other.block_on(listener.recv());
    }
}

/// What a runtime has opened for signals is closed with it.
#[test]
fn a_runtime_leaves_no_descriptors_behind() {
    let _alone = one_at_a_time();
    let listen = |rt: Runtime| {
        rt.block_on(async {
            let mut listener = signal(KIND).unwrap();
            raise(KIND);
            listener.recv().await;
        });
    };
    listen(current_thread());
    let before = support::children::descriptors();
    for _ in 0..10 {
        listen(current_thread());
        listen(runtime(2));
    }
    // Each of the twenty would leave some; a list that is being opened is another's.
    assert!(support::children::descriptors() < before + 10);
}
