//! J5 while the runtime goes down: closures may wait for each other to their end. What fails here
//! hangs.

use heist::runtime::{Builder, Handle, Runtime};
use heist::{in_place_scope, join, scope, scope_fifo, spawn_job, task};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).build().unwrap()
}

/// Says that it is there, and then waits until it may go on.
struct Gate {
    arrive: Sender<()>,
    go_on: Receiver<()>,
}

impl Gate {
    fn pass(self) {
        self.arrive.send(()).unwrap();
        self.go_on.recv().unwrap();
    }
}

/// The gate, a receiver that tells when it was reached, and a sender that opens it.
fn gate() -> (Gate, Receiver<()>, Sender<()>) {
    let ((arrive, has_arrived), (open, go_on)) = (channel(), channel());
    (Gate { arrive, go_on }, has_arrived, open)
}

/// Shuts down the runtime while `body` waits at the gate on a worker, then opens the gate.
fn closes_beside(workers: usize, body: impl FnOnce(Gate) + Send) {
    let rt = runtime(workers);
    let (gate, has_arrived, open) = gate();
    let handle = rt.handle().clone();
    thread::scope(|threads| {
        let call = threads.spawn(move || handle.install(|| body(gate)));
        has_arrived.recv().unwrap();
        let closes = threads.spawn(move || drop(rt));
        while !is_closed_soon(&closes) {
            thread::yield_now();
        }
        open.send(()).unwrap();
        call.join().unwrap();
        closes.join().unwrap();
    });
}

/// It cannot be seen from outside that a runtime is down. If this is too short, a test that should
/// fail may pass.
fn is_closed_soon(closes: &thread::ScopedJoinHandle<'_, ()>) -> bool {
    thread::sleep(Duration::from_millis(20));
    assert!(!closes.is_finished(), "a closure is still running");
    true
}

/// The first closure blocks when the runtime is down already, and waits for the second, which
/// nobody has begun.
#[test]
fn j5_the_first_closure_waits_for_the_second() {
    for workers in [1, 2, 4] {
        for _ in 0..5 {
            closes_beside(workers, |gate| {
                let (sender, receiver) = channel();
                // So that no other worker takes the second before that.
                let hold = &Barrier::new(workers);
                let hold_all = move || {
                    hold.wait();
                    gate.pass();
                    receiver.recv().unwrap();
                };
                scope(|s| {
                    (1..workers).for_each(|_| s.spawn(move |_| _ = hold.wait()));
                    join(hold_all, || sender.send(()).unwrap());
                });
            });
        }
    }
}

/// The same deep in a tree: each pair waits for each other.
#[test]
fn j5_nested_pairs_wait_for_each_other() {
    fn pairs(depth: u32, barrier: &Barrier) {
        match depth {
            0 => _ = barrier.wait(),
            _ => _ = join(|| pairs(depth - 1, barrier), || pairs(depth - 1, barrier)),
        }
    }
    for workers in [1, 2] {
        closes_beside(workers, |gate| {
            gate.pass();
            pairs(4, &Barrier::new(16));
        });
    }
}

/// It burns instead of blocking.
#[test]
fn j5_the_first_closure_spins_until_the_second_has_run() {
    for workers in [1, 2] {
        closes_beside(workers, |gate| {
            let is_run = AtomicUsize::new(0);
            let spin = || {
                while is_run.load(Ordering::SeqCst) == 0 {
                    std::hint::spin_loop();
                }
            };
            gate.pass();
            join(spin, || is_run.store(1, Ordering::SeqCst));
        });
    }
}

/// A closure of a scope waits for the scope's jobs, and they for each other.
#[test]
fn j5_jobs_of_a_scope_wait_for_each_other() {
    const JOBS: usize = 6;
    for workers in [1, 2] {
        closes_beside(workers, |gate| {
            let barrier = Barrier::new(JOBS + 1);
            gate.pass();
            scope(|s| {
                (0..JOBS).for_each(|_| s.spawn(|_| _ = barrier.wait()));
                barrier.wait();
            });
            scope_fifo(|s| {
                (0..JOBS).for_each(|_| s.spawn_fifo(|_| _ = barrier.wait()));
                barrier.wait();
            });
        });
    }
}

/// A job that comes after the end, from outside or from a worker that has stepped aside, runs on
/// another thread than its caller's.
#[test]
fn j5_a_job_from_outside_after_the_end() {
    fn from_outside(handle: &Handle) {
        let meet = || {
            let barrier = Barrier::new(2);
            join(|| barrier.wait(), || barrier.wait());
            let barrier = Barrier::new(4);
            in_place_scope(|s| {
                (0..3).for_each(|_| s.spawn(|_| _ = barrier.wait()));
                barrier.wait();
            });
        };
        let _entered = handle.enter();
        meet();
        // On this thread, as there is no worker; what is in it is not.
        handle.install(meet);
        let barrier = Barrier::new(3);
        handle.scope(|s| {
            (0..2).for_each(|_| s.spawn(|_| _ = barrier.wait()));
            barrier.wait();
        });
        let (sender, receiver) = channel();
        handle.spawn_detached(move || receiver.recv().unwrap());
        sender.send(()).unwrap();
    }
    let rt = runtime(3);
    let handle = rt.handle().clone();
    drop(rt);
    from_outside(&handle);
    let barrier = Barrier::new(3);
    assert_eq!(handle.broadcast(|_| _ = barrier.wait()).len(), 3);
    handle.in_place_scope(|s| s.spawn_broadcast(|_, _| _ = barrier.wait()));
    closes_beside(3, |gate| {
        gate.pass();
        task::block_in_place(|| from_outside(&Handle::current()));
    });
}

/// During a broadcast each worker waits for the others, although the runtime shuts down.
#[test]
fn j5_parts_of_a_broadcast_wait_for_each_other() {
    const WORKERS: usize = 3;
    for _ in 0..20 {
        let rt = runtime(WORKERS);
        let handle = rt.handle().clone();
        let barrier = Barrier::new(WORKERS);
        thread::scope(|threads| {
            let calls = threads.spawn(|| handle.broadcast(|_| _ = barrier.wait()));
            rt.shutdown_background();
            calls.join().unwrap();
        });
    }
}

/// Like [`closes_beside`], without spare workers until the end: all blocking threads are in use.
/// `before` is called on the thread of the test before the runtime goes down.
fn closes_without_spares(before: impl FnOnce(&Handle), body: impl FnOnce(Gate) + Send) {
    const THREADS: usize = 3;
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(2).max_blocking_threads(THREADS).build().unwrap();
    let (begin, has_begun) = channel();
    let ends: Vec<_> = (0..THREADS)
        .map(|_| {
            let (end, may_end) = channel::<()>();
            let begin = begin.clone();
            rt.spawn_blocking(move || {
                begin.send(()).unwrap();
                _ = may_end.recv();
            });
            end
        })
        .collect();
    (0..THREADS).for_each(|_| has_begun.recv().unwrap());
    let (gate, has_arrived, open) = gate();
    let handle = rt.handle().clone();
    thread::scope(|threads| {
        let install = handle.clone();
        let call = threads.spawn(move || install.install(|| body(gate)));
        has_arrived.recv().unwrap();
        before(&handle);
        let closes = threads.spawn(move || drop(rt));
        while !is_closed_soon(&closes) {
            thread::yield_now();
        }
        drop(ends);
        open.send(()).unwrap();
        call.join().unwrap();
        closes.join().unwrap();
    });
}

/// J3: a worker that waits for a handle with a lock held runs nothing from the inbox.
#[test]
fn j3_a_waiter_for_a_handle_leaves_the_inbox_alone() {
    let lock: &Mutex<()> = Box::leak(Box::default());
    let want_lock = |handle: &Handle| handle.spawn_detached(|| drop(lock.lock().unwrap()));
    closes_without_spares(want_lock, |gate| {
        let guard = lock.lock().unwrap();
        let (begin, has_begun) = channel();
        let job = spawn_job(move || {
            begin.send(()).unwrap();
            gate.pass();
        });
        // By the other worker.
        has_begun.recv().unwrap();
        job.wait().unwrap();
        drop(guard);
    });
}

/// J3: nor the second closure of a join further down on its own stack.
#[test]
fn j3_a_waiter_for_a_handle_leaves_its_joins_alone() {
    let lock = &Mutex::new(());
    // Until it waits. If this is too short, a test that should fail may pass.
    let let_wait = |_: &Handle| thread::sleep(Duration::from_millis(20));
    closes_without_spares(let_wait, |gate| {
        let (begin, has_begun) = channel();
        let waits = || {
            let guard = lock.lock().unwrap();
            let job = spawn_job(|| {});
            // It is cancelled, perhaps. It lies below the second closure, and above that of the
            // outer join.
            join(move || drop(job.wait()), || {});
            drop(guard);
        };
        scope(move |s| {
            // So that the other worker takes nothing of that.
            s.spawn(move |_| {
                begin.send(()).unwrap();
                gate.pass();
            });
            has_begun.recv().unwrap();
            join(waits, || drop(lock.lock().unwrap()));
        });
    });
}

/// A worker waits for what it has in its own queues, while it drives another runtime or in its own;
/// no spare comes for that, and its runtime shuts down.
#[test]
fn t9_a_worker_that_drives_another_runtime_waits_for_what_it_has_itself() {
    type Act = Box<dyn FnOnce() + Send>;
    let waits: [fn(Act); 3] = [
        |act| drop(spawn_job(act).detach()),
        |act| drop(task::spawn(async { act() })),
        |act| drop(task::spawn_blocking(act)),
    ];
    for (drives, spawn) in
        [false, true].into_iter().flat_map(|drives| waits.map(|wait| (drives, wait)))
    {
        let mut builder = Builder::new_multi_thread();
        let rt = builder.worker_threads(1).max_blocking_threads(1).build().unwrap();
        let driven = Builder::new_current_thread().build().unwrap();
        let (gate, has_arrived, open) = gate();
        let (sender, receiver) = heist::sync::oneshot::channel::<()>();
        let ((busy, is_busy), (free, is_free)) = (channel(), channel::<()>());
        rt.spawn_blocking(move || {
            busy.send(()).unwrap();
            is_free.recv().unwrap_err();
        });
        is_busy.recv().unwrap();
        let handle = rt.handle().clone();
        thread::scope(|threads| {
            let call = threads.spawn(move || {
                handle.install(|| {
                    spawn(Box::new(move || drop(sender)));
                    gate.pass();
                    let wait = async { receiver.await.unwrap_err() };
                    if drives { driven.block_on(wait) } else { handle.block_on(wait) }
                });
            });
            has_arrived.recv().unwrap();
            open.send(()).unwrap();
            rt.shutdown_background();
            call.join().unwrap();
        });
        drop(free);
    }
}
