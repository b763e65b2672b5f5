//! Which tasks are alive (M1).

use super::{current_thread, runtime, wait_until};
use heist::runtime::Builder;
use heist::task::{LocalSet, yield_now};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};

/// M1: alive is what was spawned and has not ended, wherever it was spawned and however it ends.
#[test]
fn m1_alive_is_exact_when_nothing_moves() {
    for rt in [runtime(1), runtime(2), current_thread()] {
        let metrics = rt.metrics();
        assert_eq!((metrics.num_alive_tasks(), metrics.spawned_tasks_count()), (0, 0));
        let waiting: Vec<_> = (0..250).map(|_| rt.spawn(pending::<()>())).collect();
        assert_eq!(metrics.num_alive_tasks(), 250);
        let spawner = rt.spawn(async {
            for _ in 0..400 {
                heist::spawn(pending::<()>());
            }
        });
        rt.block_on(spawner).unwrap();
        wait_until(|| metrics.num_alive_tasks() == 650);
        for join in waiting {
            join.abort();
            assert!(rt.block_on(join).unwrap_err().is_cancelled());
        }
        wait_until(|| metrics.num_alive_tasks() == 400);
        rt.block_on(rt.spawn(async {})).unwrap();
        let panicking = rt.spawn(async { std::panic::resume_unwind(Box::new("boom")) });
        assert!(rt.block_on(panicking).unwrap_err().is_panic());
        wait_until(|| metrics.num_alive_tasks() == 400);
        drop(rt);
        assert_eq!((metrics.num_alive_tasks(), metrics.spawned_tasks_count()), (0, 653));
    }
}

/// M1: a task sees itself alive, and is not any more when the only worker has gone on.
#[test]
fn m1_a_task_is_alive_while_it_runs() {
    for rt in [runtime(2), current_thread()] {
        let metrics = rt.metrics();
        let inside = metrics.clone();
        let seen =
            rt.spawn(async move { (inside.num_alive_tasks(), inside.spawned_tasks_count()) });
        assert_eq!(rt.block_on(seen).unwrap(), (1, 1));
        wait_until(|| metrics.num_alive_tasks() == 0);
    }
    let rt = current_thread();
    rt.block_on(rt.spawn(async {})).unwrap();
    assert_eq!(rt.metrics().num_alive_tasks(), 0);
}

/// M1: tasks that the end of the runtime finds in a ring, in the LIFO slot, in the inject queue,
/// running or waiting: none is left alive.
#[test]
fn m1_nothing_is_alive_after_the_end() {
    let rt = runtime(1);
    let (metrics, handle) = (rt.metrics(), rt.handle().clone());
    let (keep, wakers) = mpsc::channel();
    for _ in 0..10 {
        let keep = keep.clone();
        rt.spawn(poll_fn(move |cx| -> Poll<()> {
            keep.send(cx.waker().clone()).unwrap();
            Poll::Pending
        }));
    }
    wait_until(|| metrics.worker_poll_count(0) == 10);
    let (begin, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    rt.spawn(async move {
        // Fills the slot and the ring, and overflows.
        (0..1000).for_each(|_| drop(heist::spawn(pending::<()>())));
        wakers.iter().take(5).for_each(Waker::wake);
        begin.send(()).unwrap();
        let _ = released.recv();
        // Once more, now that the inject queue takes nothing.
        (0..1000).for_each(|_| drop(heist::spawn(pending::<()>())));
        yield_now().await;
    });
    begun.recv().unwrap();
    (0..10).for_each(|_| drop(rt.spawn(pending::<()>())));
    assert_eq!(metrics.num_alive_tasks(), 1021);
    rt.shutdown_background();
    // All but the one that runs end, wherever they were, on a thread that was started for that.
    // What comes now never begins.
    wait_until(|| metrics.num_alive_tasks() == 1);
    drop(handle.spawn(async {}));
    assert_eq!(metrics.num_alive_tasks(), 1);
    drop(release);
    wait_until(|| metrics.spawned_tasks_count() == 2021);
    wait_until(|| metrics.num_alive_tasks() == 0);

    let rt = current_thread();
    let metrics = rt.metrics();
    (0..10).for_each(|_| drop(rt.spawn(async {})));
    assert_eq!((metrics.num_alive_tasks(), metrics.global_queue_depth()), (10, 10));
    drop(rt);
    assert_eq!((metrics.num_alive_tasks(), metrics.global_queue_depth()), (0, 0));
}

/// M1: what is spawned or woken when the runtime is gone changes nothing.
#[test]
fn m1_nothing_counts_after_the_end() {
    let rt = runtime(1);
    let (metrics, handle) = (rt.metrics(), rt.handle().clone());
    let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
    let keep = kept.clone();
    rt.spawn(poll_fn(move |cx| -> Poll<()> {
        *keep.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }));
    wait_until(|| kept.lock().unwrap().is_some());
    drop(rt);
    assert!(is_ready(handle.spawn(async {})));
    kept.lock().unwrap().take().unwrap().wake();
    assert_eq!((metrics.num_alive_tasks(), metrics.spawned_tasks_count()), (0, 1));
}

/// M1: of two tasks that wait, the one that goes first when the runtime goes down wakes the other,
/// which is then cancelled on its way to a queue.
#[test]
fn m1_a_task_that_is_woken_too_late_has_ended() {
    struct WakeOther(Arc<Mutex<Vec<Waker>>>);
    impl Drop for WakeOther {
        fn drop(&mut self) {
            let wakers = self.0.lock().unwrap().clone();
            wakers.into_iter().for_each(Waker::wake);
        }
    }
    for rt in [runtime(1), current_thread()] {
        let metrics = rt.metrics();
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        for _ in 0..2 {
            let wake_other = WakeOther(wakers.clone());
            rt.spawn(poll_fn(move |cx| -> Poll<()> {
                wake_other.0.lock().unwrap().push(cx.waker().clone());
                Poll::Pending
            }));
        }
        rt.block_on(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            // Both wait: they were polled, and their worker has gone on.
            if metrics.worker_poll_count(0) == 2 { Poll::Ready(()) } else { Poll::Pending }
        }));
        drop(rt);
        wakers.lock().unwrap().clear();
        assert_eq!((metrics.num_alive_tasks(), metrics.spawned_tasks_count()), (0, 2));
    }
}

fn is_ready(future: impl Future) -> bool {
    let mut cx = std::task::Context::from_waker(Waker::noop());
    pin!(future).poll(&mut cx).is_ready()
}

/// M1: pinned tasks count as all others do, wherever they were spawned and however they end.
#[test]
fn m1_pinned_tasks_are_alive() {
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let rt = builder.worker_threads(1).build().unwrap();
        let metrics = rt.metrics();
        let waiting: Vec<_> = (0..100).map(|_| rt.spawn_pinned(pending::<()>)).collect();
        assert_eq!(metrics.num_alive_tasks(), 100);
        assert_eq!(metrics.remote_schedule_count(), 100);
        let spawner = rt.spawn_pinned(|| async {
            for _ in 0..50 {
                heist::task::spawn_pinned(pending::<()>);
            }
        });
        rt.block_on(spawner).unwrap();
        rt.block_on(rt.spawn_pinned(|| async {})).unwrap();
        wait_until(|| metrics.num_alive_tasks() == 150);
        for join in waiting {
            join.abort();
            assert!(rt.block_on(join).unwrap_err().is_cancelled());
        }
        wait_until(|| metrics.num_alive_tasks() == 50);
        drop(rt);
        assert_eq!((metrics.num_alive_tasks(), metrics.spawned_tasks_count()), (0, 152));
    }
}

/// M1: closures and the tasks of a `LocalSet` are no tasks of the runtime.
#[test]
fn m1_only_tasks_of_the_runtime_are_alive() {
    let rt = runtime(1);
    let metrics = rt.metrics();
    let (release, released) = mpsc::channel::<()>();
    let closure = rt.spawn_blocking(move || released.recv().unwrap_err());
    let set = LocalSet::new();
    set.spawn_local(pending::<()>());
    set.block_on(&rt, yield_now());
    assert_eq!((metrics.num_alive_tasks(), metrics.spawned_tasks_count()), (0, 0));
    drop(release);
    rt.block_on(closure).unwrap();
    assert_eq!((metrics.num_alive_tasks(), metrics.spawned_tasks_count()), (0, 0));
    assert_eq!(metrics.worker_poll_count(0), 0);
}
