//! Threads that stand in for workers at jobs ask the system for short turns.
#![cfg(target_os = "linux")]

use crate::borrowed::{Flag, burn, yields_until};
use heist::process::Command;
use heist::runtime::{Builder, Runtime};
use heist::task;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_micros(100);

/// What the system knows of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Manners {
    policy: i32,
    nice: i32,
    /// Nothing where the system does not tell.
    turn: Duration,
}

impl Manners {
    /// `None` where the system does not tell, and there is nothing to test.
    fn usual() -> Option<Self> {
        let manners = Manners::of_this_thread();
        (manners.policy >= 0).then_some(manners)
    }

    fn of_this_thread() -> Self {
        Manners::of(0)
    }

    fn of(thread: u32) -> Self {
        // SAFETY: (type) numbers only.
        let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
        let (place, size) = (&raw mut attributes, size_of::<libc::sched_attr>());
        // SAFETY: (FFI) writes as many bytes as there are.
        let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, thread, place, size, 0) };
        Manners {
            policy: if answer == 0 { attributes.sched_policy as i32 } else { -1 },
            nice: attributes.sched_nice,
            turn: Duration::from_nanos(attributes.sched_runtime),
        }
    }

    /// As a thread with these has it when it stands in.
    fn shortened(self) -> Self {
        // SAFETY: (FFI) takes integers and touches no memory.
        let is_free = unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) == 0 };
        let can_be = is_free && self.policy == libc::SCHED_OTHER && self.nice >= 0;
        if can_be { Manners { turn: self.turn.min(SHORT), ..self } } else { self }
    }
}

/// Sets the priority of the calling thread; returns whether it has that priority now.
fn set_nice(nice: i32) -> bool {
    // SAFETY: (FFI) takes integers and touches no memory.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) == 0 }
}

/// One worker, and one thread to stand in for it, which closures need, too.
fn builder() -> Builder {
    let mut builder = Builder::new_multi_thread();
    // Nobody is taken for stuck, and replaced, where threads wait for a core.
    builder.worker_threads(1).max_blocking_threads(1).stall_threshold(None).enable_all();
    builder
}

/// What a task finds that runs while the worker is at a job.
fn beside_a_job<R: Send + 'static>(
    runtime: &Runtime,
    find: impl FnOnce() -> R + Send + 'static,
) -> R {
    let end = Flag::default();
    let job = burn(runtime, &end);
    let found = runtime.block_on(runtime.spawn(async { find() })).unwrap();
    end.set();
    job.wait().unwrap();
    found
}

/// F3: a task that waits behind jobs waits for a core no longer than need be.
#[test]
fn f3_a_borrower_has_short_time_slices() {
    let rt = builder().build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let spare = beside_a_job(&rt, Manners::of_this_thread);
    let worker = rt.handle().spawn_job(Manners::of_this_thread).wait().unwrap();
    assert_eq!((spare, worker), (usual.shortened(), usual));
}

/// A closure that computes for long is interrupted no more often than elsewhere.
#[test]
fn a_closure_has_the_usual_turns() {
    let rt = builder().build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    for _ in 0..2 {
        let seen = || (thread::current().id(), Manners::of_this_thread());
        let (spare, short) = beside_a_job(&rt, seen);
        let (closer, long) = rt.block_on(rt.spawn_blocking(seen)).unwrap();
        assert_eq!((spare, short, long), (closer, usual.shortened(), usual));
    }
}

/// The threads of a runtime that a task builds do not inherit it.
#[test]
fn another_runtime_has_the_usual_turns() {
    let rt = builder().build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let worker = beside_a_job(&rt, || {
        let other = builder().build().unwrap();
        let manners = other.handle().spawn_job(Manners::of_this_thread).wait().unwrap();
        other.shutdown_background();
        manners
    });
    assert_eq!(worker, usual);
}

/// Nor does a thread for closures that is started from there. The task waits for it, so it runs
/// nowhere else.
#[test]
fn a_new_thread_has_the_usual_turns() {
    let rt = builder().max_blocking_threads(2).build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let thread = beside_a_job(&rt, || {
        let (send, found) = channel();
        drop(task::spawn_blocking(move || send.send(Manners::of_this_thread()).unwrap()));
        found.recv().unwrap()
    });
    assert_eq!(thread, usual);
}

/// Nor does a process.
#[test]
fn a_process_has_the_usual_turns() {
    let rt = builder().build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let process = beside_a_job(&rt, || {
        let child = Command::new("sleep").arg("600").kill_on_drop(true).spawn().unwrap();
        Manners::of(child.id().unwrap())
    });
    assert_eq!(process, usual);
}

/// A task that computes aside may do so for long.
#[test]
fn aside_there_are_the_usual_turns() {
    let rt = builder().build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let find = || (Manners::of_this_thread(), task::block_in_place(Manners::of_this_thread));
    assert_eq!(beside_a_job(&rt, find), (usual.shortened(), usual));
}

/// A spare on a seat that its worker has given up is a worker like others.
#[test]
fn only_a_borrower_has_short_time_slices() {
    let rt = builder().build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    beside_a_job(&rt, || ());
    while rt.metrics().num_idle_blocking_threads() == 0 {
        thread::yield_now();
    }
    let (send, found) = channel();
    let waits = rt.spawn(async move {
        task::spawn(async move { send.send(Manners::of_this_thread()).unwrap() });
        task::block_in_place(|| found.recv().unwrap())
    });
    assert_eq!(rt.block_on(waits).unwrap(), usual);
}

/// J5: while the lender is stuck in its job, the holder of its seat takes the next one.
#[test]
fn in_a_job_there_are_the_usual_turns() {
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(1).max_blocking_threads(1).build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let is_over = Flag::default();
    let yields = yields_until(&rt, &is_over);
    let (send, found) = channel();
    let a = move || found.recv().unwrap();
    let b = move || send.send(Manners::of_this_thread()).unwrap();
    assert_eq!(rt.handle().install(move || heist::join(a, b)).0, usual);
    is_over.set();
    rt.block_on(yields).unwrap();
}

/// A priority that the user has given the threads stays as it is.
#[test]
fn a_priority_stays() {
    let rt = builder().on_thread_start(|| assert!(set_nice(19))).build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let usual = Manners { nice: 19, ..usual };
    let short = beside_a_job(&rt, Manners::of_this_thread);
    let long = rt.block_on(rt.spawn_blocking(Manners::of_this_thread)).unwrap();
    assert_eq!((short, long), (usual.shortened(), usual));
}

/// Nor is a thread touched that comes first anyway. A process that may not ask for that has nothing
/// to test.
#[test]
fn a_higher_priority_stays() {
    let rt = builder().on_thread_start(|| _ = set_nice(-5)).build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let spare = beside_a_job(&rt, Manners::of_this_thread);
    if spare.nice < 0 {
        assert_eq!(spare.turn, usual.turn);
    }
}

/// A thread that is not of the usual kind is left alone.
#[test]
fn a_policy_stays() {
    let batch = || {
        // SAFETY: (type) numbers only.
        let none: libc::sched_param = unsafe { std::mem::zeroed() };
        // SAFETY: (FFI) reads the parameters.
        let answer =
            unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_BATCH, &none) };
        assert_eq!(answer, 0);
    };
    let rt = builder().on_thread_start(batch).build().unwrap();
    let Some(usual) = Manners::usual() else { return };
    let usual = Manners { policy: libc::SCHED_BATCH, ..usual };
    assert_eq!(beside_a_job(&rt, Manners::of_this_thread), usual);
}

/// What the user does to a thread in the meantime is not undone.
#[test]
fn what_a_task_asks_for_stays() {
    let rt = builder().build().unwrap();
    let lower = || {
        assert!(set_nice(19));
        Manners::of_this_thread()
    };
    let Some(usual) = Manners::usual() else { return };
    let lowered = |manners| Manners { nice: 19, ..manners };
    let short = beside_a_job(&rt, lower);
    let long = rt.block_on(rt.spawn_blocking(Manners::of_this_thread)).unwrap();
    assert_eq!((short, long), (lowered(usual.shortened()), lowered(usual)));
}
