//! Pools: their threads, and what they promise that heist's own runtimes do not.

use rayon_core::{Scope, ThreadPool, ThreadPoolBuilder, Yield};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// A pool's threads are all that run its jobs, also while they block.
#[test]
fn threads_are_those_that_were_asked_for() {
    let pool = ThreadPoolBuilder::new().num_threads(3).thread_name(|i| format!("mine-{i}"));
    let pool = pool.build().unwrap();
    let names = Mutex::new(BTreeSet::new());
    pool.scope(|s| {
        for _ in 0..200 {
            s.spawn(|_| {
                thread::sleep(Duration::from_millis(1));
                let name = thread::current().name().unwrap().to_owned();
                assert_eq!(name, format!("mine-{}", rayon_core::current_thread_index().unwrap()));
                names.lock().unwrap().insert(name);
            });
        }
    });
    assert!(names.into_inner().unwrap().is_subset(&(0..3).map(|i| format!("mine-{i}")).collect()));
}

/// A request for more gets the maximum, and not a panic of heist's builder.
#[test]
fn the_most_threads_are_as_many_as_heist_has() {
    let most = rayon_core::max_num_threads();
    let accepts = |threads| {
        let ask = || _ = heist::runtime::Builder::new_multi_thread().worker_threads(threads);
        std::panic::catch_unwind(ask).is_ok()
    };
    assert!(accepts(most) && !accepts(most + 1));
}

/// No two jobs have the same number at one time: people index with it.
#[test]
fn an_index_is_one_threads() {
    fn divide(depth: u32, taken: &[AtomicBool]) {
        if depth > 0 {
            rayon_core::join(|| divide(depth - 1, taken), || divide(depth - 1, taken));
            return;
        }
        let taken = &taken[rayon_core::current_thread_index().unwrap()];
        assert!(!taken.swap(true, Ordering::Acquire));
        thread::sleep(Duration::from_micros(50));
        taken.store(false, Ordering::Release);
    }
    let taken: Vec<AtomicBool> = (0..4).map(|_| AtomicBool::new(false)).collect();
    pool(4).install(|| divide(10, &taken));
}

/// What a closure of a join waits for with `yield_now` may be the other closure, on its own stack.
#[test]
fn yield_runs_the_other_closure_of_a_join() {
    let pool = pool(1);
    for depth in 0..3 {
        let is_done = AtomicBool::new(false);
        let wait = || {
            while !is_done.load(Ordering::Relaxed) {
                assert_eq!(rayon_core::yield_now(), Some(Yield::Executed));
                // The next job in the deque must not be mistaken for the one that was there.
                rayon_core::spawn(|| ());
                rayon_core::join(|| (), || ());
            }
            1
        };
        let finish = || {
            is_done.store(true, Ordering::Relaxed);
            2
        };
        let outer = || pool.install(|| rayon_core::join(wait, finish));
        let result = match depth {
            0 => outer(),
            1 => pool.install(|| rayon_core::join(outer, || 3)).0,
            _ => pool.install(|| rayon_core::join(|| 3, outer).1),
        };
        assert_eq!(result, (1, 2));
    }
}

/// A thread that waits, and sleeps, is there for what comes from outside.
#[test]
fn a_waiter_runs_arriving_jobs() {
    let pool = Arc::new(pool(2));
    let barrier = Arc::new(Barrier::new(2));
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let elsewhere = thread::spawn({
        let (pool, barrier) = (Arc::clone(&pool), Arc::clone(&barrier));
        move || {
            barrier.wait();
            thread::sleep(Duration::from_millis(50));
            sender.send(pool.install(|| 7)).unwrap();
        }
    });
    // One thread waits for the other, which waits for a third that needs one of them.
    let (_, seven) = pool.join(|| barrier.wait(), || receiver.lock().unwrap().recv().unwrap());
    assert_eq!(seven, 7);
    elsewhere.join().unwrap();
}

/// A pool that is dropped by one of its own jobs, or while jobs are left, runs them all.
#[test]
fn jobs_outlive_their_pool() {
    let ran = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = channel::<()>();
    let pool = Arc::new(pool(2));
    for _ in 0..100 {
        let (pool, ran, sender) = (Arc::clone(&pool), Arc::clone(&ran), sender.clone());
        rayon_core::spawn(move || {
            let (inner, last) = (Arc::clone(&ran), sender.clone());
            pool.spawn(move || {
                inner.fetch_add(1, Ordering::Relaxed);
                drop(last);
            });
            drop((pool, sender));
        });
    }
    drop((pool, sender));
    assert!(receiver.recv().is_err());
    assert_eq!(ran.load(Ordering::Relaxed), 100);
}

/// Both are asked for by handlers: they run on the pool.
#[test]
fn handlers_may_use_the_pool() {
    let (sender, receiver) = channel();
    let (started, ended) = (sender.clone(), sender);
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .start_handler(move |_| started.send(rayon_core::join(|| 1, || 2)).unwrap())
        .exit_handler(move |_| ended.send(rayon_core::join(|| 3, || 4)).unwrap())
        .build();
    drop(pool.unwrap());
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [(1, 2), (3, 4)]);
}

#[test]
#[allow(deprecated)]
fn breadth_first_spawns_in_order() {
    let pool = ThreadPoolBuilder::new().num_threads(1).breadth_first().build().unwrap();
    let (sender, receiver) = channel();
    pool.install(move || {
        for n in 0..10 {
            let sender = sender.clone();
            rayon_core::spawn(move || sender.send(n).unwrap());
        }
    });
    assert_eq!(receiver.iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

/// A thread takes the newest job of either scope. When the inner scope is over, its waiter
/// continues before it takes another job.
#[test]
fn scopes_within_scopes_run_the_newest_first() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let order = pool.install(|| {
        let order = Mutex::new(Vec::new());
        rayon_core::scope(|outer| {
            let number = |n: i32| {
                let order = &order;
                move |_: &Scope<'_>| order.lock().unwrap().push(n)
            };
            outer.spawn(number(0));
            rayon_core::scope(|inner| {
                inner.spawn(number(-1));
                outer.spawn(number(1));
                inner.spawn(number(-2));
            });
            outer.spawn(number(2));
        });
        order.into_inner().unwrap()
    });
    assert_eq!(order, [-2, 1, -1, 2, 0]);
}
