//! A runtime goes down, and what its tasks do when they are dropped is not done inside of each other (T6).

use heist::runtime::Builder;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::task::{Context, Poll, Waker};

/// Never ready. When it is dropped it wakes all its neighbours, and holds a lock that they need in their
/// own drop: as connections and their endpoint do that share a state.
struct Neighbour {
    street: Arc<Street>,
}

#[derive(Default)]
struct Street {
    wakers: Mutex<Vec<Waker>>,
    dropped: AtomicUsize,
    dropped_inside_of_another: AtomicUsize,
}

impl Future for Neighbour {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.street.wakers.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        match self.street.wakers.try_lock() {
            Ok(wakers) => wakers.iter().for_each(Waker::wake_by_ref),
            Err(TryLockError::WouldBlock) => {
                self.street.dropped_inside_of_another.fetch_add(1, Ordering::SeqCst);
            }
            Err(TryLockError::Poisoned(poisoned)) => panic!("{poisoned}"),
        }
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
    assert_eq!(street.dropped_inside_of_another.load(Ordering::SeqCst), 0);
}

#[test]
fn t6_tasks_that_share_a_lock_are_dropped_one_after_the_other() {
    t6_neighbours(Builder::new_multi_thread().worker_threads(2));
}

#[test]
fn t6_tasks_that_share_a_lock_are_dropped_one_after_the_other_without_workers() {
    t6_neighbours(&mut Builder::new_current_thread());
}
