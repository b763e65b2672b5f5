//! A runtime goes down, and what its tasks do when they are dropped is not done inside of each
//! other, nor inside of a poll (T6).

use heist::runtime::{Builder, Runtime};
use heist::task::block_in_place;
use std::future::{Future, pending};
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

/// Never ready. When it is dropped it wakes all its neighbours, and holds a lock that they need in
/// their own drop.
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

/// Beside a shutdown, a poll spawns tasks with a lock held that they need in their drop, and does
/// something else: it does not drop any of them.
fn t6_a_poll_that_holds_a_lock(something_else: fn()) {
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
                something_else();
            });
        });
        begins.recv().unwrap();
        let dropped = thread::spawn(move || drop(runtime));
        // It goes down: nothing is taken any more.
        while !handle.spawn(pending::<()>()).is_finished() {
            thread::yield_now();
        }
        go.send(()).unwrap();
        dropped.join().unwrap();
        assert_eq!(street.dropped.load(Ordering::SeqCst), 10);
        assert_eq!(street.deadlocks.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn t6_a_poll_does_not_drop_other_tasks() {
    t6_a_poll_that_holds_a_lock(|| ());
}

#[test]
fn t6_a_poll_that_steps_aside_does_not_drop_other_tasks() {
    t6_a_poll_that_holds_a_lock(|| block_in_place(|| ()));
}

/// Stops a shutdown at the task that owns this value, until it is told to continue.
struct Stop {
    arrived: mpsc::Sender<()>,
    goes_on: mpsc::Receiver<()>,
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.arrived.send(()).unwrap();
        self.goes_on.recv().unwrap();
    }
}

/// A runtime whose shutdown has reached a waiting task, and has not reached a neighbour, which also
/// waits.
struct GoesDown {
    street: Arc<Street>,
    dropped: thread::JoinHandle<()>,
    go_on: mpsc::Sender<()>,
}

impl GoesDown {
    fn new(runtime: Runtime, begin: impl FnOnce(&Runtime, &Arc<Street>)) -> GoesDown {
        let street = Arc::new(Street::default());
        let (arrived, arrives) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel();
        let stop = Stop { arrived, goes_on };
        runtime.spawn(async move {
            pending::<()>().await;
            drop(stop);
        });
        runtime.spawn(Neighbour { street: street.clone() });
        runtime.block_on(async {
            while street.wakers.lock().unwrap().is_empty() {
                heist::task::yield_now().await;
            }
        });
        begin(&runtime, &street);
        let dropped = thread::spawn(move || drop(runtime));
        arrives.recv().unwrap();
        GoesDown { street, dropped, go_on }
    }

    /// The number dropped by the end of it, one after the other.
    fn ends(self, neighbours: usize) {
        self.go_on.send(()).unwrap();
        self.dropped.join().unwrap();
        assert_eq!(self.street.dropped.load(Ordering::SeqCst), neighbours);
        assert_eq!(self.street.deadlocks.load(Ordering::SeqCst), 0);
    }
}

/// A worker has a neighbour in its queue, and ends before the shutdown reaches that task.
#[test]
fn t6_a_worker_that_ends_drops_tasks_one_after_the_other() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let (go, goes) = mpsc::channel::<()>();
    let goes_down = GoesDown::new(runtime, |runtime, street| {
        let (begun, begins) = mpsc::channel();
        let here = street.clone();
        runtime.spawn(async move {
            heist::spawn(Neighbour { street: here });
            begun.send(()).unwrap();
            goes.recv().unwrap();
        });
        begins.recv().unwrap();
    });
    go.send(()).unwrap();
    while goes_down.street.dropped.load(Ordering::SeqCst) == 0 {
        thread::yield_now();
    }
    goes_down.ends(2);
}

/// A thread that is none of the runtime's wakes a neighbour, and holds the lock.
fn t6_a_wake_up_from_outside(builder: &mut Builder) {
    let goes_down = GoesDown::new(builder.build().unwrap(), |_, _| ());
    goes_down.street.with_lock(|wakers| wakers.iter().for_each(Waker::wake_by_ref));
    goes_down.ends(1);
}

#[test]
fn t6_a_wake_up_does_not_drop_the_task() {
    t6_a_wake_up_from_outside(Builder::new_multi_thread().worker_threads(1));
}

#[test]
fn t6_a_wake_up_does_not_drop_the_task_without_workers() {
    t6_a_wake_up_from_outside(&mut Builder::new_current_thread());
}

/// The same for a task that it pins to another worker.
#[test]
fn t6_a_poll_does_not_drop_a_task_that_it_pins_elsewhere() {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let (street, handle) = (Arc::new(Street::default()), runtime.handle().clone());
    let (begun, begins) = mpsc::channel();
    let (go, goes) = mpsc::channel::<()>();
    let (let_go, stuck) = mpsc::channel::<()>();
    let also_begun = begun.clone();
    // The other worker has not ended when it is given the task.
    runtime.handle().spawn_pinned_on(1, move || async move {
        also_begun.send(()).unwrap();
        stuck.recv().unwrap_err();
    });
    let here = street.clone();
    runtime.handle().spawn_pinned_on(0, move || async move {
        begun.send(()).unwrap();
        goes.recv().unwrap();
        let neighbour = Neighbour { street: here.clone() };
        here.with_lock(|_| drop(handle.spawn_pinned_on(1, move || neighbour)));
        drop(let_go);
    });
    (0..2).for_each(|_| begins.recv().unwrap());
    let handle = runtime.handle().clone();
    let dropped = thread::spawn(move || drop(runtime));
    while !handle.spawn(pending::<()>()).is_finished() {
        thread::yield_now();
    }
    go.send(()).unwrap();
    dropped.join().unwrap();
    assert_eq!(street.dropped.load(Ordering::SeqCst), 1);
    assert_eq!(street.deadlocks.load(Ordering::SeqCst), 0);
}
