//! Fork-join where it is thin: a wait in the middle of a join, panics that panic once more, and
//! runtimes that go down while somebody waits. What fails here mostly hangs.

use heist::runtime::{Builder, Handle, Id, Runtime};
use heist::{JobHandle, Yield, in_place_scope, join, scope, scope_fifo, spawn_job, task};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).build().unwrap()
}

fn without_threads() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn wait_in_join() -> (u32, u32) {
    let job = spawn_job(|| 1);
    join(|| job.wait().unwrap(), || 2)
}

/// J1: a worker that waits in the first closure of a join for an older job must not run the second
/// closure instead.
#[test]
fn j1_a_handle_is_waited_for_in_a_join() {
    for workers in [1, 2] {
        let rt = runtime(workers);
        for _ in 0..20 {
            assert_eq!(rt.handle().install(wait_in_join), (1, 2));
        }
    }
    assert_eq!(without_threads().block_on(async { wait_in_join() }), (1, 2));
}

/// J1: the same for `yield_job`; each job runs once, even if another takes its place in the deque.
#[test]
fn j1_a_yield_in_a_join_leaves_the_join_whole() {
    fn tree(handle: &heist::runtime::Handle, depth: u32, runs: &AtomicUsize) -> usize {
        if depth == 0 {
            return 1;
        }
        let inner = || {
            handle.yield_job(Yield::Own);
            handle.yield_job(Yield::Any);
            handle.spawn_detached(|| ());
            let left = tree(handle, depth - 1, runs);
            handle.yield_job(Yield::Own);
            left
        };
        // What a closure owns is dropped twice if it is called twice.
        let owned = vec![depth; 100];
        let outer = || {
            runs.fetch_add(1, Ordering::Relaxed);
            drop(owned);
            tree(handle, depth - 1, runs)
        };
        let (left, right) = join(inner, outer);
        left + right
    }
    let check = |rt: &Runtime, run: &dyn Fn(&(dyn Fn() -> usize + Sync)) -> usize| {
        let runs = AtomicUsize::new(0);
        let handle = rt.handle().clone();
        assert_eq!(run(&|| tree(&handle, 6, &runs)), 64);
        assert_eq!(runs.into_inner(), 63);
    };
    for workers in [1, 2] {
        let rt = runtime(workers);
        check(&rt, &|f| rt.handle().install(f));
    }
    let alone = without_threads();
    check(&alone, &|f| alone.block_on(async { f() }));
}

/// A job from outside is run by its waiter if no other thread can run it.
#[test]
fn a_wait_without_threads_runs_what_it_waits_for() {
    let alone = without_threads();
    let handle = alone.handle().clone();
    let job = thread::spawn(move || handle.spawn_job(|| 1)).join().unwrap();
    assert_eq!(alone.block_on(async { job.wait().unwrap() }), 1);
}

/// A payload that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// J2, J4: panics that nobody is told of are dropped, and what that does is nobody's business.
#[test]
fn j4_a_payload_panics_when_it_is_dropped() {
    let rt = runtime(1);
    let runs = AtomicUsize::new(0);
    let explode = || {
        runs.fetch_add(1, Ordering::Relaxed);
        panic::panic_any(Bomb);
    };
    let scopes: [&(dyn Fn() + Sync); 2] =
        [&|| scope(|s| (0..4).for_each(|_| s.spawn(|_| explode()))), &|| {
            scope_fifo(|s| (0..4).for_each(|_| s.spawn_fifo(|_| explode())))
        }];
    for scope in scopes {
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| rt.handle().install(scope)));
        std::mem::forget(outcome.unwrap_err());
        assert_eq!(runs.swap(0, Ordering::Relaxed), 4);
    }
    rt.handle().spawn_detached(|| panic::panic_any(Bomb));
    rt.handle().spawn_broadcast(|_| panic::panic_any(Bomb));
    assert_eq!(rt.handle().install(|| 1), 1);
}

/// J4: the same of what a join, a scope or a broadcast forgets when it panics.
#[test]
fn j4_a_forgotten_value_panics_in_its_drop() {
    let is_told = |f: &(dyn Fn() + Sync)| {
        let panic = panic::catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"first"));
    };
    let (one, two, gate) = (runtime(1), runtime(2), Barrier::new(2));
    let fail = || -> () { panic!("first") };
    let explode = || -> () { panic::panic_any(Bomb) };
    is_told(&|| one.handle().install(|| _ = join(fail, || Bomb)));
    is_told(&|| one.handle().install(|| _ = join(fail, explode)));
    is_told(&|| one.handle().install(|| _ = join(|| Bomb, fail)));
    let stolen = |explode: &(dyn Fn() -> Bomb + Sync)| {
        let both_at_once = || {
            let first = || {
                gate.wait();
                fail();
            };
            let second = || {
                gate.wait();
                explode()
            };
            join(first, second)
        };
        is_told(&|| two.handle().install(|| _ = both_at_once()));
    };
    stolen(&|| Bomb);
    stolen(&|| panic::panic_any(Bomb));
    let keep = || {
        gate.wait();
        Bomb
    };
    let fail_stolen = || {
        gate.wait();
        fail();
    };
    is_told(&|| two.handle().install(|| _ = join(keep, fail_stolen)));
    let alone = without_threads();
    is_told(&|| alone.block_on(async { _ = join(fail, || Bomb) }));
    is_told(&|| alone.block_on(async { _ = join(fail, explode) }));
    is_told(&|| alone.block_on(async { _ = join(|| Bomb, fail) }));
    let scopes: [&(dyn Fn() + Sync); 3] = [
        &|| {
            scope(|s| {
                s.spawn(|_| explode());
                fail();
            })
        },
        &|| {
            scope_fifo(|s| {
                s.spawn_fifo(|_| explode());
                fail();
            })
        },
        &|| {
            _ = scope(|s| {
                s.spawn(|_| fail());
                Bomb
            })
        },
    ];
    scopes.iter().for_each(|scope| is_told(&|| one.handle().install(scope)));
    let part = |index| match index {
        0 => Bomb,
        1 => panic!("first"),
        _ => panic::panic_any(Bomb),
    };
    let three = runtime(3);
    is_told(&|| _ = three.handle().broadcast(|worker| part(worker.index())));
}

/// J2: what a runtime has to run though it goes down is run, also if it is told to go down twice.
#[test]
fn j2_jobs_are_run_though_the_end_is_told_twice() {
    for _ in 0..20 {
        let (rt, runs) = (runtime(1), AtomicUsize::new(0));
        let (handle, gate) = (rt.handle().clone(), Barrier::new(2));
        handle.in_place_scope(|s| {
            s.spawn(|_| _ = gate.wait());
            for _ in 0..20_000 {
                s.spawn(|_| _ = runs.fetch_add(1, Ordering::Relaxed));
            }
            gate.wait();
            rt.shutdown_background();
        });
        assert_eq!(runs.into_inner(), 20_000);
    }
}

/// J2: a worker that waits when the runtime goes down gets what it waits for, also if there is no
/// other worker.
#[test]
fn j2_the_only_worker_waits_while_the_runtime_ends() {
    for _ in 0..20 {
        let rt = runtime(1);
        let (handle, runs) = (rt.handle().clone(), AtomicUsize::new(0));
        handle.install(|| {
            scope(|s| {
                let spawn = || s.spawn(|_| _ = runs.fetch_add(1, Ordering::Relaxed));
                thread::scope(|threads| drop(threads.spawn(spawn)));
                rt.shutdown_background();
            });
        });
        assert_eq!(runs.into_inner(), 1);
    }
}

/// J2: the same if it waits as a thread that is no worker's.
#[test]
fn j2_the_only_worker_waits_aside_while_the_runtime_ends() {
    for _ in 0..20 {
        let rt = runtime(1);
        let (handle, runs) = (rt.handle().clone(), AtomicUsize::new(0));
        handle.install(|| {
            task::block_in_place(|| {
                in_place_scope(|s| {
                    s.spawn(|_| _ = runs.fetch_add(1, Ordering::Relaxed));
                    rt.shutdown_background();
                });
            });
        });
        assert_eq!(runs.into_inner(), 1);
    }
}

/// J5: a broadcast reaches a worker that has stepped aside, even if that worker makes the
/// broadcast.
#[test]
fn j5_a_worker_that_has_stepped_aside_takes_part_in_a_broadcast() {
    for workers in [1, 3] {
        let rt = runtime(workers);
        let handle = rt.handle();
        let meet = || {
            let barrier = Barrier::new(workers);
            let parts = handle.broadcast(|part| {
                barrier.wait();
                part.index()
            });
            assert_eq!(parts, (0..workers).collect::<Vec<_>>());
        };
        let aside = |f: &(dyn Fn() + Sync)| handle.install(|| task::block_in_place(f));
        aside(&meet);
        aside(&|| _ = handle.join(meet, || {}));
        aside(&|| handle.in_place_scope(|s| s.spawn(|_| meet())));
        aside(&|| handle.in_place_scope(|s| s.spawn_broadcast(|_, _| {})));
        let other = runtime(1);
        handle.install(|| other.handle().install(meet));
        handle.install(|| task::block_in_place(|| other.handle().install(meet)));
    }
}

/// J5: also while it waits for a future, in the middle of a job or of a poll.
#[test]
fn j5_a_worker_in_block_on_takes_part_in_a_broadcast() {
    for workers in [1, 3] {
        let rt = runtime(workers);
        let handle = rt.handle().clone();
        let wait = move || {
            let caller = handle.clone();
            let call = move || caller.broadcast(|part| part.index()).len();
            let job = handle.spawn_job(call);
            handle.block_on(async { job.await.unwrap() })
        };
        assert_eq!(rt.handle().install(&wait), workers);
        let poll = async move { task::block_in_place(&wait) };
        assert_eq!(rt.block_on(rt.spawn(poll)).unwrap(), workers);
    }
}

/// J5: also while the future never waits, but is woken whenever it is polled.
#[test]
fn j5_a_worker_that_polls_again_and_again_takes_part_in_a_broadcast() {
    for workers in [1, 3] {
        let rt = runtime(workers);
        let handle = rt.handle().clone();
        let poll = move || {
            let caller = handle.clone();
            let job = handle.spawn_job(move || caller.broadcast(|part| part.index()).len());
            handle.block_on(async {
                while !job.is_finished() {
                    task::yield_now().await;
                }
                job.await.unwrap()
            })
        };
        assert_eq!(rt.handle().install(&poll), workers);
        assert_eq!(rt.block_on(rt.spawn(async move { poll() })).unwrap(), workers);
    }
}

/// The same by all of them at once.
#[test]
fn j5_workers_that_have_stepped_aside_call_each_other() {
    const WORKERS: usize = 2;
    let rt = runtime(WORKERS);
    let (handle, barrier) = (rt.handle(), &Barrier::new(WORKERS));
    let call = || {
        task::block_in_place(|| {
            barrier.wait();
            assert_eq!(handle.broadcast(|part| part.index()).len(), WORKERS);
        });
    };
    handle.join(call, call);
}

/// J5: the same in the middle of a runtime without threads that the worker drives meanwhile.
#[test]
fn j5_a_worker_that_drives_another_runtime_takes_part_in_a_broadcast() {
    let rt = runtime(2);
    let (handle, driven) = (rt.handle(), without_threads());
    let meet = || assert_eq!(handle.broadcast(|part| part.index()), [0, 1]);
    handle.install(|| task::block_in_place(|| driven.block_on(async { meet() })));
}

/// J5: also while it sleeps in that runtime, or polls its future again and again.
#[test]
fn j5_a_worker_that_sleeps_in_another_runtime_takes_part_in_a_broadcast() {
    let polled = |driven: &Runtime, job: JobHandle<usize>| {
        driven.block_on(async {
            while !job.is_finished() {
                task::yield_now().await;
            }
            job.await.unwrap()
        })
    };
    for (workers, has_reactors) in [(1, false), (1, true), (3, false), (3, true)] {
        let (rt, mut builder) = (runtime(workers), Builder::new_current_thread());
        if has_reactors {
            builder.enable_all();
        }
        let driven = builder.build().unwrap();
        let handle = rt.handle().clone();
        let spawn = || {
            let caller = handle.clone();
            handle.spawn_job(move || caller.broadcast(|part| part.index()).len())
        };
        for _ in 0..20 {
            assert_eq!(handle.install(|| driven.block_on(spawn()).unwrap()), workers, "asleep");
            assert_eq!(handle.install(|| polled(&driven, spawn())), workers);
        }
    }
}

/// J5: such a worker has entered another runtime, and its part of the broadcast has not.
#[test]
fn j5_a_part_of_a_broadcast_is_in_the_runtime_of_its_worker() {
    let (rt, other, driven) = (runtime(2), runtime(1), without_threads());
    let (handle, there) = (rt.handle(), other.handle());
    let ids = || handle.broadcast(|_| Handle::current().id());
    let call = |waits_in: &Handle| {
        let caller = handle.clone();
        let job = handle.spawn_job(move || caller.broadcast(|_| Handle::current().id()));
        waits_in.block_on(job).unwrap()
    };
    let all: [&(dyn Fn() -> Vec<Id> + Sync); 4] = [
        &|| call(there),
        &|| there.block_on(async { ids() }),
        &|| driven.block_on(async { ids() }),
        &|| there.block_on(async { handle.scope(|_| ids()) }),
    ];
    for in_another in all {
        assert_eq!(handle.install(in_another), [handle.id(); 2]);
    }
}

/// J5: also while it waits for a job in a task of that runtime.
#[test]
fn j5_a_worker_that_waits_for_a_job_in_another_runtime_takes_part_in_a_broadcast() {
    for workers in [1, 3] {
        let (rt, driven) = (runtime(workers), without_threads());
        let handle = rt.handle();
        let call = || {
            let caller = handle.clone();
            handle.spawn_job(move || caller.broadcast(|part| part.index()).len()).wait().unwrap()
        };
        for _ in 0..20 {
            assert_eq!(handle.install(|| driven.block_on(async { call() })), workers);
        }
    }
}

/// J5: also while it waits for the end of another runtime, a poll of which calls for it.
#[test]
fn j5_a_worker_that_drops_another_runtime_takes_part_in_a_broadcast() {
    let all = [drop::<Runtime>, |other: Runtime| other.shutdown_timeout(Duration::from_secs(3600))];
    for (workers, end) in [1, 3].into_iter().flat_map(|workers| all.map(|end| (workers, end))) {
        let (rt, other) = (runtime(workers), runtime(1));
        let (handle, there) = (rt.handle().clone(), other.handle().clone());
        let ((begun, begins), (ended, has_ended)) = (mpsc::channel(), mpsc::channel());
        other.spawn(async move {
            begun.send(()).unwrap();
            while !there.spawn(std::future::pending::<()>()).is_finished() {
                thread::yield_now();
            }
            ended.send(handle.broadcast(|part| part.index()).len()).unwrap();
        });
        begins.recv().unwrap();
        rt.handle().install(|| task::block_in_place(|| end(other)));
        assert_eq!(has_ended.recv().unwrap(), workers);
    }
}
