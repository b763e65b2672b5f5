//! Threads that stand in for workers at jobs ask the system for short turns.
#![cfg(target_os = "linux")]

use crate::borrowed::{Flag, burn};
use heist::runtime::{Builder, Runtime};
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
    fn of_this_thread() -> Self {
        // SAFETY: (type) numbers only.
        let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
        let (place, size) = (&raw mut attributes, size_of::<libc::sched_attr>());
        // SAFETY: (FFI) as many bytes as there are.
        let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, place, size, 0) };
        assert_eq!(answer, 0, "{}", std::io::Error::last_os_error());
        Manners {
            policy: attributes.sched_policy as i32,
            nice: attributes.sched_nice,
            turn: Duration::from_nanos(attributes.sched_runtime),
        }
    }

    /// As a thread with these has it when it stands in.
    fn shortened(self) -> Self {
        let can_be = self.policy == libc::SCHED_OTHER && self.nice >= 0;
        if can_be { Manners { turn: self.turn.min(SHORT), ..self } } else { self }
    }
}

/// One worker, and one thread to stand in for it, which closures need, too.
fn builder() -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).max_blocking_threads(1);
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
fn f3_who_stands_in_has_short_turns() {
    let rt = builder().build().unwrap();
    let usual = Manners::of_this_thread();
    let spare = beside_a_job(&rt, Manners::of_this_thread);
    let worker = rt.handle().spawn_job(Manners::of_this_thread).wait().unwrap();
    assert_eq!((spare, worker), (usual.shortened(), usual));
}

/// A closure that computes for long is interrupted no more often than elsewhere.
#[test]
fn a_closure_has_the_usual_turns() {
    let rt = builder().build().unwrap();
    let usual = Manners::of_this_thread();
    for _ in 0..2 {
        let seen = || (thread::current().id(), Manners::of_this_thread());
        let (spare, short) = beside_a_job(&rt, seen);
        let (closer, long) = rt.block_on(rt.spawn_blocking(seen)).unwrap();
        assert_eq!((spare, short, long), (closer, usual.shortened(), usual));
    }
}

/// Neither threads nor processes that a task starts inherit it.
#[test]
fn what_a_task_starts_has_the_usual_turns() {
    let rt = builder().build().unwrap();
    let usual = Manners::of_this_thread();
    let thread = beside_a_job(&rt, || thread::spawn(Manners::of_this_thread).join().unwrap());
    assert_eq!(thread, usual);
}

/// A priority that the user has given the threads stays as it is.
#[test]
fn a_priority_stays() {
    let lower = || {
        // SAFETY: (FFI) takes integers and touches no memory.
        let answer = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 15) };
        assert_eq!(answer, 0);
    };
    let rt = builder().on_thread_start(lower).build().unwrap();
    let usual = Manners { nice: 15, ..Manners::of_this_thread() };
    let short = beside_a_job(&rt, Manners::of_this_thread);
    let long = rt.block_on(rt.spawn_blocking(Manners::of_this_thread)).unwrap();
    assert_eq!((short, long), (usual.shortened(), usual));
}

/// A thread that is not of the usual kind is left alone.
#[test]
fn a_policy_stays() {
    let batch = || {
        // SAFETY: (type) numbers only.
        let none: libc::sched_param = unsafe { std::mem::zeroed() };
        // SAFETY: (FFI) reads the parameters.
        let answer = unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &none) };
        assert_eq!(answer, 0);
    };
    let rt = builder().on_thread_start(batch).build().unwrap();
    let usual = Manners { policy: libc::SCHED_BATCH, ..Manners::of_this_thread() };
    assert_eq!(beside_a_job(&rt, Manners::of_this_thread), usual);
}

/// What the user does to a thread in the meantime is not undone.
#[test]
fn what_a_task_asks_for_stays() {
    let rt = builder().build().unwrap();
    let lower = || {
        // SAFETY: (FFI) takes integers and touches no memory.
        let answer = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 15) };
        assert_eq!(answer, 0);
        Manners::of_this_thread()
    };
    let usual = Manners { nice: 15, ..Manners::of_this_thread() };
    let short = beside_a_job(&rt, lower);
    let long = rt.block_on(rt.spawn_blocking(Manners::of_this_thread)).unwrap();
    assert_eq!((short, long), (usual.shortened(), usual));
}
