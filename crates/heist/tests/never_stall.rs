//! Never stall (L1–L7): a task that blocks or burns CPU keeps nobody else from running.
//!
//! Nothing here is decided by the clock: what must happen is waited for, however long it takes, and
//! what blocks is let go by what it blocks.

use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{self, JoinHandle, block_in_place};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).build().unwrap()
}

/// Runs `block` in a task on each worker; when all of them are in it, spawns tasks from outside and
/// waits for them; then lets go of the workers by `let_go`.
fn others_run_beside(
    workers: usize,
    block: impl Fn(usize) + Send + Sync + 'static,
    let_go: impl FnOnce(),
) {
    let rt = runtime(workers);
    let block = Arc::new(block);
    let (begun, begins) = mpsc::channel();
    let stuck: Vec<JoinHandle<()>> = (0..workers)
        .map(|number| {
            let (block, begun) = (Arc::clone(&block), begun.clone());
            rt.spawn(async move {
                // Not before somebody else is in the others' way.
                begun.send(()).unwrap();
                block(number);
            })
        })
        .collect();
    (0..workers).for_each(|_| begins.recv().unwrap());
    let others: Vec<JoinHandle<usize>> = (0..100)
        .map(|number| {
            rt.spawn(async move {
                task::yield_now().await;
                task::spawn(async move { number }).await.unwrap()
            })
        })
        .collect();
    for (number, other) in others.into_iter().enumerate() {
        assert_eq!(rt.block_on(other).unwrap(), number);
    }
    assert!(stuck.iter().all(|task| !task.is_finished()), "they are let go below");
    let_go();
    stuck.into_iter().for_each(|task| rt.block_on(task).unwrap());
}

/// L2: a pipe that nobody writes to.
#[test]
fn l2_others_run_beside_workers_that_read_an_empty_pipe() {
    for workers in [1, 2, 4] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let read = move |_| {
            let mut byte = [0];
            (&reader).read_exact(&mut byte).unwrap();
        };
        others_run_beside(workers, read, || writer.write_all(&[0; 4]).unwrap());
    }
}

/// L2: a lock that somebody holds.
#[test]
fn l2_others_run_beside_workers_that_wait_for_a_lock() {
    for workers in [1, 2, 4] {
        let lock = Arc::new(Mutex::new(()));
        let held = Arc::clone(&lock);
        let guard = held.lock().unwrap();
        others_run_beside(workers, move |_| drop(lock.lock().unwrap()), || drop(guard));
    }
}

/// L2: `std::thread::sleep`, again and again in one poll.
#[test]
fn l2_others_run_beside_workers_that_sleep() {
    for workers in [1, 2, 4] {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let sleep = move |_| {
            while !seen.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(50));
            }
        };
        others_run_beside(workers, sleep, || is_over.store(true, Ordering::Relaxed));
    }
}

/// L2: a loop that never ends by itself.
#[test]
fn l2_others_run_beside_workers_that_burn() {
    for workers in [1, 2, 4] {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let burn = move |_| while !seen.load(Ordering::Relaxed) {};
        others_run_beside(workers, burn, || is_over.store(true, Ordering::Relaxed));
    }
}

/// L5: the seat is free at once, without sysmon.
#[test]
fn l5_others_run_beside_workers_that_step_aside() {
    for workers in [1, 2, 4] {
        let rt = Builder::new_multi_thread()
            .worker_threads(workers)
            .stall_threshold(None)
            .build()
            .unwrap();
        for _ in 0..20 {
            let all = Arc::new(Barrier::new(workers + 1));
            let waits = |all: Arc<Barrier>| async move {
                block_in_place(|| drop(all.wait()));
            };
            let stuck: Vec<_> = (0..workers).map(|_| rt.spawn(waits(Arc::clone(&all)))).collect();
            let last = rt.spawn(waits(all));
            stuck.into_iter().chain([last]).for_each(|task| rt.block_on(task).unwrap());
        }
    }
}

/// L5: also nested, and in a nested `block_on`.
#[test]
fn l5_waiting_can_be_nested() {
    let rt = Builder::new_multi_thread().worker_threads(1).stall_threshold(None).build().unwrap();
    let task = rt.spawn(async {
        let inner = block_in_place(|| {
            let from_inside = task::spawn(async { 1 });
            let one = Handle::current().block_on(from_inside).unwrap();
            one + block_in_place(|| Handle::current().block_on(async {
                block_in_place(|| 1) + task::spawn(async { 1 }).await.unwrap()
            }))
        });
        let outer = Handle::current().block_on(task::spawn(async { 10 })).unwrap();
        task::yield_now().await;
        inner + outer + task::spawn(async { 100 }).await.unwrap()
    });
    assert_eq!(rt.block_on(task).unwrap(), 113);
}

/// L6, L7: workers and seats come together again: as many run at once as there are seats.
#[test]
fn l6_spares_go_when_workers_come_back() {
    let rt = runtime(2);
    for _ in 0..20 {
        let all = Arc::new(Barrier::new(4));
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let all = Arc::clone(&all);
                rt.spawn(async move { drop(all.wait()) })
            })
            .collect();
        tasks.into_iter().for_each(|task| rt.block_on(task).unwrap());
    }
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..1000 {
        let done = Arc::clone(&done);
        rt.spawn(async move { done.fetch_add(1, Ordering::Relaxed) });
    }
    while done.load(Ordering::Relaxed) < 1000 || rt.metrics().num_spare_workers() > 0 {
        thread::yield_now();
    }
}
