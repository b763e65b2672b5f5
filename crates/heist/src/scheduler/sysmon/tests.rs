//! When sysmon looks again.

use super::{Looked, STUCK_AFTER, Sysmon, report};
use crate::env::{Activity, Clock};
use crate::runtime::{Builder, Runtime};
use crate::tuning::RECHECK;
use std::thread;
use std::time::Duration;

/// One that nobody runs, of a runtime that has no other.
fn idle_sysmon(runtime: &Runtime) -> Sysmon {
    Sysmon::new(runtime.handle().scheduler().clone())
}

fn without_sysmon() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// A runtime that was idle has something to do: it is looked at soon, and then again (L2).
#[test]
fn l2_sysmon_looks_twice_at_who_was_idle() {
    let rt = without_sysmon();
    let mut sysmon = idle_sysmon(&rt);
    // It is quiet, as nobody asks for stalls.
    sysmon.threshold = None;
    sysmon.pause = STUCK_AFTER;
    sysmon.scheduler.alarm.wake();
    sysmon.rest();
    assert!(sysmon.pause < STUCK_AFTER, "it does not sleep again at once");
    let looked = Looked { does_work_wait: true, do_others_wait: true, ..Looked::default() };
    sysmon.pace(&looked);
    assert_eq!(sysmon.pause, RECHECK);
}

/// L2: a worker comes back from a poll that was reported, and all park, between two looks. One more
/// look reports the end before sysmon sleeps.
#[test]
fn l2_sysmon_does_not_sleep_before_it_has_reported_the_end() {
    let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let mut sysmon = idle_sysmon(&rt);
    sysmon.threshold = Some(Duration::from_millis(1));
    while !sysmon.is_quiet() {
        thread::yield_now();
    }
    sysmon.watch_all();
    // Of its first poll, which it is no longer in.
    sysmon.watches[0].report = Some(report::new(&sysmon.scheduler, 0, 0, Activity::Blocked));
    sysmon.watches[0].is_reported = true;
    assert!(!sysmon.is_quiet());
    sysmon.end_stalls(Clock::now());
    assert!(sysmon.is_quiet());
}
