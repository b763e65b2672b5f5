//! Workers, tasks and jobs without `membarrier`: a sandbox forbids it, from the start or after a
//! runtime has begun to use it. What fails here hangs.

mod support;

use heist::runtime::{Builder, Runtime};
use heist::{join, task};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use support::seccomp;

/// Forbids the call in this thread and in those that it starts, which includes a runtime that is
/// built here.
fn forbid() {
    seccomp::forbid(libc::SYS_membarrier, libc::ENOSYS);
}

/// Forbids the call after the process has registered for it.
fn take_back() {
    drop(runtime(1));
    forbid();
}

fn runtime(workers: usize) -> Runtime {
    // Nobody looks for what was missed but where it is said that it may have been.
    Builder::new_multi_thread().worker_threads(workers).stall_threshold(None).build().unwrap()
}

/// F3: while the worker is at a job, tasks come from outside, at any moment of what a spare does
/// that has borrowed its seat.
fn tasks_come_beside_a_job() {
    let rt = runtime(1);
    let is_over = Arc::new(AtomicBool::new(false));
    let (begin, has_begun) = channel();
    let is_over_there = Arc::clone(&is_over);
    let job = rt.handle().spawn_job(move || {
        begin.send(()).unwrap();
        while !is_over_there.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    });
    has_begun.recv().unwrap();
    for round in 0..20_000u32 {
        let (run, has_run) = channel();
        rt.spawn(async move { run.send(()).unwrap() });
        (0..round % 97 * 20).for_each(|_| std::hint::spin_loop());
        has_run.recv().unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    job.wait().unwrap();
}

/// I1, L5: all that sleeps, steps aside and wakes does so beside each other.
fn tasks_and_jobs_wait_for_each_other() {
    fn tree(depth: u32) -> usize {
        if depth == 0 {
            return 1;
        }
        let (a, b) = join(|| tree(depth - 1), || tree(depth - 1));
        a + b
    }
    let rt = runtime(2);
    for round in 0..300 {
        let jobs = AtomicUsize::new(0);
        let tasks: Vec<_> = (0..8).map(|_| rt.spawn(async { task::yield_now().await })).collect();
        let waits = rt.spawn(async {
            let (run, has_run) = channel();
            drop(task::spawn(async move { run.send(()).unwrap() }));
            task::block_in_place(|| has_run.recv().unwrap());
        });
        rt.handle().scope(|s| {
            (0..16).for_each(|_| s.spawn(|_| _ = jobs.fetch_add(1, Ordering::Relaxed)));
        });
        assert_eq!(rt.handle().install(|| tree(round % 8)), 1 << (round % 8));
        assert_eq!(jobs.load(Ordering::Relaxed), 16);
        rt.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
            waits.await.unwrap();
        });
    }
}

#[test]
fn f3_tasks_come_beside_a_job_when_it_was_taken_back() {
    take_back();
    tasks_come_beside_a_job();
}

#[test]
fn i1_tasks_and_jobs_when_it_was_taken_back() {
    take_back();
    tasks_and_jobs_wait_for_each_other();
}

const CHILD: &str = "HEIST_TEST_CHILD";

/// Runs in a process of its own: what heist learns about the kernel, it keeps.
#[test]
fn f3_i1_without_membarrier_from_the_start() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_without", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let has_run = String::from_utf8_lossy(&child.stdout).contains("1 passed");
    assert!(child.status.success() && has_run, "{child:?}");
}

#[test]
fn child_without() {
    if std::env::var_os(CHILD).is_some() {
        forbid();
        tasks_come_beside_a_job();
        tasks_and_jobs_wait_for_each_other();
    }
}
