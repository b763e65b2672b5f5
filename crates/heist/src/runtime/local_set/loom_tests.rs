//! Sets of local tasks beside other threads, in every interleaving that loom can find (T4, T6).
//! A wake-up that is lost, or an end that waits in vain, is a deadlock.
//!
//! Sets are put away from unwinding, and handles dropped at once: when a model fails, what would
//! touch loom's objects can no longer be dropped.

use super::LocalSet;
use crate::canary;
use heist_sync::UnsafeCell;
use loom::thread::{self, ThreadId};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::rc::Rc;
// Not loom's: these are looked at by the set's own thread, and add no steps to the model.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

/// Inside of a future: says where it is dropped, and how often.
struct AtHome {
    thread: ThreadId,
    drops: Arc<AtomicUsize>,
}

impl AtHome {
    fn new(drops: &Arc<AtomicUsize>) -> Self {
        AtHome { thread: thread::current().id(), drops: Arc::clone(drops) }
    }

    fn check(&self) {
        assert_eq!(thread::current().id(), self.thread, "not on the thread of the set");
    }
}

impl Drop for AtHome {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.check();
        }
        self.drops.fetch_add(1, Relaxed);
    }
}

/// Something that one thread writes before it wakes, and the woken task reads.
struct Message(UnsafeCell<u32>);

// SAFETY: (T4) that the accesses are ordered is what the model checks.
unsafe impl Sync for Message {}
// SAFETY: (T4) as above.
unsafe impl Send for Message {}

/// A task that another thread wakes: from the middle of its first poll on.
fn wake_beside_a_turn() {
    let mut set = ManuallyDrop::new(LocalSet::new());
    let drops = Arc::new(AtomicUsize::new(0));
    let (guard, message) = (AtHome::new(&drops), Arc::new(Message(UnsafeCell::new(0))));
    let mut is_asked = false;
    drop(set.spawn_local(poll_fn(move |cx| {
        guard.check();
        if !std::mem::replace(&mut is_asked, true) {
            let (waker, message) = (cx.waker().clone(), Arc::clone(&message));
            thread::spawn(move || {
                // SAFETY: (T4) the task reads it only after the wake-up below.
                message.0.with_mut(|text| unsafe { *text = 7 });
                waker.wake();
            });
            return Poll::Pending;
        }
        // SAFETY: (T4) only a wake-up brings us here, and the message comes before it.
        assert_eq!(message.0.with(|text| unsafe { *text }), 7);
        Poll::Ready(())
    })));
    loom::future::block_on(poll_fn(|cx| Pin::new(&mut *set).poll(cx)));
    assert_eq!(drops.load(Relaxed), 1);
    drop(ManuallyDrop::into_inner(set));
}

/// A set with tasks that wait for ever, and their wakers.
fn waiting_tasks(count: usize, drops: &Arc<AtomicUsize>) -> (ManuallyDrop<LocalSet>, Vec<Waker>) {
    let mut set = ManuallyDrop::new(LocalSet::new());
    let place = Rc::new(Cell::new(Vec::new()));
    for _ in 0..count {
        let (guard, place) = (AtHome::new(drops), Rc::clone(&place));
        drop(set.spawn_local(poll_fn(move |cx| -> Poll<()> {
            guard.check();
            let mut wakers = place.take();
            wakers.push(cx.waker().clone());
            place.set(wakers);
            Poll::Pending
        })));
    }
    let mut cx = Context::from_waker(Waker::noop());
    assert!(Pin::new(&mut *set).poll(&mut cx).is_pending());
    (set, place.take())
}

/// Tasks are woken by other threads, one each, while their set is dropped.
fn wake_beside_the_end(count: usize) {
    let drops = Arc::new(AtomicUsize::new(0));
    let (set, wakers) = waiting_tasks(count, &drops);
    let others: Vec<_> =
        wakers.into_iter().map(|waker| thread::spawn(move || waker.wake())).collect();
    drop(ManuallyDrop::into_inner(set));
    assert_eq!(drops.load(Relaxed), count, "a future outlives its set");
    others.into_iter().for_each(|other| other.join().unwrap());
}

#[test]
fn loom_t4_a_wake_up_beside_a_turn_is_not_lost() {
    loom::model(wake_beside_a_turn);
}

#[test]
fn loom_t6_a_wake_up_beside_the_end() {
    loom::model(|| wake_beside_the_end(1));
}

#[test]
fn loom_t6_two_wake_ups_beside_the_end() {
    loom::model(|| wake_beside_the_end(2));
}

/// The task is woken while its set is polled once more and then dropped.
#[test]
fn loom_t6_a_wake_up_beside_a_turn_and_the_end() {
    loom::model(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let (mut set, mut wakers) = waiting_tasks(1, &drops);
        let waker = wakers.pop().unwrap();
        let other = thread::spawn(move || waker.wake());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut *set).poll(&mut cx).is_pending());
        drop(ManuallyDrop::into_inner(set));
        assert_eq!(drops.load(Relaxed), 1);
        other.join().unwrap();
    });
}

#[test]
fn loom_t6_an_abort_beside_the_end() {
    loom::model(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let set = LocalSet::new();
        let guard = AtHome::new(&drops);
        let task = set.spawn_local(async move {
            guard.check();
            std::future::pending::<()>().await;
            drop(guard);
        });
        let abort = task.abort_handle();
        let mut set = Box::pin(set);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(set.as_mut().poll(&mut cx).is_pending());
        let other = thread::spawn(move || abort.abort());
        drop(set);
        assert_eq!(drops.load(Relaxed), 1);
        assert!(task.is_finished());
        other.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_push_silent() {
    canary::LOCAL_PUSH_SILENT.model(wake_beside_a_turn);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_lent_to_all() {
    canary::LOCAL_LENT_TO_ALL.model(wake_beside_a_turn);
}

#[test]
#[should_panic(expected = "a future outlives its set")]
fn loom_canary_end_impatient() {
    canary::LOCAL_END_IMPATIENT.model(|| wake_beside_the_end(1));
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_end_silent() {
    canary::LOCAL_END_SILENT.model(|| wake_beside_the_end(1));
}
