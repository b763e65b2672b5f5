//! Fork-join without further threads: no spare workers, and no threads for the global runtime. How
//! many threads there are is not promised (NP5). What fails here hangs.

use heist::runtime::{Builder, Handle, Runtime};
use heist::{Yield, join, scope, scope_fifo, task};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Calls `f` on the only worker of a runtime whose blocking threads are all in use, so that there
/// is no spare worker.
fn without_spares(f: impl FnOnce() + Send) {
    with_workers_alone(1, f);
}

/// The same with this number of workers.
fn with_workers_alone(workers: usize, f: impl FnOnce() + Send) {
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(workers).max_blocking_threads(1).build().unwrap();
    let (begin, has_begun) = channel();
    let (end, may_end) = channel::<()>();
    let blocked = rt.spawn_blocking(move || {
        begin.send(()).unwrap();
        may_end.recv().unwrap();
    });
    has_begun.recv().unwrap();
    rt.handle().install(f);
    end.send(()).unwrap();
    rt.block_on(blocked).unwrap();
}

/// J2, J3: what a detour leaves behind goes to the inbox. If it is of a scope that the worker then
/// waits for, it comes back.
#[test]
fn j2_a_scope_gets_back_what_its_own_broadcast_leaves() {
    let runs = AtomicUsize::new(0);
    let run = || _ = runs.fetch_add(1, Ordering::Relaxed);
    without_spares(|| scope(|s| s.spawn_broadcast(|s, _| s.spawn(|_| run()))));
    without_spares(|| scope_fifo(|s| s.spawn_broadcast(|s, _| s.spawn_fifo(|_| run()))));
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

#[test]
fn j2_a_scope_gets_back_what_a_yield_leaves() {
    let runs = AtomicUsize::new(0);
    let run = || _ = runs.fetch_add(1, Ordering::Relaxed);
    without_spares(|| {
        scope(|s| {
            s.spawn(|s| s.spawn(|_| run()));
            assert_eq!(Handle::current().yield_job(Yield::Own), Some(true));
        });
    });
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

/// J2: the same for what was spawned from outside before the scope's closure has returned.
#[test]
fn j2_a_scope_gets_what_comes_from_outside() {
    let runs = AtomicUsize::new(0);
    let run = || _ = runs.fetch_add(1, Ordering::Relaxed);
    without_spares(|| {
        scope(|s| {
            thread::scope(|threads| drop(threads.spawn(|| s.spawn(|_| run()))));
            task::block_in_place(|| s.spawn(|_| run()));
        });
    });
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

/// J2: the same for what comes when its owner sleeps already, for a job that another worker has,
/// and that waits for this one.
#[test]
fn j2_a_scope_gets_what_comes_in_its_sleep() {
    fn spawn_and_wait<'scope>(
        s: &heist::Scope<'scope>,
        from_outside: impl FnOnce(&(dyn Fn() + Sync)),
    ) {
        // It cannot be seen from outside that a worker sleeps. If this is too short, a test that
        // should fail may pass.
        thread::sleep(Duration::from_millis(50));
        let (run, has_run) = channel();
        from_outside(&|| {
            let run = run.clone();
            s.spawn(move |_| run.send(()).unwrap());
        });
        has_run.recv().unwrap();
    }
    let on_a_thread = |spawn: &(dyn Fn() + Sync)| {
        thread::scope(|threads| drop(threads.spawn(spawn)));
    };
    with_workers_alone(2, || {
        for is_aside in [false, true] {
            scope(|s| {
                let (steal, is_stolen) = channel();
                s.spawn(move |s| {
                    steal.send(()).unwrap();
                    match is_aside {
                        false => spawn_and_wait(s, on_a_thread),
                        true => task::block_in_place(|| spawn_and_wait(s, |spawn| spawn())),
                    }
                });
                is_stolen.recv().unwrap();
            });
        }
    });
}

const CHILD: &str = "HEIST_TEST_CHILD";

/// J2: a runtime is down, and the global one cannot be started. What was counted is run all the
/// same, and nobody unwinds out of a frame that is waited for.
#[test]
fn j2_the_global_runtime_cannot_be_started() {
    for part in ["scarce::child_spawns_to_a_scope", "scarce::child_waits_for_a_thief"] {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", part, "--nocapture"])
            .env(CHILD, "1")
            .env("HEIST_WORKERS", "nonsense")
            .output()
            .unwrap();
        let has_run = String::from_utf8_lossy(&child.stdout).contains("1 passed");
        assert!(child.status.success() && has_run, "{part}: {child:?}");
    }
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).build().unwrap()
}

#[test]
fn child_spawns_to_a_scope() {
    if !is_child() {
        return;
    }
    let handle = runtime(1).handle().clone();
    let runs = AtomicUsize::new(0);
    let run = || _ = runs.fetch_add(1, Ordering::Relaxed);
    handle.in_place_scope(|s| {
        s.spawn(|s| s.spawn(|_| run()));
        s.spawn_broadcast(|_, _| run());
    });
    handle.in_place_scope_fifo(|s| s.spawn_fifo(|_| run()));
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}

/// It waits in a join, and runs its part of a broadcast meanwhile, which leaves something behind
/// that it has to pass on.
#[test]
fn child_waits_for_a_thief() {
    if !is_child() {
        return;
    }
    let rt = runtime(2);
    let handle = rt.handle().clone();
    let (end, may_end) = channel::<()>();
    let (steal, is_stolen) = channel();
    let (begin, has_begun) = channel();
    let second = move || {
        steal.send(()).unwrap();
        begin.send(()).unwrap();
        // Only what the broadcast leaves behind lets it go on.
        may_end.recv().unwrap();
    };
    thread::scope(|threads| {
        let installs = handle.clone();
        let first = move || is_stolen.recv().unwrap();
        let call = threads.spawn(move || installs.install(move || _ = join(first, second)));
        has_begun.recv().unwrap();
        let closes = threads.spawn(move || drop(rt));
        // It cannot be seen from outside that a runtime is down. If this is too short, a test that
        // should fail may pass.
        thread::sleep(Duration::from_millis(50));
        let inner = handle.clone();
        handle.spawn_broadcast(move |_| {
            let end = end.clone();
            inner.spawn_detached(move || _ = end.send(()));
        });
        call.join().unwrap();
        closes.join().unwrap();
    });
}
