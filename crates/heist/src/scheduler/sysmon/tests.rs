//! When sysmon looks less often, and what ends that. Each of these would pass without it as well, only later: so they look at
//! what sysmon waits for.

use super::{LONG, Looked, QUIET_LOOKS, SHORT, SOON, Sysmon};
use crate::runtime::{Builder, Handle, Runtime};
use futures_util::FutureExt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use std::{hint, thread};

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn fork(depth: u32) {
    if depth == 0 {
        (0..100).for_each(|_| hint::spin_loop());
    } else {
        crate::join(|| fork(depth - 1), || fork(depth - 1));
    }
}

/// Whether it is so for a while: for the length of a barrier sysmon may seem to sleep, and find that it must not.
fn is_for_long(is_so: impl Fn() -> bool) -> bool {
    (0..5).all(|_| {
        let is_now = is_so();
        thread::sleep(Duration::from_millis(1));
        is_now
    })
}

fn is_patient(handle: &Handle) -> bool {
    is_for_long(|| handle.scheduler().alarm.is_for_tasks())
}

/// Forks and joins until sysmon has seen enough of it.
fn fork_until_patient(handle: &Handle) {
    while !handle.scheduler().alarm.is_for_tasks() {
        fork(6);
    }
}

/// Sysmon looks less often, and is asked to look when there are tasks again (L2).
#[test]
fn l2_who_begins_with_tasks_wakes_sysmon() {
    let rt = runtime();
    let handle = rt.handle().clone();
    handle.install(|| fork_until_patient(&handle));
    let from_outside = handle.clone();
    assert!(!rt.block_on(handle.spawn(async move { is_patient(&from_outside) })).unwrap());

    // From a job, by a worker that has not slept meanwhile.
    handle.install(|| fork_until_patient(&handle));
    let (send, was_patient) = channel();
    let from_job = handle.clone();
    handle.install(|| handle.spawn(async move { send.send(is_patient(&from_job)).unwrap() }));
    assert!(!was_patient.recv().unwrap());
}

/// A task that waits for a job gives its seat away, and when it goes on it is a poll like any other (L2).
#[test]
fn l2_a_poll_that_goes_on_wakes_sysmon() {
    // A task that is found to be stuck is watched until it is over, and then this is for nothing: so it burns CPU, as long as it likes.
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(2).stall_threshold(Duration::from_secs(3600)).build().unwrap();
    let is_patient_in_poll = (0..).find_map(|_| {
        let handle = rt.handle().clone();
        let task = rt.spawn(async move {
            let has_begun = AtomicBool::new(false);
            // The worker of this task stays here until the other has taken what it then waits for.
            let first = || {
                while !has_begun.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
            };
            let second = || {
                has_begun.store(true, Ordering::Relaxed);
                let since = Instant::now();
                while !handle.scheduler().alarm.is_for_tasks() {
                    if since.elapsed() > Duration::from_millis(300) {
                        return false;
                    }
                    // There is mostly nothing that the other could help with: it gives its seat away.
                    (0..1000).for_each(|_| hint::spin_loop());
                    fork(1);
                }
                true
            };
            let ((), has_been) = crate::join(first, second);
            has_been.then(|| is_patient(&handle))
        });
        rt.block_on(task).unwrap()
    });
    assert_eq!(is_patient_in_poll, Some(false));
}

/// What its reactor brings to a worker at a job is not left there for long: while there is anything to wait for the guard looks as often
/// as ever (L3).
#[test]
fn l3_a_long_sleep_is_no_longer_where_there_are_timers() {
    let rt = runtime();
    let handle = rt.handle().clone();
    handle.install(|| fork_until_patient(&handle));
    let reactors = handle.scheduler().config.reactors.clone().unwrap();
    let is_long = || is_for_long(|| reactors.is_guarded_for_long());
    while !is_long() {
        handle.install(|| fork_until_patient(&handle));
    }
    // A thread of no runtime waits, so there is no task.
    let _entered = handle.enter();
    let mut sleep = pin!(crate::time::sleep(Duration::from_secs(3600)));
    assert!(sleep.as_mut().now_or_never().is_none());
    assert!(!is_long());
    // It stays so, however many jobs there are.
    for _ in 0..20 {
        handle.install(|| fork(10));
        assert!(!is_long());
    }
}

/// A job that does not go on, and the program is not trusted any more.
#[test]
fn l2_sysmon_is_patient_with_jobs_that_go_on() {
    let rt = runtime();
    let handle = rt.handle().clone();
    handle.install(|| fork_until_patient(&handle));
    let (end, has_ended) = channel::<()>();
    let stuck = handle.spawn_job(move || has_ended.recv().unwrap());
    // For longer than until an ordinary look.
    let is_impatient = || (0..8).all(|_| is_for_long(|| !handle.scheduler().alarm.is_for_tasks()));
    // After two looks, as a rule. Else it would be patient again soon after each.
    assert!((0..2000).any(|_| is_impatient()));
    end.send(()).unwrap();
    stuck.wait().unwrap();
}

/// One that nobody runs, of a runtime that has no other.
fn idle_sysmon(runtime: &Runtime) -> Sysmon {
    Sysmon::new(runtime.handle().scheduler().clone())
}

fn without_sysmon() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// Jobs that go on are all there is to see at each look, but tasks have come between two of them.
#[test]
fn l2_tasks_that_come_beside_jobs_are_not_forgotten() {
    let rt = without_sysmon();
    let mut sysmon = idle_sysmon(&rt);
    let looked = Looked { is_anybody_at_job: true, ..Looked::default() };
    sysmon.learn_patience(&looked);
    sysmon.learn_patience(&looked);
    assert_eq!(sysmon.patience.looks, 2);
    sysmon.scheduler.lendings.fetch_add(1, Ordering::Relaxed);
    sysmon.learn_patience(&looked);
    assert_eq!(sysmon.patience.looks, 0);
    sysmon.learn_patience(&looked);
    assert_eq!(sysmon.patience.looks, 1);
}

/// Who begins with tasks is looked at later; who wakes sysmon, at once (L2).
#[test]
fn l2_sysmon_gives_who_begins_with_tasks_the_time_to_move() {
    let rt = without_sysmon();
    for (is_rung, next_look) in [(true, Some(SOON)), (false, None)] {
        let (mut sysmon, is_over) = (idle_sysmon(&rt), AtomicBool::new(false));
        sysmon.pause = LONG;
        let disturb = || {
            let alarm = &rt.handle().scheduler().alarm;
            while !is_over.load(Ordering::Relaxed) {
                match alarm.is_for_tasks() {
                    false => thread::yield_now(),
                    true if is_rung => alarm.tasks_begun(),
                    true => alarm.wake(),
                }
            }
        };
        // On a busy machine nobody may come before its time is over.
        let mut sleeps = || {
            sysmon.patience.looks = sysmon.patience.needed;
            sysmon.doze_long() == next_look && sysmon.patience.looks == 0
        };
        let is_so = thread::scope(|threads| {
            threads.spawn(disturb);
            let is_so = (0..100).any(|_| sleeps());
            is_over.store(true, Ordering::Relaxed);
            is_so
        });
        // A worker that is blocked by then is seen to be at the look after that, which comes soon only behind a long pause.
        assert!(is_so && sysmon.pause == LONG, "is_rung: {is_rung}");
    }
}

/// A runtime that was idle has something to do: it is looked at soon, and then again (L2).
#[test]
fn l2_sysmon_looks_twice_at_who_was_idle() {
    let rt = without_sysmon();
    let mut sysmon = idle_sysmon(&rt);
    // It is quiet, as nobody asks for stalls.
    sysmon.threshold = None;
    (sysmon.pause, sysmon.quiet_looks) = (LONG, QUIET_LOOKS + 1);
    sysmon.scheduler.alarm.wake();
    sysmon.rest();
    assert_eq!((sysmon.pause, sysmon.quiet_looks), (LONG, 0));
    let looked = Looked { does_work_wait: true, do_others_wait: true, ..Looked::default() };
    sysmon.pace(&looked);
    assert_eq!(sysmon.pause, SHORT);
}
