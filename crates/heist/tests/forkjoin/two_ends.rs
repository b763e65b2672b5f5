//! Two runtimes that go down at the same time, one by the other's hand, while the jobs of each wait
//! for jobs of the other. Each runtime is shut down by one, as it has one owner; what it promises
//! is told at `Runtime::shutdown_timeout` and its neighbours. What fails here hangs.

use heist::runtime::{Builder, Handle, Runtime};
use heist::task::block_in_place;
use heist::{join, scope};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const ROUNDS: usize = 15;
const WORKERS: usize = 2;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(WORKERS).build().unwrap()
}

/// A tree whose levels are on the one runtime and on the other by turns.
fn to_and_fro(here: &Handle, there: &Handle, depth: u32) -> usize {
    if depth == 0 {
        return 1;
    }
    let next = || to_and_fro(there, here, depth - 1);
    here.install(|| {
        let (mut in_scope, (a, b)) = (0, join(next, next));
        scope(|s| s.spawn(|_| in_scope = next()));
        a + b + in_scope
    })
}

/// `ends` gets both runtimes, while trees grow on both.
fn ends_beside_trees(ends: impl Fn(Runtime, Runtime)) {
    const DEPTH: u32 = 5;
    for _ in 0..ROUNDS {
        let (one, other) = (runtime(), runtime());
        let (here, there) = (one.handle().clone(), other.handle().clone());
        let begin = Barrier::new(3);
        thread::scope(|threads| {
            for (here, there) in [(&here, &there), (&there, &here)] {
                let begin = &begin;
                threads.spawn(move || {
                    begin.wait();
                    (0..4).for_each(|_| {
                        assert_eq!(to_and_fro(here, there, DEPTH), 3usize.pow(DEPTH))
                    });
                });
            }
            begin.wait();
            ends(one, other);
        });
    }
}

/// Both at once, each by a task of the other: neither waits for what the other is in the middle of.
fn each_other(end: fn(Runtime)) {
    let ended = Arc::new(AtomicUsize::new(0));
    ends_beside_trees(|one, other| {
        let barrier = Arc::new(Barrier::new(2));
        let handles = [one.handle().clone(), other.handle().clone()];
        for (handle, victim) in handles.into_iter().zip([other, one]) {
            let (barrier, ended) = (barrier.clone(), ended.clone());
            let begin = Arc::new(Barrier::new(2));
            let begins = begin.clone();
            handle.spawn(async move {
                begins.wait();
                barrier.wait();
                end(victim);
                ended.fetch_add(1, Ordering::SeqCst);
            });
            // Else it may be cancelled.
            begin.wait();
        }
    });
    while ended.load(Ordering::SeqCst) < 2 * ROUNDS {
        thread::yield_now();
    }
}

#[test]
fn j5_two_runtimes_shut_each_other_down() {
    each_other(Runtime::shutdown_background);
}

#[test]
fn j5_two_runtimes_shut_each_other_down_and_wait_a_little() {
    each_other(|victim| victim.shutdown_timeout(Duration::from_millis(1)));
}

#[test]
fn j5_two_runtimes_are_dropped_at_once() {
    ends_beside_trees(|one, other| {
        thread::scope(|threads| {
            threads.spawn(|| drop(one));
            drop(other);
        });
    });
}

/// One goes down with the other in its hands: the task that would have dropped it is dropped
/// itself, by the shutdown, or drops it while the shutdown waits for it.
#[test]
fn j5_a_runtime_is_dropped_by_what_another_drops() {
    ends_beside_trees(|one, other| {
        let waits = one.spawn(async move {
            std::future::pending::<()>().await;
            drop(other);
        });
        drop(one);
        assert!(waits.is_finished());
    });
    ends_beside_trees(|one, other| {
        let begin = Arc::new(Barrier::new(2));
        let begins = begin.clone();
        one.spawn(async move {
            begins.wait();
            block_in_place(|| drop(other));
        });
        begin.wait();
        drop(one);
    });
}
