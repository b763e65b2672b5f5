//! Thread-per-core mode: every task stays where it was spawned (W8), and workers may be bound to
//! cores.

use crate::support;
use crate::support::Counted;
use heist::runtime::{Builder, Runtime};
use heist::task::{self, JoinSet, yield_now};
use heist_testing::{Rng, scaled, seed};
use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};

fn thread_per_core(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).thread_per_core(true).enable_all().build().unwrap()
}

/// W8: what a task spawns stays with it, though another worker has nothing to do.
#[test]
fn w8_tasks_stay_where_they_were_spawned() {
    let runtime = thread_per_core(4);
    let spawner = runtime.spawn(async {
        let home = thread::current().id();
        let mut tasks = JoinSet::new();
        for _ in 0..100 {
            tasks.spawn(async move {
                for _ in 0..10 {
                    assert_eq!(thread::current().id(), home);
                    yield_now().await;
                }
                let inner = heist::spawn(async { thread::current().id() }).await.unwrap();
                assert_eq!(inner, home);
            });
        }
        let mut count = 0;
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
            count += 1;
        }
        count
    });
    assert_eq!(runtime.block_on(spawner).unwrap(), 100);
}

/// W8: the same while their worker is busy and the others are idle: no thief takes them.
#[test]
fn w8_a_busy_worker_is_not_robbed() {
    let runtime = thread_per_core(2);
    let (send, ran) = mpsc::channel();
    let (release, held) = mpsc::channel::<()>();
    let busy = runtime.handle().spawn_pinned_on(0, move || async move {
        for _ in 0..50 {
            let send = send.clone();
            heist::spawn(async move { send.send(thread::current().id()).unwrap() });
        }
        held.recv().unwrap();
        thread::current().id()
    });
    // The other worker sleeps and wakes, and looks round, while the first has its hands full.
    for _ in 0..200 {
        runtime.block_on(runtime.handle().spawn_pinned_on(1, yield_now)).unwrap();
    }
    assert!(ran.try_recv().is_err());
    release.send(()).unwrap();
    let home = runtime.block_on(busy).unwrap();
    assert_eq!(ran.into_iter().collect::<Vec<ThreadId>>(), [home; 50]);
}

/// W8: from outside the workers have their turn one after the other, exactly; the future of
/// `block_on` stays on its own thread.
#[test]
fn w8_spawns_from_outside_go_round() {
    let runtime = thread_per_core(4);
    let me = thread::current().id();
    let shares = runtime.block_on(async {
        let joins: Vec<_> =
            (0..400).map(|_| heist::spawn(async { thread::current().id() })).collect();
        let mut shares: HashMap<ThreadId, usize> = HashMap::new();
        for join in joins {
            *shares.entry(join.await.unwrap()).or_default() += 1;
            assert_eq!(thread::current().id(), me);
        }
        shares
    });
    assert!(!shares.contains_key(&me));
    assert_eq!(shares.into_values().collect::<Vec<_>>(), [100; 4]);
}

/// I1: workers that sleep wake for their own, and for a closure that ends.
#[test]
fn i1_no_wake_up_is_lost_between_sleeps() {
    let runtime = thread_per_core(3);
    for turn in 0..1000 {
        let join = runtime.spawn(async move {
            let next = task::spawn_blocking(move || turn + 1);
            next.await.unwrap()
        });
        assert_eq!(runtime.block_on(join).unwrap(), turn + 1);
    }
    let (send, wakers) = mpsc::channel::<Waker>();
    let mut polls = 0;
    let join = runtime.spawn(poll_fn(move |cx| {
        polls += 1;
        send.send(cx.waker().clone()).unwrap();
        if polls == 3000 { Poll::Ready(()) } else { Poll::Pending }
    }));
    (0..2999).for_each(|_| wakers.recv().unwrap().wake());
    runtime.block_on(join).unwrap();
}

/// The mode is accepted where there is one worker without a thread.
#[test]
fn w8_without_threads() {
    let runtime = Builder::new_current_thread().thread_per_core(true).build().unwrap();
    let me = thread::current().id();
    let join =
        runtime.spawn(async { heist::spawn(async { thread::current().id() }).await.unwrap() });
    assert_eq!(runtime.block_on(join).unwrap(), me);
    // These futures are Send: another thread may go on with them, and drop them.
    let (drops, at) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let held = Counted(drops.clone());
    let polls = at.clone();
    let waiting = runtime.spawn(poll_fn(move |cx| -> Poll<()> {
        let _held = &held;
        polls.fetch_add(1, Ordering::SeqCst);
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
    runtime.block_on(yield_now());
    let polled = at.load(Ordering::SeqCst);
    thread::spawn(move || {
        runtime.block_on(support::futures::until(|| at.load(Ordering::SeqCst) > polled));
        drop(runtime);
    })
    .join()
    .unwrap();
    assert!(waiting.is_finished());
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

/// T1, T6, W8: tasks that wake each other across workers, are aborted, and lose their runtime: each
/// is dropped once, on the thread that first polled it.
#[test]
fn t6_seeded_load_with_aborts_and_shutdown() {
    for round in 0..scaled(100) {
        let mut rng = Rng::new(seed() ^ round);
        let runtime = thread_per_core(1 + rng.below(8) as usize);
        let (drops, mut made) = (Arc::new(AtomicUsize::new(0)), 0);
        let pool: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let mut joins = Vec::new();
        for number in 0..200 {
            let (held, pool) = (Counted(drops.clone()), pool.clone());
            let (mut own, mut home) = (Rng::new(rng.next_u64()), None);
            let mut left = own.below(30);
            made += 1;
            joins.push(runtime.spawn(poll_fn(move |cx| {
                let _held = &held;
                let here = thread::current().id();
                assert_eq!(*home.get_or_insert(here), here);
                let other = pool.lock().unwrap().pop();
                other.into_iter().for_each(Waker::wake);
                if left == 0 {
                    return Poll::Ready(());
                }
                left -= 1;
                match own.below(2) {
                    0 => cx.waker().wake_by_ref(),
                    _ => pool.lock().unwrap().push(cx.waker().clone()),
                }
                Poll::Pending
            })));
            if rng.below(4) == 0 {
                joins[rng.below(number + 1) as usize].abort();
            }
        }
        match rng.below(3) {
            0 => {
                let handle = runtime.handle().clone();
                runtime.shutdown_background();
                // Too late: cancelled at once.
                assert!(handle.block_on(handle.spawn(async {})).is_err());
                while drops.load(Ordering::SeqCst) < made {
                    thread::yield_now();
                }
            }
            1 => runtime.shutdown_timeout(std::time::Duration::from_secs(600)),
            _ => drop(runtime),
        }
        assert_eq!(drops.load(Ordering::SeqCst), made, "seed {:#x}, round {round}", seed());
        for join in joins {
            let ended = support::runtime(1).block_on(join);
            assert!(!ended.is_err_and(|error| error.is_panic()), "it ran on two threads");
        }
    }
}

/// Each worker has its core; those of blocking closures are not bound.
#[cfg(target_os = "linux")]
#[test]
fn workers_are_bound_to_cores() {
    use rustix::thread::{CpuSet, sched_getaffinity};
    fn cores() -> Vec<usize> {
        let set = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
    }
    let all = cores();
    let workers = all.len() + 1;
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).pin_workers(true).build().unwrap();
    for worker in 0..workers {
        let join = runtime.handle().spawn_pinned_on(worker, || async {
            (cores(), task::spawn_blocking(cores).await.unwrap())
        });
        let (own, blocking) = runtime.block_on(join).unwrap();
        assert_eq!(own, [all[worker % all.len()]]);
        assert_eq!(blocking, all);
    }
    assert_eq!(cores(), all, "the thread that builds is left alone");
    drop(runtime);
    let runtime = builder.pin_workers(false).build().unwrap();
    let threads: HashSet<Vec<usize>> = (0..workers)
        .map(|_| runtime.block_on(runtime.spawn_pinned(|| async { cores() })).unwrap())
        .collect();
    assert_eq!(threads, HashSet::from([all]));
}
