//! Which worker runs what, and when: W1–W7, I1, I2, F1–F3. No test decides by the clock: a promise
//! that is broken shows as a hang, or as a wrong count.

use crate::support::runtime;
use heist::runtime::Builder;
use heist::task::yield_now;
use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};

/// F1: two tasks that wait for each other's thread need two threads.
#[test]
fn f1_both_workers_run_tasks() {
    let runtime = runtime(2);
    let threads: Arc<Mutex<HashSet<ThreadId>>> = Arc::default();
    let meeting = Arc::new(Barrier::new(2));
    let joins: Vec<_> = (0..100)
        .map(|_| {
            let (threads, meeting) = (threads.clone(), meeting.clone());
            runtime.spawn(async move {
                meeting.wait();
                threads.lock().unwrap().insert(thread::current().id());
            })
        })
        .collect();
    joins.into_iter().for_each(|join| runtime.block_on(join).unwrap());
    // More if one of them had to wait for long: a spare worker has come in its place.
    assert!(threads.lock().unwrap().len() >= 2);
}

/// F1: what one worker spawns and cannot run, because it is busy, the other takes.
#[test]
fn f1_a_busy_worker_is_robbed() {
    let runtime = runtime(2);
    let (send, ran) = mpsc::channel();
    let busy = runtime.spawn(async move {
        for _ in 0..50 {
            let send = send.clone();
            heist::spawn(async move { send.send(thread::current().id()).unwrap() });
        }
        drop(send);
        // Holds its worker until another one has run all but the last, which sits in the slot.
        let me = thread::current().id();
        (0..49).for_each(|_| assert_ne!(ran.recv().unwrap(), me));
        ran
    });
    let ran = runtime.block_on(busy).unwrap();
    assert!(ran.recv().is_ok());
}

/// W6: thieves also take the task in the slot of a worker that is stuck in a poll.
#[test]
fn w6_the_slot_of_a_stuck_worker_is_robbed() {
    let runtime = runtime(2);
    let (send, ran) = mpsc::channel();
    let stuck = runtime.spawn(async move {
        let one = send.clone();
        heist::spawn(async move { one.send(1).unwrap() });
        // The second pushes the first out of the slot: somebody comes for it, and then looks on.
        heist::spawn(async move { send.send(2).unwrap() });
        let mut both = [ran.recv().unwrap(), ran.recv().unwrap()];
        both.sort_unstable();
        both
    });
    assert_eq!(runtime.block_on(stuck).unwrap(), [1, 2]);
}

/// I1, I2: a runtime that has gone to sleep wakes for each task that comes.
#[test]
fn i1_no_wake_up_is_lost_between_sleeps() {
    for workers in [1, 2, 5] {
        let runtime = runtime(workers);
        let (send, done) = mpsc::channel();
        for round in 0..3000 {
            let send = send.clone();
            runtime.spawn(async move { send.send(round).unwrap() });
            assert_eq!(done.recv(), Ok(round));
        }
    }
}

/// I1: the same for wake-ups of a task that waits, from a thread that is no worker.
#[test]
fn i1_wake_ups_from_outside() {
    let runtime = runtime(2);
    let (send, wakers) = mpsc::channel::<Waker>();
    let mut polls = 0;
    let join = runtime.spawn(poll_fn(move |cx| {
        polls += 1;
        send.send(cx.waker().clone()).unwrap();
        if polls == 3000 { Poll::Ready(()) } else { Poll::Pending }
    }));
    for _ in 0..2999 {
        wakers.recv().unwrap().wake();
    }
    runtime.block_on(join).unwrap();
}

/// I2: one wake-up from outside is enough to get everybody to work.
#[test]
fn i2_work_spreads_to_all_workers() {
    let runtime = runtime(4);
    let meeting = Arc::new(Barrier::new(4));
    let spawner = runtime.spawn(async move {
        let joins: Vec<_> = (0..4)
            .map(|_| {
                let meeting = meeting.clone();
                heist::spawn(async move {
                    meeting.wait();
                })
            })
            .collect();
        for join in joins {
            join.await.unwrap();
        }
    });
    runtime.block_on(spawner).unwrap();
}

/// W3, F2: two tasks that keep waking each other leave the ring its turn.
#[test]
fn f2_ping_pong_starves_nobody() {
    let runtime = runtime(1);
    let stop = Arc::new(AtomicBool::new(false));
    let places: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
    let players: Vec<_> = (0..2)
        .map(|me| {
            let (stop, places) = (stop.clone(), places.clone());
            runtime.spawn(poll_fn(move |cx| {
                let other = places[1 - me].lock().unwrap().take();
                let is_over = stop.load(Ordering::SeqCst);
                if !is_over {
                    *places[me].lock().unwrap() = Some(cx.waker().clone());
                }
                match other {
                    Some(other) => other.wake(),
                    None if !is_over => cx.waker().wake_by_ref(),
                    None => {}
                }
                if is_over { Poll::Ready(()) } else { Poll::Pending }
            }))
        })
        .collect();
    let at = stop.clone();
    let third = runtime.spawn(async move {
        for _ in 0..100 {
            yield_now().await;
        }
        at.store(true, Ordering::SeqCst);
    });
    runtime.block_on(third).unwrap();
    players.into_iter().for_each(|player| runtime.block_on(player).unwrap());
}

/// W3, F2: a chain of tasks, each spawned into the slot by the one before, waits for the whole ring
/// after every few links, not for one task of it.
#[test]
fn w3_a_chain_in_the_slot_waits_for_the_ring() {
    fn link(length: Arc<AtomicUsize>, is_over: Arc<AtomicBool>) {
        heist::spawn(async move {
            length.fetch_add(1, Ordering::SeqCst);
            if !is_over.load(Ordering::SeqCst) {
                link(length, is_over);
            }
        });
    }
    let runtime = runtime(1);
    let (send, lengths) = mpsc::channel();
    let spawner = runtime.spawn(async move {
        let (length, is_over): (Arc<AtomicUsize>, Arc<AtomicBool>) = Default::default();
        // None of them wakes anybody: nothing but the rule gets the chain out of the slot.
        for number in 0..100 {
            let (length, is_over, send) = (length.clone(), is_over.clone(), send.clone());
            heist::spawn(async move {
                if number == 99 {
                    is_over.store(true, Ordering::SeqCst);
                    send.send(length.load(Ordering::SeqCst)).unwrap();
                }
            });
        }
        link(length, is_over);
    });
    runtime.block_on(spawner).unwrap();
    let length = lengths.recv().unwrap();
    assert!(length <= 4, "{length} links before the last of a hundred tasks in the ring");
}

/// L4, F3: tasks that never stop yielding do not keep those from outside waiting for ever.
#[test]
fn f3_the_inject_queue_is_not_starved() {
    let runtime = runtime(1);
    let stop = Arc::new(AtomicBool::new(false));
    let yielders: Vec<_> = (0..10)
        .map(|_| {
            let stop = stop.clone();
            runtime.spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    yield_now().await;
                }
            })
        })
        .collect();
    let at = stop.clone();
    runtime.block_on(runtime.spawn(async move { at.store(true, Ordering::SeqCst) })).unwrap();
    yielders.into_iter().for_each(|yielder| runtime.block_on(yielder).unwrap());
}

/// Q8, W4: the inject queue hands out one thread's tasks in order. (A tick may run one of them
/// ahead of those that are in a ring already, so there is none here.)
#[test]
fn q8_tasks_from_one_thread_begin_in_order() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).global_queue_interval(u32::MAX).build().unwrap();
    let order: Arc<Mutex<Vec<usize>>> = Arc::default();
    let gate = Arc::new(Barrier::new(2));
    let at = gate.clone();
    runtime.spawn(async move {
        at.wait();
    });
    let joins: Vec<_> = (0..500)
        .map(|number| {
            let order = order.clone();
            runtime.spawn(async move { order.lock().unwrap().push(number) })
        })
        .collect();
    gate.wait();
    joins.into_iter().for_each(|join| runtime.block_on(join).unwrap());
    assert_eq!(*order.lock().unwrap(), (0..500).collect::<Vec<_>>());
}

/// Q5: more tasks than a ring holds, spawned by one task: all run.
#[test]
fn q5_an_overflow_loses_nothing() {
    let runtime = runtime(1);
    let count = Arc::new(AtomicUsize::new(0));
    let at = count.clone();
    let spawner = runtime.spawn(async move {
        let joins: Vec<_> = (0..2000)
            .map(|_| {
                let at = at.clone();
                heist::spawn(async move { at.fetch_add(1, Ordering::SeqCst) })
            })
            .collect();
        for join in joins {
            join.await.unwrap();
        }
    });
    runtime.block_on(spawner).unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 2000);
}

/// I1: a thread that waits polls a future that waits, too. Each is woken for its own, whichever was
/// woken first.
#[test]
fn i1_block_on_within_block_on() {
    let (runtime, other) = (runtime(2), runtime(1));
    for _ in 0..200 {
        runtime.block_on(async {
            let (send, sent) = heist::sync::oneshot::channel();
            let outer = heist::spawn(sent);
            let inner = other.block_on(async {
                send.send(3).unwrap();
                other.spawn(yield_now()).await.unwrap();
                4
            });
            assert_eq!((outer.await.unwrap().unwrap(), inner), (3, 4));
        });
    }
}
