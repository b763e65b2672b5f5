//! Scopes, jobs with handles, broadcasts, and all of it on runtimes of one's choice.

use heist::runtime::{Builder, Runtime};
use heist::{JobHandle, Scope, Yield, task};
use std::collections::HashSet;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A wait of this length counts as a hang.
const HANGS: Duration = Duration::from_secs(60);

fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

fn message(panic: Box<dyn std::any::Any + Send>) -> &'static str {
    panic.downcast_ref::<&'static str>().unwrap()
}

/// J1: every job of a scope runs once, wherever it was spawned.
#[test]
fn j1_every_job_runs_once() {
    fn tree<'scope>(s: &Scope<'scope>, depth: u32, runs: &'scope AtomicUsize) {
        runs.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            for _ in 0..3 {
                s.spawn(move |s| tree(s, depth - 1, runs));
            }
        }
    }
    for workers in [1, 2, 4] {
        let rt = runtime(workers);
        for _ in 0..20 {
            let runs = AtomicUsize::new(0);
            rt.handle().scope(|s| tree(s, 6, &runs));
            assert_eq!(runs.into_inner(), (3_usize.pow(7) - 1) / 2);
        }
        let runs = AtomicUsize::new(0);
        rt.handle().in_place_scope(|s| tree(s, 6, &runs));
        assert_eq!(runs.into_inner(), (3_usize.pow(7) - 1) / 2);
    }
}

#[test]
fn a_million_jobs() {
    let rt = runtime(2);
    let (count, sum) = (heist_testing::scaled(1_000_000) as usize, AtomicUsize::new(0));
    rt.handle().scope(|s| {
        for _ in 0..count {
            s.spawn(|_| {
                sum.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(sum.into_inner(), count);
}

/// J1: a job receives its captures intact: none, large ones, or ones with a larger alignment than
/// memory for jobs has.
#[test]
fn j1_jobs_have_any_size_and_alignment() {
    #[repr(align(64))]
    struct Aligned([u8; 3]);
    let rt = runtime(2);
    let (ran, runs) = (AtomicUsize::new(0), heist_testing::scaled(20_000) as usize);
    let add = |sum: usize| _ = ran.fetch_add(sum, Ordering::Relaxed);
    let add = &add;
    rt.handle().scope(|s| {
        for n in 0..runs {
            let byte = n as u8;
            s.spawn(move |_| add(1));
            let large = [byte; 1000];
            s.spawn(move |_| add(usize::from(large.iter().all(|b| *b == byte))));
            let odd = [byte; 13];
            s.spawn(move |_| add(usize::from(odd == [byte; 13])));
            let aligned = Aligned([byte; 3]);
            s.spawn(move |_| {
                let is_aligned = (&raw const aligned).addr() % 64 == 0;
                add(usize::from(is_aligned && aligned.0 == [byte; 3]));
            });
        }
    });
    assert_eq!(ran.into_inner(), 4 * runs);
}

/// What is none of the scope's is not begun by its owner when all jobs of the scope have ended,
/// though it has come since the scope was opened.
#[test]
fn j3_a_scope_that_is_over_is_left() {
    let rt = runtime(1);
    for _ in 0..100 {
        let (is_over, early) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let handle = rt.handle().clone();
        rt.handle().install(|| {
            heist::scope(|s| {
                let (is_over, early) = (Arc::clone(&is_over), Arc::clone(&early));
                let owner = thread::current().id();
                handle.spawn_detached(move || {
                    // A spare worker may take it at any time.
                    let is_owner = thread::current().id() == owner;
                    early.fetch_add(
                        usize::from(is_owner && is_over.load(Ordering::Relaxed) == 0),
                        Ordering::Relaxed,
                    );
                });
                (0..3).for_each(|_| s.spawn(|_| ()));
            });
            is_over.store(1, Ordering::Relaxed);
        });
        assert_eq!(early.load(Ordering::Relaxed), 0);
    }
}

/// J2: a worker tells a scope of the jobs that it has ended before it begins something else, which
/// may wait for the scope.
#[test]
fn j2_a_scope_is_told_before_something_else_begins() {
    let rt = runtime(2);
    for _ in 0..20 {
        let (stolen, is_stolen) = channel::<()>();
        let (over, is_over) = channel::<()>();
        let (told, has_waited) = channel();
        let handle = rt.handle().clone();
        rt.handle().install(move || {
            heist::scope(move |s| {
                s.spawn(move |s| {
                    // The newest first: this one comes last, on the same worker.
                    let wait = move || told.send(is_over.recv_timeout(HANGS)).unwrap();
                    handle.spawn_detached(wait);
                    (0..3).for_each(|_| s.spawn(|_| ()));
                    stolen.send(()).unwrap();
                });
                is_stolen.recv().unwrap();
            });
            over.send(()).unwrap();
        });
        assert_eq!(has_waited.recv().unwrap(), Ok(()));
    }
}

/// A chain of spawns does not deepen the stack.
#[test]
fn a_chain_of_spawns_is_flat() {
    fn next<'scope>(s: &Scope<'scope>, left: usize) {
        if left > 0 {
            s.spawn(move |s| next(s, left - 1));
        }
    }
    runtime(2).handle().scope(|s| next(s, 200_000));
}

#[test]
fn the_newest_job_or_the_oldest_is_first() {
    let rt = runtime(1);
    let order = |is_fifo: bool| {
        let order = Mutex::new(Vec::new());
        rt.handle().install(|| match is_fifo {
            true => heist::scope_fifo(|s| {
                (0..5).for_each(|n| {
                    s.spawn_fifo({
                        let order = &order;
                        move |_| order.lock().unwrap().push(n)
                    })
                });
            }),
            false => heist::scope(|s| {
                (0..5).for_each(|n| {
                    s.spawn({
                        let order = &order;
                        move |_| order.lock().unwrap().push(n)
                    })
                });
            }),
        });
        order.into_inner().unwrap()
    };
    assert_eq!(order(false), [4, 3, 2, 1, 0]);
    assert_eq!(order(true), [0, 1, 2, 3, 4]);
}

/// J4: a scope waits for all jobs, then resumes the first panic; its own closure's wins.
#[test]
fn j4_a_scope_waits_for_all_and_panics_once() {
    let rt = runtime(2);
    let outcome = |closure_panics: bool, is_fifo: bool| {
        let runs = AtomicUsize::new(0);
        let job = |n: usize| {
            runs.fetch_add(1, Ordering::Relaxed);
            if n == 50 {
                panic::panic_any("job");
            }
        };
        let job = &job;
        let end = || {
            if closure_panics {
                panic::panic_any("closure")
            }
        };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| match is_fifo {
            true => rt.handle().scope_fifo(|s| {
                (0..100).for_each(|n| s.spawn_fifo(move |_| job(n)));
                end();
            }),
            false => rt.handle().scope(|s| {
                (0..100).for_each(|n| s.spawn(move |_| job(n)));
                end();
            }),
        }));
        assert_eq!(runs.load(Ordering::Relaxed), 100);
        message(outcome.unwrap_err())
    };
    for is_fifo in [false, true] {
        assert_eq!(outcome(false, is_fifo), "job");
        assert_eq!(outcome(true, is_fifo), "closure");
    }
}

/// A scope that was cancelled begins no more jobs, and drops those that wait.
#[test]
fn a_cancelled_scope_begins_nothing() {
    let rt = runtime(1);
    let (runs, owned) = (AtomicUsize::new(0), Arc::new(()));
    rt.handle().scope(|s| {
        for _ in 0..100 {
            let (runs, owned) = (&runs, Arc::clone(&owned));
            s.spawn(move |s| {
                drop(owned);
                runs.fetch_add(1, Ordering::Relaxed);
                s.cancel();
                s.spawn(|_| unreachable!("cancelled before it was spawned"));
            });
        }
    });
    assert_eq!(runs.into_inner(), 1);
    assert_eq!(Arc::strong_count(&owned), 1);
}

/// J2: jobs of a scope end before it does, though the runtime goes down.
#[test]
fn j2_scopes_outlive_their_runtime() {
    for _ in 0..100 {
        let rt = runtime(2);
        let handle = rt.handle().clone();
        let counts = thread::scope(|threads| {
            fn spawn<'scope>(s: &Scope<'scope>, runs: &'scope AtomicUsize) {
                for _ in 0..20 {
                    s.spawn(|s| {
                        s.spawn(|_| {
                            runs.fetch_add(1, Ordering::Relaxed);
                        })
                    });
                }
            }
            let handle = &handle;
            let count = move |in_place: bool| {
                let runs = AtomicUsize::new(0);
                match in_place {
                    true => handle.in_place_scope(|s| spawn(s, &runs)),
                    false => handle.scope(|s| spawn(s, &runs)),
                }
                runs.into_inner()
            };
            let threads = [true, false].map(|in_place| threads.spawn(move || count(in_place)));
            rt.shutdown_background();
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(counts, [20, 20]);
    }
}

#[test]
fn a_job_is_awaited_or_waited_for() {
    let rt = runtime(2);
    let _entered = rt.enter();
    assert_eq!(heist::spawn_job(|| 1).wait().unwrap(), 1);
    assert_eq!(rt.block_on(heist::spawn_job(|| 2)).unwrap(), 2);
    assert_eq!(rt.block_on(async { task::spawn_job(|| 3).await.unwrap() }), 3);
    let nested = || heist::spawn_job(|| heist::spawn_job(|| 4).wait().unwrap()).wait().unwrap();
    assert_eq!(rt.block_on(rt.spawn(async move { nested() })).unwrap(), 4);
    let panicked = heist::spawn_job(|| panic::panic_any("job")).wait().unwrap_err();
    assert_eq!(message(panicked.into_panic()), "job");
    let alone = Builder::new_current_thread().build().unwrap();
    assert_eq!(alone.block_on(async { heist::spawn_job(|| 5).wait().unwrap() }), 5);
    assert_eq!(alone.block_on(async { heist::spawn_job(|| 6).await.unwrap() }), 6);
}

/// Dropping the handle of a job cancels it, unless it has begun or was detached.
#[test]
fn a_dropped_handle_cancels() {
    // Nobody takes the worker's seat, so what is spawned waits until it is unblocked.
    let rt = Builder::new_multi_thread().worker_threads(1).stall_threshold(None).build().unwrap();
    let (unblock, blocked) = channel();
    let (begin, begun) = channel();
    let first = rt.handle().spawn_job(move || {
        begin.send(()).unwrap();
        blocked.recv().unwrap()
    });
    begun.recv().unwrap();
    let owned = Arc::new(());
    let second = Arc::clone(&owned);
    let second = rt.handle().spawn_job(move || drop(second));
    second.cancel();
    let third = Arc::clone(&owned);
    let runs = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&runs);
    drop(rt.handle().spawn_job(move || (counts.fetch_add(1, Ordering::Relaxed), third).0));
    let (done, is_done) = channel();
    drop(rt.handle().spawn_job(move || done.send(()).unwrap()).detach());
    unblock.send(()).unwrap();
    first.wait().unwrap();
    is_done.recv().unwrap();
    assert!(second.wait().unwrap_err().is_cancelled());
    assert_eq!(runs.load(Ordering::Relaxed), 0, "its handle was dropped");
    assert_eq!(Arc::strong_count(&owned), 1, "what was cancelled is dropped");
}

/// A job that waits when the runtime goes down is cancelled; one that is detached from the
/// beginning is run.
#[test]
fn j2_going_down_cancels_or_runs() {
    for _ in 0..50 {
        let rt = runtime(1);
        let runs = Arc::new(AtomicUsize::new(0));
        let (begin, begun) = sync_channel(0);
        let handle = rt.handle().clone();
        let inner = Arc::clone(&runs);
        rt.handle().spawn_detached(move || {
            let count = Arc::clone(&inner);
            handle.spawn_detached(move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
            begin.send(()).unwrap();
        });
        let jobs: Vec<JobHandle<()>> = (0..10).map(|_| rt.handle().spawn_job(|| ())).collect();
        begun.recv().unwrap();
        drop(rt);
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        for job in jobs {
            let outcome = job.wait();
            assert!(outcome.is_ok() || outcome.unwrap_err().is_cancelled());
        }
    }
}

/// Every worker is reached once, also if it waits for a job, or broadcasts itself.
#[test]
fn a_broadcast_reaches_every_worker_once() {
    let rt = runtime(3);
    let threads = || rt.handle().broadcast(|_| thread::current().id());
    let first = threads();
    assert_eq!(first, threads());
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), 3);
    // From workers, all at once, and from jobs that others wait for.
    let sums =
        rt.handle().broadcast(|_| rt.handle().broadcast(|c| c.index()).iter().sum::<usize>());
    assert_eq!(sums, [3, 3, 3]);
    let in_join =
        || heist::join(|| heist::broadcast(|_| 1).len(), || heist::broadcast(|_| 1).len());
    for _ in 0..20 {
        assert_eq!(rt.handle().install(|| heist::join(in_join, in_join)), ((3, 3), (3, 3)));
    }
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        rt.handle().broadcast(|c| {
            if c.index() == 1 {
                panic::panic_any("one")
            }
        })
    }));
    assert_eq!(message(outcome.unwrap_err()), "one");
    let (sender, receiver) = channel();
    rt.handle().spawn_broadcast(move |c| sender.send(c.index()).unwrap());
    let mut reached: Vec<usize> = receiver.iter().collect();
    reached.sort_unstable();
    assert_eq!(reached, [0, 1, 2]);
}

/// A broadcast that is made during a shutdown still calls its closure, on the remaining workers.
#[test]
fn j2_broadcasts_outlive_their_runtime() {
    for _ in 0..100 {
        let rt = runtime(2);
        let handle = rt.handle().clone();
        thread::scope(|threads| {
            let called = threads.spawn(|| handle.broadcast(|c| c.index()));
            rt.shutdown_background();
            assert_eq!(called.join().unwrap(), [0, 1]);
        });
    }
}

/// Ten runtimes with one worker each, each waiting for the next.
#[test]
fn runtimes_may_be_nested() {
    fn descend(runtimes: &[Runtime]) -> usize {
        match runtimes {
            [] => 0,
            [first, rest @ ..] => first.handle().install(|| 1 + descend(rest)),
        }
    }
    let runtimes: Vec<Runtime> = (0..10).map(|_| runtime(1)).collect();
    assert_eq!(descend(&runtimes), 10);
}

/// As with joins and scopes, a worker's own runtime is meant, also where another is entered.
#[test]
fn a_broadcast_reaches_as_many_as_there_are_workers() {
    let (own, other) = (runtime(3), runtime(2));
    own.handle().install(|| {
        let _entered = other.enter();
        assert_eq!(heist::current_num_workers(), 3);
        assert_eq!(heist::broadcast(|worker| worker.num_workers()), [3, 3, 3]);
    });
}

#[test]
fn workers_know_their_index() {
    let rt = runtime(2);
    assert_eq!(rt.handle().num_workers(), 2);
    assert_eq!(heist::current_thread_index(), None);
    assert_eq!(rt.handle().current_thread_index(), None);
    assert_eq!(rt.handle().has_pending_jobs(), None);
    assert_eq!(rt.handle().yield_job(Yield::Any), None);
    rt.handle().install(|| {
        assert!(heist::current_thread_index().is_some());
        assert_eq!(rt.handle().current_thread_index(), heist::current_thread_index());
        assert_eq!(heist::current_num_workers(), 2);
    });
    let alone = runtime(1);
    alone.handle().install(|| {
        assert_eq!(alone.handle().has_pending_jobs(), Some(false));
        let runs = AtomicUsize::new(0);
        heist::scope(|s| {
            s.spawn(|_| {
                runs.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(alone.handle().has_pending_jobs(), Some(true));
            assert_eq!(alone.handle().yield_job(Yield::Own), Some(true));
            assert_eq!(runs.load(Ordering::Relaxed), 1);
            assert_eq!(alone.handle().yield_job(Yield::Any), Some(false));
        });
    });
}

/// L2: a long computation in a task, with jobs and all, is no obstacle to other tasks.
#[test]
fn l2_tasks_run_beside_a_long_computation() {
    fn burn(depth: u32, until: &(dyn Fn() -> bool + Sync)) {
        if depth == 0 {
            while !until() {
                std::hint::spin_loop();
            }
        } else {
            heist::join(|| burn(depth - 1, until), || burn(depth - 1, until));
        }
    }
    let rt = runtime(2);
    let turns = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&turns);
    let burns = rt.spawn(async move { burn(4, &move || seen.load(Ordering::Relaxed) >= 100) });
    let task = rt.spawn(async move {
        for _ in 0..100 {
            turns.fetch_add(1, Ordering::Relaxed);
            task::yield_now().await;
        }
    });
    rt.block_on(task).unwrap();
    rt.block_on(burns).unwrap();
}
