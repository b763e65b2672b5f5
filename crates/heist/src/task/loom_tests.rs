//! The life of a task in every interleaving that loom can find (T2, T4–T6, T8).

use super::{JoinHandle, Notified, Ran, Schedule, TaskRef};
use crate::canary;
use heist_sync::{Arc, Mutex, UnsafeCell};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::future::{Future, poll_fn};
use std::task::{Context, Poll, Waker};

/// A scheduler of one queue and one place for a task that waits.
#[derive(Clone)]
struct Queue(Arc<Inner>);

struct Inner {
    runnable: Mutex<Vec<Notified<Queue>>>,
    waiting: Mutex<Option<TaskRef>>,
}

impl Queue {
    fn new() -> Self {
        Queue(Arc::new(Inner { runnable: Mutex::new(Vec::new()), waiting: Mutex::new(None) }))
    }

    fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (task, join) = super::new(future, std::panic::Location::caller());
        self.push(task);
        join
    }

    fn push(&self, task: Notified<Queue>) {
        self.0.runnable.lock().unwrap().push(task);
    }

    /// Runs what is queued until nothing is.
    fn run(&self) {
        loop {
            let Some(task) = self.0.runnable.lock().unwrap().pop() else { return };
            if let Ran::Again(task) = task.run(self) {
                self.push(task);
            }
        }
    }

    fn shut_down(&self) {
        let waiting = self.0.waiting.lock().unwrap().take();
        if let Some(task) = waiting {
            task.shut_down();
        }
    }
}

impl Schedule for Queue {
    type Link = Queue;

    fn adopt(&self, task: TaskRef) -> Option<Queue> {
        *self.0.waiting.lock().unwrap() = Some(task);
        Some(self.clone())
    }

    fn release(link: Queue) -> bool {
        link.0.waiting.lock().unwrap().take().map(TaskRef::forget).is_some()
    }

    unsafe fn schedule(link: *const Queue, task: Notified<Queue>) {
        // SAFETY: (T4) the task has not been handed on yet.
        let queue = unsafe { &*link }.clone();
        queue.push(task);
    }
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn is_finished<T>(mut join: JoinHandle<T>) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    std::pin::Pin::new(&mut join).poll(&mut cx).is_ready()
}

/// Something that one thread writes before it wakes, and the woken task reads.
struct Message(UnsafeCell<u32>);

// SAFETY: (T4) that the accesses are ordered is what the model checks.
unsafe impl Sync for Message {}

/// A task that waits once, woken from another thread that leaves it a message first.
fn wake_from_elsewhere() {
    let queue = Queue::new();
    let place: Arc<Mutex<Option<Waker>>> = Arc::new(Mutex::new(None));
    let message = Arc::new(Message(UnsafeCell::new(0)));
    let join = {
        let (place, message, mut polls) = (place.clone(), message.clone(), 0);
        queue.spawn(poll_fn(move |cx| {
            polls += 1;
            if polls == 1 {
                *place.lock().unwrap() = Some(cx.waker().clone());
                return Poll::Pending;
            }
            // SAFETY: (T4) only a wake-up brings us here, and the message comes before it.
            assert_eq!(message.0.with(|text| unsafe { *text }), 7);
            Poll::Ready(())
        }))
    };
    let other = {
        let queue = queue.clone();
        thread::spawn(move || {
            let waker = place.lock().unwrap().take();
            let Some(waker) = waker else { return false };
            // SAFETY: (T4) the task reads it only after the wake-up below.
            message.0.with_mut(|text| unsafe { *text = 7 });
            waker.wake();
            queue.run();
            true
        })
    };
    queue.run();
    let woken = other.join().unwrap();
    queue.run();
    assert_eq!(is_finished(join), woken, "a wake-up was lost");
    queue.shut_down();
}

/// The output arrives at a handle that is awaited on another thread.
fn output_reaches_the_handle() {
    let queue = Queue::new();
    let join = queue.spawn(async { Box::new(5) });
    let waiter = thread::spawn(move || loom::future::block_on(join).unwrap());
    queue.run();
    assert_eq!(*waiter.join().unwrap(), 5);
}

/// T10: a handle that was polled goes, while the task ends: the last one frees what both have
/// touched.
fn the_last_one_frees() {
    let queue = Queue::new();
    let mut join = queue.spawn(async {});
    let other = thread::spawn(move || {
        let mut cx = Context::from_waker(Waker::noop());
        let _ = std::pin::Pin::new(&mut join).poll(&mut cx);
    });
    queue.run();
    other.join().unwrap();
}

#[test]
fn loom_t10_the_last_one_frees() {
    loom::model(the_last_one_frees);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_alone_relaxed() {
    canary::TASK_ALONE_RELAXED.model(the_last_one_frees);
}

#[test]
fn loom_t4_a_wake_up_is_not_lost() {
    loom::model(wake_from_elsewhere);
}

#[test]
fn loom_t5_the_output_reaches_the_handle() {
    loom::model(output_reaches_the_handle);
}

#[test]
fn loom_t5_an_output_that_nobody_wants_is_dropped_once() {
    loom::model(|| {
        let (queue, drops) = (Queue::new(), Arc::new(AtomicUsize::new(0)));
        let output = Counted(drops.clone());
        let join = queue.spawn(async move { output });
        let other = thread::spawn(move || drop(join));
        queue.run();
        other.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn loom_t6_abort_beside_a_run() {
    loom::model(|| {
        let (queue, drops) = (Queue::new(), Arc::new(AtomicUsize::new(0)));
        let held = Counted(drops.clone());
        let join = queue.spawn(async move {
            let _held = held;
            super::yield_now().await;
        });
        let abort = join.abort_handle();
        let other = thread::spawn(move || abort.abort());
        queue.run();
        other.join().unwrap();
        queue.run();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        assert!(is_finished(join));
    });
}

#[test]
fn loom_t6_shutdown_beside_a_wake_up() {
    loom::model(|| {
        let (queue, drops) = (Queue::new(), Arc::new(AtomicUsize::new(0)));
        let place: Arc<Mutex<Option<Waker>>> = Arc::new(Mutex::new(None));
        let (held, at) = (Counted(drops.clone()), place.clone());
        let join = queue.spawn(poll_fn(move |cx| {
            let _held = &held;
            *at.lock().unwrap() = Some(cx.waker().clone());
            Poll::<()>::Pending
        }));
        queue.run();
        let waker = place.lock().unwrap().take().unwrap();
        let other = thread::spawn(move || waker.wake());
        queue.shut_down();
        other.join().unwrap();
        queue.run();
        drop(place);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        assert!(is_finished(join));
    });
}

/// A task waits for the first time while the runtime goes down.
#[test]
fn loom_t6_shutdown_beside_the_first_wait() {
    loom::model(|| {
        let (queue, drops) = (Queue::new(), Arc::new(AtomicUsize::new(0)));
        let held = Counted(drops.clone());
        let join = queue.spawn(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        let other = queue.clone();
        let worker = thread::spawn(move || other.run());
        queue.shut_down();
        worker.join().unwrap();
        queue.shut_down();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        assert!(is_finished(join));
    });
}

#[test]
fn loom_t8_wakers_and_handles_go_in_any_order() {
    loom::model(|| {
        let queue = Queue::new();
        let place: Arc<Mutex<Option<Waker>>> = Arc::new(Mutex::new(None));
        let at = place.clone();
        let join = queue.spawn(poll_fn(move |cx| {
            *at.lock().unwrap() = Some(cx.waker().clone());
            Poll::Ready(())
        }));
        let other = thread::spawn(move || {
            let waker = place.lock().unwrap().take();
            drop(place);
            waker.map(|waker| waker.wake_by_ref());
        });
        queue.run();
        drop(join);
        other.join().unwrap();
        queue.run();
    });
}

#[test]
#[should_panic(expected = "a wake-up was lost")]
fn loom_canary_wake_in_poll_lost() {
    canary::TASK_WAKE_IN_POLL_LOST.model(wake_from_elsewhere);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_update_relaxed() {
    canary::TASK_UPDATE_RELAXED.model(wake_from_elsewhere);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_complete_relaxed() {
    canary::TASK_COMPLETE_RELAXED.model(output_reaches_the_handle);
}
