//! When sysmon looks again.

use super::{Looked, STUCK_AFTER, Sysmon};
use crate::runtime::{Builder, Runtime};
use crate::tuning::RECHECK;

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
