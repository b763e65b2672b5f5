//! A worker's inbox for pinned tasks in every interleaving that loom can find (T6, W8): the model's
//! main thread is the worker.

use super::PinnedInbox;
use crate::canary;
use crate::task::{self, JoinHandle, Notified, Ran, Schedule, TaskList, TaskRef};
use heist_sync::{Arc, Mutex};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread::{self, ThreadId};
use std::future::poll_fn;
use std::panic::Location;
use std::task::{Poll, Waker};

/// A scheduler of one inbox, whose worker never wakes a task itself.
#[derive(Clone)]
struct One(Arc<PinnedInbox<One>>);

impl Schedule for One {
    type Link = (One, usize);

    fn adopt(&self, task: TaskRef) -> Option<Self::Link> {
        Some((self.clone(), self.0.adopt(task)?))
    }

    fn release((one, key): Self::Link) -> bool {
        one.0.release(key)
    }

    unsafe fn schedule(link: *const Self::Link, task: Notified<One>) {
        // SAFETY: (T4) the task has not been handed on yet.
        let (one, _) = unsafe { &*link }.clone();
        one.0.wake(task);
    }
}

/// Counts its drop, which must be on the thread that it was made on.
struct Owned(ThreadId, Arc<AtomicUsize>);

impl Owned {
    fn new(drops: &Arc<AtomicUsize>) -> Self {
        Owned(thread::current().id(), drops.clone())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(thread::current().id(), self.0, "dropped on the wrong thread");
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
}

struct Scene {
    one: One,
    queue: TaskList<One>,
    drops: Arc<AtomicUsize>,
    waker: Arc<Mutex<Option<Waker>>>,
    join: JoinHandle<()>,
}

/// A task that has been polled once, and waits.
fn waiting_task() -> Scene {
    let one = One(Arc::new(PinnedInbox::new()));
    let (drops, waker) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
    let (keep, mut owned, at) = (waker.clone(), None, drops.clone());
    let (task, join) = task::new(
        poll_fn(move |cx| -> Poll<()> {
            owned.get_or_insert_with(|| Owned::new(&at));
            *keep.lock().unwrap() = Some(cx.waker().clone());
            Poll::Pending
        }),
        Location::caller(),
    );
    assert!(one.0.spawn(task).is_ok());
    let mut queue = TaskList::new();
    one.0.refill(&mut queue);
    assert!(matches!(queue.pop().unwrap().run(&one), Ran::Waits));
    Scene { one, queue, drops, waker, join }
}

/// Another thread wakes the task while the worker ends.
fn wake_beside_the_end() {
    let scene = waiting_task();
    let waker = scene.waker.clone();
    let other = thread::spawn(move || {
        let waker = waker.lock().unwrap().take();
        waker.unwrap().wake();
    });
    scene.one.0.end(scene.queue);
    assert_eq!(scene.drops.load(Ordering::Relaxed), 1, "the end has dropped it");
    assert!(scene.join.is_finished());
    other.join().unwrap();
}

#[test]
fn loom_t6_a_wake_up_beside_the_end() {
    loom::model(wake_beside_the_end);
}

#[test]
fn loom_t6_an_abort_beside_the_end() {
    loom::model(|| {
        let scene = waiting_task();
        let join = scene.join;
        let other = thread::spawn(move || join.abort());
        scene.one.0.end(scene.queue);
        assert_eq!(scene.drops.load(Ordering::Relaxed), 1, "the end has dropped it");
        other.join().unwrap();
        drop(scene.waker.lock().unwrap().take());
    });
}

/// A new task comes while the worker ends: one of the two cancels it.
#[test]
fn loom_t6_a_spawn_beside_the_end() {
    loom::model(|| {
        let one = One(Arc::new(PinnedInbox::new()));
        let spawner = one.clone();
        let other = thread::spawn(move || {
            let (task, join) = task::new(std::future::pending::<()>(), Location::caller());
            drop(spawner.0.spawn(task));
            join
        });
        one.0.end(TaskList::new());
        assert!(other.join().unwrap().is_finished());
    });
}

/// A task comes while the worker finds its inbox empty.
fn spawn_beside_a_look() {
    let one = One(Arc::new(PinnedInbox::new()));
    one.0.show_queue(1);
    let spawner = one.clone();
    let other = thread::spawn(move || {
        let (task, _join) = task::new(std::future::ready(()), Location::caller());
        spawner.0.spawn(task).is_ok()
    });
    let mut queue = TaskList::new();
    one.0.refill(&mut queue);
    assert!(other.join().unwrap());
    assert!(queue.len() == 1 || one.0.has_tasks(), "a task that nobody looks for");
    one.0.end(queue);
}

#[test]
fn loom_w8_the_flag_tells_of_every_task() {
    loom::model(spawn_beside_a_look);
}

#[test]
#[should_panic(expected = "the end has dropped it")]
fn loom_canary_the_end_does_not_wait() {
    canary::LANE_END_DOES_NOT_WAIT.model(wake_beside_the_end);
}

#[test]
#[should_panic(expected = "a task that nobody looks for")]
fn loom_canary_the_flag_is_cleared_unlocked() {
    canary::LANE_CLEARED_UNLOCKED.model(spawn_beside_a_look);
}
