//! Fork-join: joins on workers, from outside, with panics, while closures block.

use heist::runtime::{Builder, Runtime};
use heist::{join, join_context, task};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn message(panic: Box<dyn std::any::Any + Send>) -> &'static str {
    panic.downcast_ref::<&'static str>().unwrap()
}

#[test]
fn a_tree_of_joins_adds_up() {
    for workers in [1, 2, 4] {
        let rt = runtime(workers);
        assert_eq!(rt.block_on(async { task::spawn(async { fib(22) }).await.unwrap() }), 17_711);
        let _entered = rt.enter();
        assert_eq!(fib(20), 6765);
    }
}

/// J5: the second closure can be stolen while the first blocks; also if there is one worker only.
#[test]
fn j5_both_closures_wait_for_each_other() {
    for workers in [1, 2] {
        let rt = runtime(workers);
        let _entered = rt.enter();
        for _ in 0..20 {
            let barrier = Barrier::new(2);
            join(|| barrier.wait(), || barrier.wait());
        }
    }
}

/// J5: also deep in a tree, where each pair waits for each other.
#[test]
fn j5_nested_pairs_wait_for_each_other() {
    fn pairs(depth: u32, barrier: &Barrier) {
        match depth {
            0 => _ = barrier.wait(),
            _ => _ = join(|| pairs(depth - 1, barrier), || pairs(depth - 1, barrier)),
        }
    }
    let rt = runtime(2);
    let _entered = rt.enter();
    pairs(3, &Barrier::new(8));
}

/// J4: whatever panics, both closures are called, and the first one's panic wins.
#[test]
fn j4_the_first_panic_wins() {
    fn outcome(rt: &Runtime, a: bool, b: bool, is_stolen: bool) -> Result<(), &'static str> {
        let calls = AtomicUsize::new(0);
        let barrier = Barrier::new(2);
        let call = |panics: bool, what: &'static str| {
            calls.fetch_add(1, Ordering::Relaxed);
            if is_stolen {
                barrier.wait();
            }
            if panics {
                panic::panic_any(what);
            }
        };
        let _entered = rt.enter();
        let both = || join(|| call(a, "a"), || call(b, "b"));
        let outcome = panic::catch_unwind(AssertUnwindSafe(both));
        assert_eq!(calls.into_inner(), 2, "both are called");
        outcome.map(drop).map_err(message)
    }
    let rt = runtime(2);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    for is_stolen in [false, true] {
        for _ in 0..10 {
            assert_eq!(outcome(&rt, false, false, is_stolen), Ok(()));
            assert_eq!(outcome(&rt, true, false, is_stolen), Err("a"));
            assert_eq!(outcome(&rt, false, true, is_stolen), Err("b"));
            assert_eq!(outcome(&rt, true, true, is_stolen), Err("a"));
        }
    }
    panic::set_hook(hook);
}

/// J4: a panic deep in a tree comes up through all joins, and all other leaves are called.
#[test]
fn j4_a_panic_deep_in_a_tree_comes_up() {
    fn tree(depth: u32, number: u32, leaves: &AtomicUsize) {
        if depth > 0 {
            let go = |number| move || tree(depth - 1, number, leaves);
            join(go(number * 2), go(number * 2 + 1));
            return;
        }
        leaves.fetch_add(1, Ordering::Relaxed);
        if number == 300 {
            panic::panic_any("leaf");
        }
    }
    let rt = runtime(2);
    let _entered = rt.enter();
    for _ in 0..50 {
        let leaves = AtomicUsize::new(0);
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| tree(9, 0, &leaves)));
        assert_eq!(outcome.map_err(message), Err("leaf"));
        assert_eq!(leaves.into_inner(), 512);
    }
}

/// J2: what is borrowed is there until both have ended, also when the runtime goes down meanwhile.
#[test]
fn j2_joins_outlive_their_runtime() {
    for round in 0..200 {
        let rt = runtime(2);
        let handle = rt.handle().clone();
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    let _entered = handle.enter();
                    assert_eq!(fib(10 + round % 5), [55, 89, 144, 233, 377][round as usize % 5]);
                });
            }
            rt.shutdown_background();
        });
    }
}

#[test]
fn many_joins_from_outside() {
    let rt = runtime(2);
    let scale = heist_testing::scaled(500_000) as usize / 4;
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let _entered = rt.enter();
                for n in 0..scale {
                    assert_eq!(join(|| n, || n + 1), (n, n + 1));
                }
            });
        }
    });
}

/// J3: a worker that waits with a lock held runs nothing that might want that lock, but what it waits for
/// itself: others that want it wait, and all get it in the end.
#[test]
fn j3_a_lock_may_be_held_across_a_join() {
    let rt = runtime(2);
    let _entered = rt.enter();
    let lock = Mutex::new(0_u64);
    fn locked(lock: &Mutex<u64>, depth: u32) {
        if depth > 0 {
            join(|| locked(lock, depth - 1), || locked(lock, depth - 1));
            return;
        }
        let mut sum = lock.lock().unwrap();
        *sum += join(|| fib(12), || fib(12)).0;
    }
    locked(&lock, 7);
    assert_eq!(lock.into_inner().unwrap(), 128 * 144);
}

#[test]
fn who_was_moved_is_told() {
    let rt = runtime(2);
    let here = rt.block_on(async {
        task::spawn(async { join_context(|a| a.migrated(), |_| ()).0 }).await.unwrap()
    });
    assert!(!here, "the first closure is called by the caller's worker");
    let _entered = rt.enter();
    assert_eq!(join_context(|a| a.migrated(), |b| b.migrated()), (true, true));
    let barrier = Barrier::new(2);
    let stolen =
        join(|| join_context(|_| barrier.wait(), |b| (b.migrated(), barrier.wait()).0).1, || ());
    assert!(stolen.0);
}

/// On a runtime without worker threads closures are called one after the other.
#[test]
fn without_threads_they_take_turns() {
    let rt = Builder::new_current_thread().build().unwrap();
    assert_eq!(rt.block_on(async { fib(15) }), 610);
    let _entered = rt.enter();
    assert_eq!(fib(15), 610);
    let per_core =
        Builder::new_multi_thread().worker_threads(2).thread_per_core(true).build().unwrap();
    assert_eq!(per_core.block_on(per_core.spawn(async { fib(15) })).unwrap(), 610);
}

#[test]
fn from_everywhere() {
    let rt = runtime(2);
    let blocking = rt.spawn_blocking(|| fib(10));
    assert_eq!(rt.block_on(blocking).unwrap(), 55);
    let in_place = rt.spawn(async { task::block_in_place(|| fib(10)) });
    assert_eq!(rt.block_on(in_place).unwrap(), 55);
    assert_eq!(rt.block_on(async { fib(10) }), 55);
    // The global runtime.
    assert_eq!(thread::spawn(|| fib(10)).join().unwrap(), 55);
    // A join whose closures block in place.
    let block = |n| task::block_in_place(move || fib(n));
    let both = rt.spawn(async move { join(|| block(9), || block(10)) });
    assert_eq!(rt.block_on(both).unwrap(), (34, 55));
}
