//! A runtime goes down, and what its tasks do when they are dropped is not done inside of each other, nor
//! inside of a poll (T6).

use heist::runtime::Builder;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

/// What neighbours share: as connections and their endpoint do.
#[derive(Default)]
struct Street {
    wakers: Mutex<Vec<Waker>>,
    holder: Mutex<Option<ThreadId>>,
    dropped: AtomicUsize,
    deadlocks: AtomicUsize,
}

impl Street {
    /// Calls `act` with the lock held; counts it where that would wait for its own thread.
    fn with_lock(&self, act: impl FnOnce(&mut Vec<Waker>)) {
        let this = Some(thread::current().id());
        if *self.holder.lock().unwrap() == this {
            self.deadlocks.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let mut wakers = self.wakers.lock().unwrap();
        *self.holder.lock().unwrap() = this;
        act(&mut wakers);
        *self.holder.lock().unwrap() = None;
    }
}

/// Never ready. When it is dropped it wakes all its neighbours, and holds a lock that they need in their
/// own drop.
struct Neighbour {
    street: Arc<Street>,
}

impl Future for Neighbour {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.street.with_lock(|wakers| wakers.push(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.street.with_lock(|wakers| wakers.iter().for_each(Waker::wake_by_ref));
        self.street.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

fn t6_neighbours(builder: &mut Builder) {
    let runtime = builder.build().unwrap();
    let street = Arc::new(Street::default());
    for _ in 0..10 {
        runtime.spawn(Neighbour { street: street.clone() });
    }
    runtime.block_on(async {
        while street.wakers.lock().unwrap().len() < 10 {
            heist::task::yield_now().await;
        }
    });
    drop(runtime);
    assert_eq!(street.dropped.load(Ordering::SeqCst), 10);
    assert_eq!(street.deadlocks.load(Ordering::SeqCst), 0);
}

#[test]
fn t6_tasks_that_share_a_lock_are_dropped_one_after_the_other() {
    t6_neighbours(Builder::new_multi_thread().worker_threads(2));
}

#[test]
fn t6_tasks_that_share_a_lock_are_dropped_one_after_the_other_without_workers() {
    t6_neighbours(&mut Builder::new_current_thread());
}

/// Beside a shutdown, a poll spawns tasks with a lock held that they need in their drop: it does not drop
/// any of them.
#[test]
fn t6_a_poll_does_not_drop_other_tasks() {
    for _ in 0..20 {
        let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let handle = runtime.handle().clone();
        let street = Arc::new(Street::default());
        let (begun, begins) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        let here = street.clone();
        runtime.spawn(async move {
            begun.send(()).unwrap();
            goes.recv().unwrap();
            here.with_lock(|_| {
                for _ in 0..10 {
                    heist::spawn(Neighbour { street: here.clone() });
                }
            });
        });
        begins.recv().unwrap();
        let dropped = thread::spawn(move || drop(runtime));
        // It goes down: nothing is taken any more.
        while !handle.spawn(std::future::pending::<()>()).is_finished() {
            thread::yield_now();
        }
        go.send(()).unwrap();
        dropped.join().unwrap();
        assert_eq!(street.dropped.load(Ordering::SeqCst), 10);
        assert_eq!(street.deadlocks.load(Ordering::SeqCst), 0);
    }
}
