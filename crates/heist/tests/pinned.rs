//! Pinned tasks: W8, T6, T8, F2, L4. No test decides by the clock: a promise that is broken shows
//! as a hang, or as a wrong count.

mod support;

use heist::runtime::{Builder, Runtime};
use heist::task::{self, yield_now};
use std::cell::Cell;
use std::collections::HashMap;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};
use support::futures::{Gate, until};
use support::resident::{Register, Resident};
use support::runtime;

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// W8: woken by other workers' tasks and by a thread outside, a task is polled by one thread only.
#[test]
fn w8_pinned_tasks_stay() {
    let runtime = runtime(4);
    let register = Register::default();
    let (to_thread, from_tasks) = mpsc::channel::<Waker>();
    let outside = thread::spawn(move || from_tasks.into_iter().for_each(Waker::wake));
    let joins: Vec<_> = (0..40)
        .map(|_| {
            let (register, to_thread) = (register.clone(), to_thread.clone());
            runtime.spawn_pinned(move || async move {
                let resident = Resident::new(&register);
                for turn in 0..100 {
                    resident.check();
                    let mut is_woken = false;
                    poll_fn(|cx| {
                        resident.check();
                        if std::mem::replace(&mut is_woken, true) {
                            return Poll::Ready(());
                        }
                        let waker = cx.waker().clone();
                        match turn % 3 {
                            0 => to_thread.send(waker).unwrap(),
                            // An ordinary task, for whichever worker takes it.
                            1 => drop(heist::spawn(async move { waker.wake() })),
                            _ => waker.wake(),
                        }
                        Poll::Pending
                    })
                    .await;
                }
            })
        })
        .collect();
    drop(to_thread);
    joins.into_iter().for_each(|join| runtime.block_on(join).unwrap());
    outside.join().unwrap();
    assert_eq!(register.made(), 40);
    register.check();
}

/// W8, I1: a sleeping worker wakes for its pinned task, whatever other workers do.
#[test]
fn w8_no_wake_up_is_lost_between_sleeps() {
    for workers in [1, 2, 5] {
        let runtime = runtime(workers);
        let noise = Arc::new(AtomicUsize::new(0));
        let joins: Vec<_> = (0..workers)
            .map(|worker| {
                let (send, wakers) = mpsc::channel::<Waker>();
                let (handle, noise) = (runtime.handle().clone(), noise.clone());
                let waking = thread::spawn(move || {
                    for (turn, waker) in wakers.into_iter().enumerate() {
                        if turn % 3 == 0 {
                            let noise = noise.clone();
                            handle.spawn(async move { noise.fetch_add(1, Ordering::SeqCst) });
                        }
                        waker.wake();
                    }
                });
                let join = runtime.handle().spawn_pinned_on(worker, move || {
                    let mut polls = 0;
                    poll_fn(move |cx| {
                        polls += 1;
                        if polls > 1500 {
                            return Poll::Ready(());
                        }
                        send.send(cx.waker().clone()).unwrap();
                        Poll::Pending
                    })
                });
                (join, waking)
            })
            .collect();
        for (join, waking) in joins {
            runtime.block_on(join).unwrap();
            waking.join().unwrap();
        }
        // And spawns that find everybody asleep, or nearly.
        for turn in 0..1500 {
            assert_eq!(
                runtime.block_on(runtime.spawn_pinned(move || async move { turn })).unwrap(),
                turn
            );
        }
    }
}

/// W8: nobody takes the pinned tasks of a worker that is stuck, while all else goes on.
#[test]
fn w8_thieves_never_see_them() {
    let runtime = runtime(3);
    let (stuck, count) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
    let (release, held) = mpsc::channel::<()>();
    let busy = runtime.handle().spawn_pinned_on(1, {
        let (stuck, count) = (stuck.clone(), count.clone());
        move || async move {
            let joins: Vec<_> = (0..50)
                .map(|_| {
                    let count = count.clone();
                    task::spawn_pinned(move || async move { count.fetch_add(1, Ordering::SeqCst) })
                })
                .collect();
            stuck.open();
            held.recv().unwrap();
            assert_eq!(count.load(Ordering::SeqCst), 0);
            for join in joins {
                join.await.unwrap();
            }
            thread::current().id()
        }
    });
    runtime.block_on(stuck.pass());
    let sent: Vec<_> = (0..50)
        .map(|_| {
            let count = count.clone();
            runtime.handle().spawn_pinned_on(1, move || async move {
                count.fetch_add(1, Ordering::SeqCst);
                thread::current().id()
            })
        })
        .collect();
    for _ in 0..300 {
        runtime.block_on(runtime.spawn(yield_now())).unwrap();
        runtime.block_on(runtime.handle().spawn_pinned_on(2, || async {})).unwrap();
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
    release.send(()).unwrap();
    let home = runtime.block_on(busy).unwrap();
    sent.into_iter().for_each(|join| assert_eq!(runtime.block_on(join).unwrap(), home));
    assert_eq!(count.load(Ordering::SeqCst), 100);
}

/// W8: from outside the workers have their turn one after the other, exactly.
#[test]
fn w8_spawns_from_outside_go_round() {
    let runtime = runtime(4);
    let joins: Vec<_> =
        (0..400).map(|_| runtime.spawn_pinned(|| async { thread::current().id() })).collect();
    let mut shares: HashMap<ThreadId, usize> = HashMap::new();
    for join in joins {
        *shares.entry(runtime.block_on(join).unwrap()).or_default() += 1;
    }
    assert_eq!(shares.into_values().collect::<Vec<_>>(), [100; 4]);
}

/// W8: on a worker, and by number.
#[test]
fn w8_a_spawn_on_a_worker_stays_there() {
    let runtime = runtime(4);
    let homes: Vec<ThreadId> = (0..4)
        .map(|worker| {
            let on =
                || runtime.handle().spawn_pinned_on(worker, || async { thread::current().id() });
            let home = runtime.block_on(on()).unwrap();
            assert_eq!(runtime.block_on(on()).unwrap(), home);
            home
        })
        .collect();
    assert_eq!(homes.iter().collect::<std::collections::HashSet<_>>().len(), 4);
    for _ in 0..100 {
        let join = runtime.spawn(async {
            let here = thread::current().id();
            (here, task::spawn_pinned(|| async { thread::current().id() }))
        });
        let (here, join) = runtime.block_on(join).unwrap();
        assert_eq!(runtime.block_on(join).unwrap(), here);
    }
}

#[test]
#[should_panic(expected = "Handle::spawn_pinned_on: there is no worker 2; this runtime has 2")]
fn a_worker_that_is_not_there_is_named() {
    runtime(2).handle().spawn_pinned_on(2, || async {});
}

/// T6: aborted from outside while it waits, is queued, or runs, it is dropped on its thread.
#[test]
fn t6_an_abort_drops_on_its_thread() {
    let runtime = runtime(2);
    let register = Register::default();
    let resident_task = |polls: Arc<AtomicUsize>, goes_on: bool| {
        let register = register.clone();
        runtime.spawn_pinned(move || async move {
            let resident = Resident::new(&register);
            poll_fn(|cx| -> Poll<()> {
                resident.check();
                polls.fetch_add(1, Ordering::SeqCst);
                if goes_on {
                    cx.waker().wake_by_ref();
                }
                Poll::Pending
            })
            .await;
        })
    };
    for turn in 0..200 {
        let polls = Arc::new(AtomicUsize::new(0));
        let join = resident_task(polls.clone(), turn % 2 == 0);
        while turn % 4 > 1 && polls.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        join.abort();
        assert!(runtime.block_on(join).unwrap_err().is_cancelled());
    }
    register.check();
    assert!(register.made() >= 100);
}

/// T6: at shutdown the workers drop their own: waiting, queued, and not yet made.
#[test]
fn t6_shutdown_drops_on_their_threads() {
    for round in 0..50 {
        let runtime = runtime(3);
        let (register, unmade) = (Register::default(), Arc::new(AtomicUsize::new(0)));
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let mut joins = Vec::new();
        for number in 0..60 {
            let (register, wakers) = (register.clone(), wakers.clone());
            let held = support::Counted(unmade.clone());
            joins.push(runtime.spawn_pinned(move || async move {
                let resident = Resident::new(&register);
                let _held = held;
                poll_fn(|cx| -> Poll<()> {
                    resident.check();
                    match number % 3 {
                        0 => wakers.lock().unwrap().push(cx.waker().clone()),
                        1 => cx.waker().wake_by_ref(),
                        _ => {}
                    }
                    Poll::Pending
                })
                .await;
            }));
        }
        while round % 2 == 0 && register.made() < 60 {
            thread::yield_now();
        }
        // Wake-ups go on beside the end, and after it (T8).
        let (stop, is_stopped) = (Arc::new(AtomicBool::new(false)), wakers.clone());
        let stopped = stop.clone();
        let waking = thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                let wakers: Vec<Waker> = is_stopped.lock().unwrap().clone();
                wakers.iter().for_each(Waker::wake_by_ref);
            }
        });
        drop(runtime);
        register.check();
        assert_eq!(unmade.load(Ordering::SeqCst), 60);
        assert!(joins.iter().all(|join| join.is_finished()));
        stop.store(true, Ordering::SeqCst);
        waking.join().unwrap();
        wakers.lock().unwrap().drain(..).for_each(Waker::wake);
    }
}

/// T6, T7: a panic in what makes it, in a poll, or in a drop: all is dropped at home, and the
/// worker goes on.
#[test]
fn t7_a_panic_drops_on_its_thread() {
    struct Bomb(#[allow(dead_code, reason = "held to be dropped")] Resident);
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a drop");
        }
    }
    let runtime = runtime(1);
    let register = Register::default();
    for case in 0..3 {
        let at = register.clone();
        let join = runtime.spawn_pinned(move || {
            let resident = Resident::new(&at);
            assert!(case != 0, "in what makes it");
            async move {
                yield_now().await;
                assert!(case != 1, "in a poll");
                let _bomb = Bomb(resident);
                pending::<()>().await;
            }
        });
        if case == 2 {
            runtime.block_on(until(|| register.made() == 3));
            runtime
                .block_on(runtime.handle().spawn_pinned_on(0, || async { yield_now().await }))
                .unwrap();
            join.abort();
        }
        let error = runtime.block_on(join).unwrap_err();
        assert!(error.is_panic(), "case {case}: {error}");
    }
    assert_eq!(runtime.block_on(runtime.spawn_pinned(|| async { 7 })).unwrap(), 7);
    assert_eq!(register.made(), 3);
    register.check();
}

/// F2: while both have something, pinned tasks and others take turns: neither gets much more.
/// Nobody watches for stalls: a worker that has no core for a while would lose its seat to one that
/// runs the others alone.
#[test]
fn f2_pinned_tasks_and_others_take_turns() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).stall_threshold(None).build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let pinned_polls = Arc::new(AtomicUsize::new(0));
    let ordinary_polls = Arc::new(AtomicUsize::new(0));
    let flood = |polls: &Arc<AtomicUsize>| {
        let (stop, polls) = (stop.clone(), polls.clone());
        move || async move {
            while !stop.load(Ordering::SeqCst) {
                polls.fetch_add(1, Ordering::SeqCst);
                yield_now().await;
            }
        }
    };
    let mut joins = Vec::new();
    for _ in 0..20 {
        joins.push(runtime.spawn_pinned(flood(&pinned_polls)));
        joins.push(runtime.spawn(flood(&ordinary_polls)()));
    }
    let both = || (pinned_polls.load(Ordering::SeqCst), ordinary_polls.load(Ordering::SeqCst));
    while both().0 < 1000 || both().1 < 1000 {
        thread::yield_now();
    }
    // Counted on the worker, so that nothing happens in between.
    let (pinned, ordinary) = (pinned_polls.clone(), ordinary_polls.clone());
    let difference = runtime.spawn(async move {
        let both = || (pinned.load(Ordering::SeqCst), ordinary.load(Ordering::SeqCst));
        let before = both();
        while both().0 + both().1 < before.0 + before.1 + 20_000 {
            yield_now().await;
        }
        (both().0 - before.0).abs_diff(both().1 - before.1)
    });
    let difference = runtime.block_on(difference).unwrap();
    stop.store(true, Ordering::SeqCst);
    joins.into_iter().for_each(|join| runtime.block_on(join).unwrap());
    // The task that counts takes some of the others' turns: one of 21.
    assert!(difference < 1500, "{difference} of 20000");
}

/// F2: two tasks that hand the LIFO slot to each other leave pinned ones their turn.
#[test]
fn f2_the_slot_does_not_starve_them() {
    let runtime = runtime(1);
    let stop = Arc::new(AtomicBool::new(false));
    let places: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
    let players: Vec<_> = (0..2)
        .map(|me| {
            let (stop, places) = (stop.clone(), places.clone());
            runtime.spawn(poll_fn(move |cx| {
                let is_over = stop.load(Ordering::SeqCst);
                if !is_over {
                    *places[me].lock().unwrap() = Some(cx.waker().clone());
                }
                match places[1 - me].lock().unwrap().take() {
                    Some(other) => other.wake(),
                    None if !is_over => cx.waker().wake_by_ref(),
                    None => {}
                }
                if is_over { Poll::Ready(()) } else { Poll::Pending }
            }))
        })
        .collect();
    let pinned = runtime.spawn_pinned(move || async move {
        for _ in 0..1000 {
            yield_now().await;
        }
        stop.store(true, Ordering::SeqCst);
    });
    runtime.block_on(pinned).unwrap();
    players.into_iter().for_each(|player| runtime.block_on(player).unwrap());
}

/// L4, F3: pinned tasks that never stop keep neither the inbox nor the inject queue waiting for
/// ever.
#[test]
fn l4_the_inbox_is_not_starved() {
    for last_is_pinned in [true, false] {
        let runtime = runtime(1);
        let stop = Arc::new(AtomicBool::new(false));
        let yielders: Vec<_> = (0..10)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn_pinned(move || async move {
                    while !stop.load(Ordering::SeqCst) {
                        yield_now().await;
                    }
                })
            })
            .collect();
        let at = stop.clone();
        let last = move || async move { at.store(true, Ordering::SeqCst) };
        let last = match last_is_pinned {
            true => runtime.spawn_pinned(last),
            false => runtime.spawn(last()),
        };
        runtime.block_on(last).unwrap();
        yielders.into_iter().for_each(|yielder| runtime.block_on(yielder).unwrap());
    }
}

/// W8 without worker threads: the one worker, on the thread that waits.
#[test]
fn w8_on_a_runtime_without_threads() {
    let (runtime, register) = (current_thread(), Register::default());
    let me = thread::current().id();
    let handle = runtime.handle().clone();
    // Spawned outside of block_on, and from another thread.
    let early = runtime.spawn_pinned(|| async { thread::current().id() });
    let other =
        thread::spawn(move || handle.spawn_pinned_on(0, || async { thread::current().id() }));
    let other = other.join().unwrap();
    runtime.block_on(async {
        assert_eq!(early.await.unwrap(), me);
        assert_eq!(other.await.unwrap(), me);
        let shared = Rc::new(Cell::new(0));
        let at = register.clone();
        let count = task::spawn_pinned(move || async move {
            let resident = Resident::new(&at);
            let count = Rc::new(Cell::new(0));
            for _ in 0..100 {
                resident.check();
                count.set(count.get() + 1);
                yield_now().await;
            }
            count.get()
        });
        shared.set(count.await.unwrap());
        assert_eq!(shared.get(), 100);
    });
    let at = register.clone();
    let left = runtime.spawn_pinned(move || async move {
        let _resident = Resident::new(&at);
        pending::<()>().await;
    });
    runtime.block_on(until(|| register.made() == 2));
    drop(runtime);
    assert!(left.is_finished());
    register.check();
}

/// T6: there, another thread neither polls nor drops what is not its own.
#[test]
fn t6_another_thread_runs_the_runtime() {
    let (runtime, register) = (current_thread(), Register::default());
    let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
    let resident_task = || {
        let (register, wakers) = (register.clone(), wakers.clone());
        runtime.spawn_pinned(move || async move {
            let resident = Resident::new(&register);
            poll_fn(|cx| -> Poll<()> {
                resident.check();
                wakers.lock().unwrap().push(cx.waker().clone());
                Poll::Pending
            })
            .await;
        })
    };
    let (woken, waiting) = (resident_task(), resident_task());
    runtime.block_on(until(|| register.made() == 2));
    let first = wakers.lock().unwrap().remove(0);
    thread::spawn(move || {
        first.wake();
        let error = runtime.block_on(woken).unwrap_err();
        assert!(error.to_string().contains("call its block_on on one thread only"), "{error}");
        drop(runtime);
        assert!(waiting.is_finished());
    })
    .join()
    .unwrap();
    // They leak: no thread could have dropped them.
    assert_eq!((register.dropped_at_home(), register.dropped_elsewhere()), (0, 0));
    wakers.lock().unwrap().drain(..).for_each(Waker::wake);
}

/// F3: a pinned task that never waits leaves jobs and broadcasts their turn; and where all tasks
/// are pinned, so does any.
#[test]
fn f3_jobs_have_their_turn_beside_pinned_tasks() {
    for thread_per_core in [false, true] {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder
            .worker_threads(1)
            .thread_per_core(thread_per_core)
            .enable_all()
            .build()
            .unwrap();
        let (begun, begins) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        let busy = runtime.spawn_pinned(move || async move {
            begun.send(()).unwrap();
            while !ends.load(Ordering::SeqCst) {
                yield_now().await;
            }
        });
        begins.recv().unwrap();
        let handle = runtime.handle();
        assert_eq!(handle.broadcast(|_| 5), [5]);
        assert_eq!(handle.spawn_job(|| 5).wait().unwrap(), 5);
        assert_eq!(handle.join(|| 2, || 3), (2, 3));
        is_over.store(true, Ordering::SeqCst);
        runtime.block_on(busy).unwrap();
    }
}
