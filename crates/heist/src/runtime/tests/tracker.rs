//! What is tracked of tasks, from their spawn to their end.

use crate::console::Config;
use crate::runtime::{self, Runtime};
use crate::task::tracker::{Stats, TaskState, Tracker, View};
use crate::task::{self, Id, JoinHandle};
use std::future::{Future, pending, poll_fn};
use std::net::Ipv4Addr;
use std::sync::{Arc, Weak, mpsc};
use std::task::{Poll, Waker};
use std::thread;

/// A runtime with a console, so that its tasks are tracked.
fn build(mut builder: runtime::Builder, limit: usize) -> (Runtime, Arc<Tracker>) {
    let console = Config::tcp((Ipv4Addr::LOCALHOST, 0)).max_tasks(limit);
    let rt = builder.console(console).build().unwrap();
    let tracker = rt.handle().scheduler().config().tracker.clone().unwrap();
    (rt, tracker)
}

/// One on this thread.
fn runtime(limit: usize) -> (Runtime, Arc<Tracker>) {
    build(runtime::Builder::new_current_thread(), limit)
}

fn all(tracker: &Tracker) -> Vec<Arc<Stats>> {
    let mut all = Vec::new();
    tracker.for_each(|stats| all.push(stats));
    all.sort_by_key(|stats| stats.id);
    all
}

fn view(tracker: &Tracker, id: Id) -> Option<View> {
    let found = all(tracker).into_iter().find(|stats| stats.id == id);
    found.map(|stats| stats.view(tracker.now()))
}

/// A future that leaves its waker, and is ready after `polls` polls.
fn after(polls: usize) -> (impl Future<Output = ()> + Send, mpsc::Receiver<Waker>) {
    let (tell, told) = mpsc::channel();
    let mut left = polls;
    let future = poll_fn(move |cx| {
        left -= 1;
        if left == 0 {
            return Poll::Ready(());
        }
        // The receiver may be gone.
        let _ = tell.send(cx.waker().clone());
        Poll::Pending
    });
    (future, told)
}

fn turn(rt: &Runtime) {
    rt.block_on(async {
        for _ in 0..8 {
            task::yield_now().await;
        }
    });
}

/// M1: polls are counted one by one, and the state is what it should be between them.
#[test]
fn m1_a_task_is_followed_through_its_life() {
    let (rt, tracker) = runtime(10);
    let (future, wakers) = after(3);
    let task = rt.spawn(future);
    let id = task.id();
    let state = || view(&tracker, id).map(|view| (view.state, view.polls));
    assert_eq!(state(), Some((TaskState::Queued, 0)));
    turn(&rt);
    assert_eq!(state(), Some((TaskState::Waiting, 1)));
    wakers.recv().unwrap().wake();
    assert_eq!(state(), Some((TaskState::Queued, 1)));
    turn(&rt);
    assert_eq!(state(), Some((TaskState::Waiting, 2)));
    wakers.recv().unwrap().wake();
    turn(&rt);
    // It has ended, though its handle keeps its memory.
    assert!(task.is_finished());
    assert_eq!(state(), None);
    assert_eq!(tracker.count(), 0);
    assert_eq!(tracker.poll_times.counts().iter().sum::<u64>(), 3);
    assert_eq!(tracker.delays.counts().iter().sum::<u64>(), 3);
}

/// M1: while it is polled a task is running, and its time goes by.
#[test]
fn m1_a_poll_that_goes_on_counts() {
    let (rt, tracker) = runtime(10);
    let seen = Arc::clone(&tracker);
    let task = rt.spawn(async move {
        let look = || view(&seen, task::id()).unwrap();
        let first = look();
        while look().busy == first.busy {}
        (first.state, first.polls, look().longest_poll > 0)
    });
    assert_eq!(rt.block_on(task).unwrap(), (TaskState::Running, 1, true));
}

/// M1: a task that wakes itself is queued again, and its wait counts.
#[test]
fn m1_a_task_that_yields_is_queued() {
    let (rt, tracker) = runtime(10);
    let task = rt.spawn(async {
        task::yield_now().await;
        task::yield_now().await;
    });
    let stats = all(&tracker).remove(0);
    rt.block_on(task).unwrap();
    let view = stats.view(tracker.now());
    assert_eq!(view.polls, 3);
    assert!(view.delay > 0 && view.longest_delay <= view.delay && view.longest_poll <= view.busy);
}

/// M1: no more than the limit are tracked; the next one finds room when another has ended.
#[test]
fn m1_the_table_is_bounded() {
    let (rt, tracker) = runtime(2);
    let mut tasks: Vec<_> = (0..5).map(|_| rt.spawn(pending::<()>())).collect();
    assert_eq!((all(&tracker).len(), tracker.count(), tracker.was_full()), (2, 2, true));
    let first = tasks.remove(0);
    first.abort();
    assert!(rt.block_on(first).unwrap_err().is_cancelled());
    assert_eq!(tracker.count(), 1);
    let late = rt.spawn(pending::<()>());
    assert!(view(&tracker, late.id()).is_some());
    assert_eq!(tracker.count(), 2);
}

#[test]
fn a_table_without_room_tracks_nothing() {
    let (rt, tracker) = runtime(0);
    rt.block_on(rt.spawn(async {})).unwrap();
    assert_eq!((all(&tracker).len(), tracker.was_full()), (0, true));
}

/// T5, T6: however a task ends, it leaves the table once, and only readers keep its record.
#[test]
fn t6_the_table_is_empty_after_every_kind_of_end() {
    let (rt, tracker) = runtime(100);
    let panics: JoinHandle<()> = rt.spawn(async { panic!("on purpose") });
    let (waits, wakers) = after(2);
    let waits = rt.spawn(waits);
    let named = task::Builder::new().name("named").spawn_on(pending::<()>(), rt.handle()).unwrap();
    let pinned = rt.spawn_pinned(pending::<()>);
    turn(&rt);
    let queued = rt.spawn(pending::<()>());
    assert_eq!(all(&tracker).len(), 4);
    assert_eq!(all(&tracker)[1].name.as_deref(), Some("named"));
    let weak: Vec<Weak<Stats>> = all(&tracker).iter().map(Arc::downgrade).collect();
    drop((panics, waits, named, pinned, queued));
    drop(rt);
    assert_eq!((all(&tracker).len(), tracker.count()), (0, 0));
    drop(wakers);
    assert!(weak.iter().all(|stats| stats.upgrade().is_none()), "they are freed");
    assert_eq!(Arc::strong_count(&tracker), 1);
}

/// T5: a task that is freed in its own poll, by its own last reference, leaves behind the record
/// that is needed afterwards.
#[test]
fn t5_numbers_outlive_their_task() {
    let (rt, tracker) = runtime(10);
    // Nothing but the queue knows it: when it waits without a waker it is gone at once.
    drop(rt.spawn(pending::<()>()));
    let stats = all(&tracker).remove(0);
    drop(rt);
    assert_eq!(tracker.count(), 0);
    let _still_there = stats.view(tracker.now());
    stats.end();
    assert_eq!(tracker.count(), 0, "it leaves the table once");
}

/// T2, T5: tasks are woken, polled and aborted from all sides. The numbers written after a poll
/// are neither lost nor added to another task's record.
#[test]
fn t5_numbers_add_up_beside_wake_ups_from_other_threads() {
    let mut builder = runtime::Builder::new_multi_thread();
    builder.worker_threads(2);
    let (rt, tracker) = build(builder, 1000);
    let rounds = heist_testing::scaled(300);
    for _ in 0..rounds {
        let (future, wakers) = after(4);
        let task = rt.spawn(future);
        let aborted = rt.spawn(pending::<()>());
        let stats: Vec<_> = all(&tracker);
        let waker = thread::spawn(move || wakers.iter().for_each(Waker::wake));
        aborted.abort();
        rt.block_on(task).unwrap();
        waker.join().unwrap();
        assert!(stats.iter().all(|stats| stats.view(tracker.now()).polls <= 4));
    }
    drop(rt);
    assert_eq!((all(&tracker).len(), tracker.count()), (0, 0));
    let polls = tracker.poll_times.counts().iter().sum::<u64>();
    assert!((rounds * 4..=rounds * 6).contains(&polls), "{polls}");
}
