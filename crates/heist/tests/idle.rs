//! A runtime that has nothing to do (I5), and the way to a task (I6).

mod support;

use std::path::{Path, PathBuf};
use support::runtime;

/// I5: workers that sleep stay asleep. The system counts how often each thread gave up its core:
/// once all sleep, the counts stay the same. The length of the observation promises no speed.
#[cfg(target_os = "linux")]
#[test]
fn i5_an_idle_runtime_does_nothing() {
    use std::fs;
    use std::thread;
    use std::time::Duration;

    /// How often this process's worker threads were switched, by their own will or not.
    fn switches(name: &str) -> Vec<u64> {
        let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
        let workers = tasks.filter(|task| {
            fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name)
        });
        let count = |task: PathBuf| {
            let status = fs::read_to_string(task.join("status")).unwrap();
            let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
            lines.map(|line| line.split_whitespace().last().unwrap().parse::<u64>().unwrap()).sum()
        };
        workers.map(count).collect()
    }

    let mut builder = heist::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(4).thread_name("i5-idle").build().unwrap();
    // All of it has been used: tasks, pinned tasks, a blocking thread that sleeps now.
    runtime.block_on(runtime.spawn_blocking(|| {})).unwrap();
    runtime.block_on(runtime.spawn(async {})).unwrap();
    runtime.block_on(runtime.spawn_pinned(|| async {})).unwrap();
    let metrics = runtime.metrics();
    let is_asleep = |worker| metrics.worker_park_unpark_count(worker) % 2 == 1;
    while !(0..4).all(is_asleep) || metrics.num_idle_blocking_threads() == 0 {
        thread::yield_now();
    }
    // The last one may have counted its sleep and not begun it yet, however long that takes here.
    // So one quiet stretch of several is enough; with periodic wake-ups none would be quiet.
    let is_quiet = |_| {
        let before = switches("i5-idle");
        thread::sleep(Duration::from_millis(300));
        // A thread of another test that ends meanwhile may hide one of ours from the list.
        before.len() == 5 && switches("i5-idle") == before
    };
    assert!((0..20).any(is_quiet), "threads of an idle runtime are woken again and again");
    drop(runtime);
}

/// I5: blocking threads that were idle for a while are gone, except for one stack.
#[cfg(target_os = "linux")]
#[test]
fn i5_threads_that_have_ended_leave_no_stacks() {
    use std::sync::{Arc, Barrier};
    use std::time::Duration;

    const THREADS: usize = 16;
    /// More than the C library keeps for threads to come.
    const STACK: usize = 256 << 20;

    fn stacks() -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let size = |line: &str| {
            let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
            let [start, end] = [start, end].map(|hex| usize::from_str_radix(hex, 16).unwrap());
            end - start
        };
        maps.lines().map(|line| size(line) / STACK).sum()
    }

    let mut builder = heist::runtime::Builder::new_current_thread();
    builder.thread_stack_size(STACK).max_blocking_threads(THREADS);
    let rt = builder.thread_keep_alive(Duration::from_millis(1)).build().unwrap();
    let (before, all_are_here) = (stacks(), Arc::new(Barrier::new(THREADS + 1)));
    let closures: Vec<_> = (0..THREADS)
        .map(|_| {
            let all_are_here = Arc::clone(&all_are_here);
            rt.spawn_blocking(move || _ = all_are_here.wait())
        })
        .collect();
    all_are_here.wait();
    closures.into_iter().for_each(|closure| rt.block_on(closure).unwrap());
    // What is wrong here hangs.
    while stacks() > before + 1 {
        std::thread::yield_now();
    }
}

/// I6: none of the files between "ring empty" and "task found" names a lock, except those of the
/// inject queue, the inbox for jobs and the reactors.
#[test]
fn i6_no_lock_is_taken_on_the_way_to_a_task() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let files = [
        "heist/src/scheduler/run_loop.rs",
        "heist/src/scheduler/worker.rs",
        "heist/src/scheduler/worker/queues.rs",
        "heist/src/scheduler/worker/search.rs",
        "heist/src/scheduler/slot.rs",
        "heist/src/scheduler/idle.rs",
        "heist/src/scheduler/pace.rs",
        "heist-deque/src/slot.rs",
        "heist-deque/src/ring/owner.rs",
        "heist-deque/src/ring/stealer.rs",
        "heist-deque/src/ring/shared.rs",
        "heist-deque/src/ring/head.rs",
    ];
    for file in files {
        let text = std::fs::read_to_string(crates.join(file)).unwrap();
        for lock in ["Mutex", "RwLock", ".lock()", "Condvar"] {
            assert!(!text.contains(lock), "{file} names {lock}");
        }
    }
    // What is found there without a lock is found at all.
    let runtime = runtime(2);
    runtime.block_on(runtime.spawn(async {})).unwrap();
}
