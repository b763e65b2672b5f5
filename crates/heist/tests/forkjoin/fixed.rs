//! Runtimes on threads of the caller: no other thread runs their jobs, and a waiter runs any job.

use heist::Yield;
use heist::runtime::{Builder, Runtime};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

/// A runtime with this number of workers, on threads named `mine`.
fn fixed(workers: usize) -> Runtime {
    fixed_by(Builder::new_multi_thread().worker_threads(workers))
}

fn fixed_by(builder: &mut Builder) -> Runtime {
    let start = |worker: heist::runtime::WorkerThread| {
        thread::Builder::new().name("mine".into()).spawn(|| worker.run()).map(drop)
    };
    builder.build_on(start).unwrap()
}

/// Two runtimes with one worker each, that need each other: the worker that waits serves the other.
#[test]
fn a_waiter_serves_others() {
    let (a, b) = (fixed(1), fixed(1));
    let answer = a.handle().install(|| b.handle().install(|| a.handle().install(|| 42)));
    assert_eq!(answer, 42);
    let calls = AtomicUsize::new(0);
    let call = || _ = calls.fetch_add(1, Ordering::Relaxed);
    a.handle().install(|| b.handle().broadcast(|_| a.handle().broadcast(|_| call())));
    a.handle().install(|| b.handle().in_place_scope(|s| s.spawn(|_| a.handle().install(call))));
    assert_eq!(calls.into_inner(), 2);
}

/// A worker that blocks has no substitute.
#[test]
fn no_other_threads_come() {
    let rt = fixed(2);
    rt.handle().scope(|s| {
        for _ in 0..100 {
            s.spawn(|_| {
                thread::sleep(std::time::Duration::from_millis(1));
                assert_eq!(thread::current().name(), Some("mine"));
            });
        }
    });
}

/// J1: a job of a frame further down that its own worker runs is not run again by the frame, nor is
/// another in its place.
#[test]
fn j1_a_worker_may_run_what_its_own_frame_offers() {
    let rt = fixed(1);
    let handle = rt.handle();
    let (ran, spawned) = (AtomicUsize::new(0), AtomicUsize::new(0));
    handle.scope(|s| {
        let wait = || {
            assert_eq!(handle.yield_job(Yield::Own), Some(true));
            assert_eq!(ran.load(Ordering::Relaxed), 1);
            s.spawn(|_| _ = spawned.fetch_add(1, Ordering::Relaxed));
            1
        };
        let other = || ran.fetch_add(1, Ordering::Relaxed) + 2;
        assert_eq!(heist::join(|| heist::join(wait, other), || 3), ((1, 2), 3));
    });
    assert_eq!((ran.into_inner(), spawned.into_inner()), (1, 1));
}

/// A thread that stays one of the runtime's offers what it spawns, and takes part while it waits.
#[test]
fn a_thread_may_stay() {
    thread::spawn(|| {
        let start = |worker: heist::runtime::WorkerThread| match worker.index() {
            0 => {
                worker.stay();
                Ok(())
            }
            _ => thread::Builder::new().spawn(|| worker.run()).map(drop),
        };
        let rt = Builder::new_multi_thread().worker_threads(2).build_on(start).unwrap();
        assert_eq!(heist::current_thread_index(), Some(0));
        let indices = rt.handle().broadcast(|_| heist::current_thread_index());
        assert_eq!(indices, [Some(0), Some(1)]);
        let is_done = AtomicBool::new(false);
        // The other worker does it, as this thread does nothing meanwhile.
        let spin = || {
            while !is_done.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        };
        rt.handle().join(spin, || is_done.store(true, Ordering::Relaxed));
    })
    .join()
    .unwrap();
}

/// Each worker has its part, in scopes of both kinds.
#[test]
fn scopes_broadcast() {
    let rt = fixed(3);
    let calls = AtomicUsize::new(0);
    let call = |index: usize, workers| {
        assert_eq!((heist::current_thread_index(), workers), (Some(index), 3));
        calls.fetch_add(1, Ordering::Relaxed);
    };
    rt.handle()
        .scope(|s| s.spawn_broadcast(|_, worker| call(worker.index(), worker.num_workers())));
    rt.handle().in_place_scope_fifo(|s| {
        s.spawn_broadcast(|_, worker| call(worker.index(), worker.num_workers()));
    });
    assert_eq!(calls.into_inner(), 6);
}

/// W1: what a job has woken goes before the next job, which may block until that has run.
#[test]
fn w1_a_task_of_a_job_goes_before_the_next_job() {
    let rt = fixed(1);
    let handle = rt.handle().clone();
    let (end, ended) = mpsc::channel();
    rt.handle().spawn_detached(move || {
        let (send, receive) = mpsc::channel();
        handle.spawn(async move { send.send(()).unwrap() });
        handle.spawn_detached(move || end.send(receive.recv()).unwrap());
    });
    assert_eq!(ended.recv(), Ok(Ok(())));
}

/// A worker that waits looks after each job that it runs meanwhile whether that is over: it does
/// not go on to the next.
#[test]
fn a_waiter_checks_after_each_job() {
    let (a, b) = (fixed(1), fixed(1));
    let has_gone_on = Arc::new(AtomicBool::new(false));
    let (to_a, to_b) = (a.handle().clone(), b.handle().clone());
    let next = Arc::clone(&has_gone_on);
    let (begin, begun) = mpsc::channel();
    let meanwhile = move || {
        begin.send(()).unwrap();
        // The other worker has finished the awaited job when it runs this.
        to_b.install(|| ());
        to_a.spawn_detached(move || next.store(true, Ordering::Relaxed));
    };
    let had_gone_on = a.handle().install(|| {
        let (a, begun) = (a.handle(), begun);
        b.handle().install(move || {
            a.spawn_detached(meanwhile);
            begun.recv().unwrap();
        });
        has_gone_on.load(Ordering::Relaxed)
    });
    assert!(!had_gone_on);
}

/// A worker that waits in another runtime has its timers there: its own are nobody's meanwhile.
#[test]
fn timers_of_a_wait_in_another_runtime() {
    let mut builder = Builder::new_multi_thread();
    let rt = fixed_by(builder.worker_threads(1).enable_all());
    let other = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let soon = || heist::time::sleep(std::time::Duration::from_millis(1));
    rt.handle().install(|| other.block_on(async { soon().await }));
}
