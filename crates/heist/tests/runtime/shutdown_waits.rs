//! A runtime is shut down during a poll that waits for tasks which it spawns. Some thread drops
//! them, whatever thread runs the poll and however the runtime is shut down. A test hangs if no
//! thread drops a task.

use heist::runtime::{Builder, Handle, Runtime};
use heist::task::block_in_place;
use std::future::pending;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// More than fit into the queue of a worker.
const MANY: usize = 2000;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

/// A poll that is going on.
struct Poll {
    begins: Receiver<()>,
    go: Sender<()>,
    ends: Receiver<()>,
}

impl Poll {
    /// A poll that continues when it is told to, spawns `count` tasks, and `waits` until they are
    /// gone.
    fn spawns(runtime: &Runtime, count: usize, waits: fn(&Receiver<()>)) -> Poll {
        let (begun, begins) = mpsc::channel();
        let (go, goes) = mpsc::channel();
        let (end, ends) = mpsc::channel();
        runtime.spawn(async move {
            begun.send(()).unwrap();
            goes.recv().unwrap();
            let (held, is_held) = mpsc::channel::<()>();
            for _ in 0..count {
                let held = held.clone();
                heist::spawn(async move {
                    pending::<()>().await;
                    drop(held);
                });
            }
            drop(held);
            waits(&is_held);
            end.send(()).unwrap();
        });
        let poll = Poll { begins, go, ends };
        poll.begins.recv().unwrap();
        poll
    }

    /// Goes on once the runtime goes down, and ends.
    fn ends(&self, handle: &Handle) {
        while !handle.spawn(pending::<()>()).is_finished() {
            thread::yield_now();
        }
        self.go.send(()).unwrap();
        self.ends.recv().unwrap();
    }
}

fn until_gone(is_held: &Receiver<()>) {
    assert!(is_held.recv().is_err());
}

/// Shuts a runtime down, in whatever way, beside such a poll.
fn ends_beside(runtime: Runtime, count: usize, waits: fn(&Receiver<()>), end: fn(Runtime)) {
    let handle = runtime.handle().clone();
    let poll = Poll::spawns(&runtime, count, waits);
    let ends = thread::spawn(move || end(runtime));
    poll.ends(&handle);
    ends.join().unwrap();
}

/// The same for an end that does not wait: it has come before the poll goes on.
fn ends_after(runtime: Runtime, count: usize, waits: fn(&Receiver<()>), end: fn(Runtime)) {
    let handle = runtime.handle().clone();
    let poll = Poll::spawns(&runtime, count, waits);
    end(runtime);
    poll.ends(&handle);
}

#[test]
fn t6_tasks_that_a_poll_waits_for() {
    ends_beside(runtime(), 10, until_gone, drop);
}

#[test]
fn t6_more_tasks_than_a_queue_has_room_for() {
    ends_beside(runtime(), MANY, until_gone, drop);
}

#[test]
fn t6_nobody_waits_for_the_runtime() {
    ends_after(runtime(), MANY, until_gone, Runtime::shutdown_background);
    ends_after(runtime(), 1, until_gone, Runtime::shutdown_background);
}

/// A runtime on threads that are not its own has no monitor, and nobody waits for it.
#[test]
fn t6_tasks_that_a_poll_on_a_lent_thread_waits_for() {
    for (end, count) in [(drop as fn(Runtime), 1), (Runtime::shutdown_background, MANY)] {
        let runtime = Builder::new_multi_thread().worker_threads(1).build_on(|worker| {
            thread::spawn(move || worker.run());
            Ok(())
        });
        ends_after(runtime.unwrap(), count, until_gone, end);
    }
}

#[test]
fn t6_nobody_waits_for_the_runtime_any_more() {
    let soon = |runtime: Runtime| runtime.shutdown_timeout(Duration::ZERO);
    ends_after(runtime(), 10, until_gone, soon);
}

#[test]
fn t6_a_poll_that_steps_aside() {
    let aside: fn(&Receiver<()>) = |is_held| block_in_place(|| until_gone(is_held));
    ends_beside(runtime(), MANY, aside, drop);
    ends_after(runtime(), MANY, aside, Runtime::shutdown_background);
}

/// The seat's own worker has stepped aside, and is back before the spare's poll ends.
#[test]
fn t6_the_poll_of_a_spare_worker() {
    for end in [drop::<Runtime>, Runtime::shutdown_background] {
        let runtime = runtime();
        let (aside, is_aside) = mpsc::channel();
        let (back, is_back) = mpsc::channel::<()>();
        runtime.spawn(async move {
            block_in_place(|| {
                aside.send(()).unwrap();
                is_back.recv().unwrap();
            });
        });
        is_aside.recv().unwrap();
        let handle = runtime.handle().clone();
        let poll = Poll::spawns(&runtime, 10, until_gone);
        let ends = thread::spawn(move || end(runtime));
        while !handle.spawn(pending::<()>()).is_finished() {
            thread::yield_now();
        }
        back.send(()).unwrap();
        poll.ends(&handle);
        ends.join().unwrap();
    }
}

/// A task shuts its own runtime down, and the rest of its poll is as any other.
#[test]
fn t6_a_poll_that_drops_its_own_runtime() {
    let (end, ends) = mpsc::channel();
    let (give, given) = mpsc::channel::<Runtime>();
    let own = runtime();
    let handle = own.handle().clone();
    handle.spawn(async move {
        let own = given.recv().unwrap();
        block_in_place(|| drop(own));
        let (held, is_held) = mpsc::channel::<()>();
        heist::spawn(async move {
            pending::<()>().await;
            drop(held);
        });
        until_gone(&is_held);
        end.send(()).unwrap();
    });
    give.send(own).unwrap();
    ends.recv().unwrap();
}
