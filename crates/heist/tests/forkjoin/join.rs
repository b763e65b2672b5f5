//! Fork-join: joins on workers, from outside, with panics, while closures block.

use heist::runtime::{Builder, Runtime};
use heist::{join, join_context, task};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

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

/// Thieves leave alone what was too small for them, but not what comes after that and blocks.
#[test]
fn what_comes_after_many_small_jobs_is_taken_all_the_same() {
    let rt = runtime(2);
    rt.handle().install(|| {
        for _ in 0..50 {
            let sum: u64 = (0..1000).map(|n| heist::join(|| n, || 1)).map(|(a, b)| a + b).sum();
            assert_eq!(sum, 500_500);
            let barrier = Barrier::new(2);
            heist::join(|| barrier.wait(), || barrier.wait());
        }
    });
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
    for is_stolen in [false, true] {
        for _ in 0..10 {
            assert_eq!(outcome(&rt, false, false, is_stolen), Ok(()));
            assert_eq!(outcome(&rt, true, false, is_stolen), Err("a"));
            assert_eq!(outcome(&rt, false, true, is_stolen), Err("b"));
            assert_eq!(outcome(&rt, true, true, is_stolen), Err("a"));
        }
    }
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

/// J3: a worker that waits with a lock held runs nothing that might want that lock, but what it
/// waits for itself: others that want it wait, and all get it in the end.
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

/// A runtime without sysmon: workers must give up their seats, or nothing moves.
fn unwatched(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).stall_threshold(None).build().unwrap()
}

/// J3, L5: a worker that waits does not run unrelated jobs; it gives up its seat, and the next
/// holder runs them.
#[test]
fn j3_a_waiter_leaves_unrelated_jobs_to_others() {
    let rt = unwatched(2);
    for _ in 0..20 {
        let (begun, has_begun) = channel();
        let (started, has_started) = channel();
        let waiter = rt.handle().install(|| {
            let handle = rt.handle();
            let begin = move || {
                has_begun.recv().unwrap();
                // The other worker is in the second closure, and this one will wait for it.
                drop(thread::scope(|threads| {
                    let spawn = || handle.spawn_job(move || started.send(thread::current().id()));
                    threads.spawn(spawn).join().unwrap().detach()
                }));
                thread::current().id()
            };
            let end = move || {
                begun.send(()).unwrap();
                has_started.recv().unwrap()
            };
            join(begin, end)
        });
        assert_ne!(waiter.0, waiter.1, "the waiting thread has run it");
    }
}

/// J2: a closure that waits for a worker when the runtime goes down is called by its own thread,
/// though all workers are stuck.
#[test]
fn j2_nobody_waits_for_workers_that_do_not_come() {
    let rt = unwatched(1);
    let (unblock, blocked) = channel::<()>();
    let (begin, begun) = channel();
    rt.handle().spawn_detached(move || {
        begin.send(()).unwrap();
        blocked.recv().unwrap();
    });
    begun.recv().unwrap();
    let handle = rt.handle().clone();
    let thread = thread::spawn(move || handle.install(|| thread::current().id()));
    // Long enough to wait in the inbox, most of the time.
    thread::sleep(Duration::from_millis(20));
    rt.shutdown_background();
    let id = thread.thread().id();
    assert_eq!(thread.join().unwrap(), id);
    unblock.send(()).unwrap();
}

#[test]
fn a_closure_knows_whether_it_has_migrated() {
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

/// F3: tasks are run while every worker is at a job that waits for them without ever blocking; also
/// those that a job itself spawns. Sysmon does not help: it is not asked to.
#[test]
fn f3_tasks_are_run_beside_jobs_that_burn() {
    for workers in [1, 2, 4] {
        let rt = Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .stall_threshold(None)
            .build()
            .unwrap();
        let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (begun, done) = (&*Box::leak(Box::new(begun)), &*Box::leak(Box::new(done)));
        const ROUNDS: usize = 20;
        let burn = move || {
            begun.fetch_add(1, Ordering::SeqCst);
            drop(task::spawn(async move { done.fetch_add(1, Ordering::SeqCst) }));
            while done.load(Ordering::SeqCst) < workers + ROUNDS {
                thread::yield_now();
            }
        };
        let jobs: Vec<_> = (0..workers).map(|_| rt.handle().spawn_job(burn)).collect();
        while begun.load(Ordering::SeqCst) < workers {
            thread::yield_now();
        }
        for _ in 0..ROUNDS {
            // One waits for the other: both are run, one after the other.
            let (first, second) = (rt.spawn(task::yield_now()), rt.handle().clone());
            rt.block_on(async move { second.spawn(async { first.await.unwrap() }).await.unwrap() });
            done.fetch_add(1, Ordering::SeqCst);
        }
        jobs.into_iter().for_each(|job| job.wait().unwrap());
        // The workers have their seats back, and run tasks and jobs as before.
        rt.block_on(async { task::spawn(async { fib(15) }).await.unwrap() });
    }
}

/// F3, L3: so are tasks that wait for sockets and for time. Nobody is robbed for them: sysmon has
/// all the patience in the world, or does not watch the workers at all.
#[test]
fn f3_sockets_and_timers_beside_jobs_that_burn() {
    serve_beside_jobs(Some(Duration::from_secs(3600)));
    serve_beside_jobs(None);
}

fn serve_beside_jobs(patience: Option<Duration>) {
    use heist::io::{AsyncReadExt, AsyncWriteExt};
    use heist::net::{TcpListener, TcpStream};
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(2).enable_all().stall_threshold(patience).build().unwrap();
    let is_over = &*Box::leak(Box::new(AtomicUsize::new(0)));
    let burn = || {
        while is_over.load(Ordering::SeqCst) == 0 {
            std::hint::spin_loop();
        }
    };
    let listener = rt.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let server = rt.spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut byte = [0];
        while stream.read(&mut byte).await.unwrap() == 1 {
            heist::time::sleep(Duration::from_millis(1)).await;
            stream.write_all(&byte).await.unwrap();
        }
    });
    let jobs: Vec<_> = (0..2).map(|_| rt.handle().spawn_job(burn)).collect();
    let client = rt.spawn(async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        for number in 0..20 {
            let mut byte = [number];
            stream.write_all(&byte).await.unwrap();
            stream.read_exact(&mut byte).await.unwrap();
            assert_eq!(byte, [number]);
        }
    });
    rt.block_on(async { (client.await.unwrap(), server.await.unwrap()) });
    is_over.store(1, Ordering::SeqCst);
    jobs.into_iter().for_each(|job| job.wait().unwrap());
}
