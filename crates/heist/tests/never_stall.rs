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

/// L5: the seat is free at once, without sysmon. A worker that blocks in the middle of its jobs
/// loses its seat, also while another takes them, one by one.
#[test]
fn l2_jobs_of_a_worker_that_blocks_are_not_left_to_one_thief() {
    let (rt, is_enough) = (runtime(2), Arc::new(AtomicBool::new(false)));
    let (ran, runs) = mpsc::channel();
    let (let_go, goes_on) = mpsc::channel::<()>();
    let handle = rt.handle().clone();
    let has_enough = Arc::clone(&is_enough);
    let blocks = thread::spawn(move || {
        handle.install(move || {
            let has_enough = &has_enough;
            let job = move |ran: mpsc::Sender<_>| {
                // All of them together take seconds for one thread.
                (0..100_000).take_while(|_| !has_enough.load(Ordering::Relaxed)).for_each(drop);
                ran.send(thread::current().id()).unwrap();
            };
            heist::scope(move |scope| {
                vec![ran; 10_000].into_iter().for_each(|ran| scope.spawn(move |_| job(ran)));
                goes_on.recv().unwrap_err();
            });
        });
    });
    let first = runs.recv().unwrap();
    assert!(runs.iter().any(|thread| thread != first), "one thread has run them all");
    is_enough.store(true, Ordering::Relaxed);
    drop(let_go);
    runs.iter().for_each(drop);
    blocks.join().unwrap();
}

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
                block_in_place(|| all.wait().is_leader());
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
            one + block_in_place(|| {
                Handle::current().block_on(async {
                    block_in_place(|| 1) + task::spawn(async { 1 }).await.unwrap()
                })
            })
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
                rt.spawn(async move { all.wait().is_leader() })
            })
            .collect();
        tasks.into_iter().for_each(|task| drop(rt.block_on(task)));
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

/// L2: a thousand tasks that all block for a moment, more at once than there are seats.
#[test]
fn l2_a_thousand_tasks_that_block_for_a_moment() {
    let rt = runtime(2);
    let tasks: Vec<_> = (0..1000)
        .map(|number: u64| {
            rt.spawn(async move {
                thread::sleep(Duration::from_micros(100 + number % 7 * 300));
                task::yield_now().await;
                number
            })
        })
        .collect();
    let sum: u64 = tasks.into_iter().map(|task| rt.block_on(task).unwrap()).sum();
    assert_eq!(sum, 999 * 1000 / 2);
}

/// Says when it is dropped.
struct Dropped(mpsc::Sender<&'static str>, &'static str);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.send(self.1).unwrap();
    }
}

/// A task that is blocked for ever does not keep a shutdown with a limit, and what waits behind it
/// is dropped. (The thread is let go at the end: a test leaves none behind.)
#[test]
fn a_shutdown_with_a_limit_leaves_a_stuck_worker_behind() {
    let rt = Builder::new_multi_thread().worker_threads(1).stall_threshold(None).build().unwrap();
    let (told, tells) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let (in_ring, in_slot) = (Dropped(told.clone(), "ring"), Dropped(told.clone(), "slot"));
    rt.spawn(async move {
        task::spawn(async move { drop(in_ring) });
        task::spawn(async move { drop(in_slot) });
        begun.send(()).unwrap();
        let _ = gone.recv();
        drop(told);
    });
    begins.recv().unwrap();
    rt.shutdown_timeout(Duration::from_millis(20));
    let mut dropped = [tells.recv().unwrap(), tells.recv().unwrap()];
    dropped.sort_unstable();
    assert_eq!(dropped, ["ring", "slot"]);
    drop(go);
    assert!(tells.recv().is_err(), "the stuck poll has ended, too");
}

/// Stalls while a runtime goes down, at any moment: it goes down, and every future is dropped.
#[test]
fn shutdowns_beside_stalls() {
    let alive = Arc::new(AtomicUsize::new(0));
    struct Alive(Arc<AtomicUsize>);
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    for round in 0..60u64 {
        let rt = Builder::new_multi_thread()
            .worker_threads(1 + round as usize % 3)
            .stall_threshold(Duration::from_millis(1))
            .build()
            .unwrap();
        for number in 0..12u64 {
            alive.fetch_add(1, Ordering::Relaxed);
            let life = Alive(Arc::clone(&alive));
            rt.spawn(async move {
                let _life = life;
                for turn in 0.. {
                    match (round + number + turn) % 4 {
                        0 => thread::sleep(Duration::from_millis(2)),
                        1 => block_in_place(|| thread::sleep(Duration::from_micros(200))),
                        _ => task::yield_now().await,
                    }
                }
            });
        }
        thread::sleep(Duration::from_micros(round * 150));
        match round % 3 {
            0 => drop(rt),
            1 => rt.shutdown_timeout(Duration::from_secs(60)),
            _ => rt.shutdown_background(),
        }
    }
    while alive.load(Ordering::Relaxed) > 0 {
        thread::yield_now();
    }
}

/// L5: a panic in what blocks is the task's, and the worker goes on with its seat.
#[test]
fn l5_a_panic_comes_back_to_its_seat() {
    let rt = Builder::new_multi_thread().worker_threads(1).stall_threshold(None).build().unwrap();
    for _ in 0..10 {
        let task = rt.spawn(async { block_in_place(|| panic!("on purpose")) });
        assert!(rt.block_on(task).unwrap_err().is_panic());
        let index = rt.block_on(rt.spawn(async { heist::runtime::worker_index() })).unwrap();
        assert_eq!(index, Some(0));
    }
}

/// W8: tasks that are pinned to a stuck worker wait for it; they run there when it comes back.
#[test]
fn w8_pinned_tasks_wait_for_their_worker() {
    let rt = runtime(1);
    let (go, gone) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let stuck = rt.spawn(async move {
        begun.send(thread::current().id()).unwrap();
        let _ = gone.recv();
    });
    let worker = begins.recv().unwrap();
    let pinned = rt.handle().spawn_pinned(|| async { thread::current().id() });
    // A spare runs what is not pinned.
    let spare = rt.block_on(rt.spawn(async { thread::current().id() })).unwrap();
    assert_ne!(spare, worker);
    assert!(!pinned.is_finished());
    drop(go);
    rt.block_on(stuck).unwrap();
    assert_eq!(rt.block_on(pinned).unwrap(), worker);
}

/// When there is no thread for a spare the runtime goes on with what it has, and counts it; when
/// there is one again it is used.
#[test]
fn without_threads_for_spares_the_runtime_goes_on() {
    let may_start = Arc::new(AtomicBool::new(true));
    let has_started = Arc::clone(&may_start);
    let name = move || match has_started.load(Ordering::Relaxed) {
        true => "worker".into(),
        false => "no\0thread".into(),
    };
    let rt = Builder::new_multi_thread().worker_threads(2).thread_name_fn(name).build().unwrap();
    let others = || {
        let tasks: Vec<_> = (0..50).map(|number| rt.spawn(async move { number })).collect();
        tasks.into_iter().map(|task| rt.block_on(task).unwrap()).sum::<u32>()
    };
    assert_eq!(others(), 49 * 50 / 2);
    may_start.store(false, Ordering::Relaxed);
    let (begun, begins) = mpsc::channel();
    let stick = || {
        let (go, gone) = mpsc::channel::<()>();
        let begun = begun.clone();
        let task = rt.spawn(async move {
            begun.send(()).unwrap();
            let _ = gone.recv();
        });
        begins.recv().unwrap();
        (go, task)
    };
    // One of two workers is stuck: the other does all there is.
    let (go, stuck) = stick();
    assert_eq!(others(), 49 * 50 / 2);
    // Both are, and nobody else can be had. It is tried again and again.
    let (go_too, stuck_too) = stick();
    let waits = rt.spawn(async { 7 });
    while rt.metrics().spare_shortage_count() < 3 {
        thread::yield_now();
    }
    assert!(!waits.is_finished());
    may_start.store(true, Ordering::Relaxed);
    assert_eq!(rt.block_on(waits).unwrap(), 7);
    drop((go, go_too));
    rt.block_on(stuck).unwrap();
    rt.block_on(stuck_too).unwrap();
}

/// Runs `f` in a task of `rt`, and waits for what it returns.
fn in_task<R: Send + 'static>(rt: &Runtime, f: impl FnOnce() -> R + Send + 'static) -> R {
    rt.block_on(rt.spawn(async move { f() })).unwrap()
}

/// I1: a seat without a spare worker does not keep other workers asleep.
#[test]
fn i1_a_spare_that_does_not_come_keeps_nobody_asleep() {
    let rt = Builder::new_multi_thread()
        .worker_threads(4)
        .max_blocking_threads(1)
        .stall_threshold(None)
        .build()
        .unwrap();
    let (free, freed) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let started = begun.clone();
    let closure = rt.spawn_blocking(move || {
        started.send(()).unwrap();
        let _ = freed.recv();
    });
    begins.recv().unwrap();
    let (go, gone) = mpsc::channel::<()>();
    let aside = rt.spawn(async move {
        block_in_place(|| {
            begun.send(()).unwrap();
            let _ = gone.recv();
        });
    });
    begins.recv().unwrap();
    for number in 0..100 {
        assert_eq!(in_task(&rt, move || number), number);
    }
    drop((go, free));
    rt.block_on(aside).unwrap();
    rt.block_on(closure).unwrap();
}

/// The same for one that takes its time: its thread has to be started first.
#[test]
fn i1_a_spare_that_takes_its_time_keeps_nobody_asleep() {
    const WORKERS: usize = 4;
    let (started, hold) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(())));
    let (starting, held) = (Arc::clone(&started), Arc::clone(&hold));
    let rt = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .on_thread_start(move || {
            if starting.fetch_add(1, Ordering::Relaxed) >= WORKERS {
                drop(held.lock());
            }
        })
        .build()
        .unwrap();
    // The base workers are not slow, however late they are.
    while started.load(Ordering::Relaxed) < WORKERS {
        thread::yield_now();
    }
    let guard = hold.lock().unwrap();
    let (go, gone) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let aside = rt.spawn(async move {
        block_in_place(|| {
            begun.send(()).unwrap();
            let _ = gone.recv();
        });
    });
    begins.recv().unwrap();
    (0..100).for_each(|number| assert_eq!(in_task(&rt, move || number), number));
    drop((guard, go));
    rt.block_on(aside).unwrap();
}

/// Callbacks of the builder's are no tasks: a worker that blocks there keeps its seat.
#[test]
fn blocking_in_a_callback_is_only_blocking() {
    let rt = Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_park(|| block_in_place(thread::yield_now))
        .on_thread_unpark(|| block_in_place(thread::yield_now))
        .build()
        .unwrap();
    (0..1000).for_each(|number| assert_eq!(in_task(&rt, move || number), number));
}

/// A task that waits for what it has spawned, on a runtime that goes down meanwhile: what it waits
/// for is cancelled.
#[test]
fn waiting_beside_a_shutdown_ends() {
    for is_aside_first in [false, true] {
        let rt = runtime(2);
        let (begun, begins) = mpsc::channel();
        let (told, tells) = mpsc::channel();
        let (go, gone) = mpsc::channel::<()>();
        let handle = rt.handle().clone();
        rt.spawn(async move {
            let wait = |begun: &mpsc::Sender<()>| {
                begun.send(()).unwrap();
                let _ = gone.recv();
            };
            match is_aside_first {
                true => block_in_place(|| wait(&begun)),
                false => wait(&begun),
            }
            let child = task::spawn(std::future::pending::<()>());
            let joined = block_in_place(|| handle.block_on(child));
            told.send(joined.unwrap_err().is_cancelled()).unwrap();
        });
        begins.recv().unwrap();
        let handle = rt.handle().clone();
        let dropped = thread::spawn(move || drop(rt));
        // It goes down: nothing is taken any more.
        while !handle.spawn(std::future::pending::<()>()).is_finished() {
            thread::yield_now();
        }
        drop(go);
        assert!(tells.recv().unwrap());
        dropped.join().unwrap();
    }
}

/// A task may drop its own runtime where it may block; it waits for all threads but its own.
#[test]
fn a_task_may_drop_its_runtime_where_it_may_block() {
    let rt = runtime(2);
    let (give, given) = mpsc::channel::<Runtime>();
    let (told, tells) = mpsc::channel();
    rt.spawn(async move {
        block_in_place(|| drop(given.recv().unwrap()));
        told.send(()).unwrap();
    });
    give.send(rt).unwrap();
    tells.recv().unwrap();
}

/// L6: a spare that is stuck does not keep the base worker from its seat, though others are idle:
/// its pinned tasks are for nobody else.
#[test]
fn l6_a_stuck_spare_gives_the_seat_to_the_home_worker() {
    let rt = runtime(2);
    let both = Arc::new(Barrier::new(3));
    let (go, gone) = mpsc::channel::<()>();
    let gone = Arc::new(Mutex::new(gone));
    let away: Vec<_> = (0..2)
        .map(|worker| {
            let (both, gone) = (Arc::clone(&both), Arc::clone(&gone));
            // One on each base worker: what comes next is for spares.
            rt.handle().spawn_pinned_on(worker, move || async move {
                block_in_place(|| {
                    both.wait();
                    let _ = gone.lock().unwrap().recv();
                });
            })
        })
        .collect();
    both.wait();
    // A spare waits for what is pinned to the worker whose seat it has.
    let (say, said) = mpsc::channel();
    let (seat_of, seats) = mpsc::channel();
    let stuck = rt.spawn(async move {
        seat_of.send(heist::runtime::worker_index().unwrap()).unwrap();
        said.recv().unwrap()
    });
    let seat = seats.recv().unwrap();
    let pinned = rt.handle().spawn_pinned_on(seat, move || async move { say.send(7).unwrap() });
    drop(go);
    assert_eq!(rt.block_on(stuck).unwrap(), 7);
    rt.block_on(pinned).unwrap();
    away.into_iter().for_each(|task| rt.block_on(task).unwrap());
}

/// A spare with nothing to do does not keep its thread from closures.
#[test]
fn a_spare_with_nothing_to_do_leaves_its_thread() {
    let rt = Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(1)
        .stall_threshold(None)
        .build()
        .unwrap();
    let sum = in_task(&rt, || {
        let child = task::spawn(async { 1 });
        block_in_place(|| {
            let handle = Handle::current();
            let one = handle.block_on(child).unwrap();
            one + handle.block_on(task::spawn_blocking(|| 1)).unwrap()
        })
    });
    assert_eq!(sum, 2);
}

/// F1: workers have stepped aside, and the last of them has a task; the one that sits has a task of
/// its own that never waits, and looks at all of them, not at one that has nothing over and over
/// again.
#[test]
fn f1_a_busy_worker_helps_any_stuck_worker_that_has_tasks() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let let_go: Vec<_> = (0..8)
        .map(|_| {
            let ((arrive, has_arrived), (let_go, wait)) = (mpsc::channel(), mpsc::channel::<()>());
            runtime.spawn(async move {
                block_in_place(|| {
                    arrive.send(()).unwrap();
                    wait.recv().unwrap_err();
                });
            });
            has_arrived.recv().unwrap();
            let_go
        })
        .collect();
    let ends = is_over.clone();
    runtime.spawn(async move {
        while !ends.load(Ordering::SeqCst) {
            task::yield_now().await;
        }
    });
    let waits = runtime.spawn(async move {
        let (sender, receiver) = mpsc::channel();
        task::spawn(async move { sender.send(()).unwrap() });
        block_in_place(|| receiver.recv().unwrap());
    });
    runtime.block_on(waits).unwrap();
    is_over.store(true, Ordering::SeqCst);
    drop(let_go);
}

/// L2: a poll waits for a task in the ring of its own worker. The worker expected to be done soon,
/// so it has woken nobody; only sysmon can find that out.
#[test]
fn l2_a_poll_may_wait_for_a_task_that_its_worker_keeps_to_itself() {
    let rt = runtime(2);
    for _ in 0..20 {
        let task = rt.spawn(async {
            let (done, is_done) = mpsc::channel();
            // The second task takes the slot, and moves the first to the ring. It then runs with an
            // empty slot, and the ring is all that is left.
            let first = task::spawn(async move { done.send(()).unwrap() });
            let second = task::spawn(async move { is_done.recv().unwrap() });
            first.await.unwrap();
            second.await.unwrap();
        });
        rt.block_on(task).unwrap();
    }
}
