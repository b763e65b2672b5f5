//! What is told about stalls (L2, M1): by the hook, and by the counts.

use heist::runtime::{Builder, StallCause, StallReport};
use heist::task;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

/// A runtime with one worker, and what its hook is told.
fn runtime() -> (heist::runtime::Runtime, mpsc::Receiver<StallReport>) {
    let (tell, told) = mpsc::channel();
    let rt = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("the-worker")
        .on_stall(move |stall| tell.send(stall.clone()).unwrap())
        .build()
        .unwrap();
    (rt, told)
}

/// L2, M1: a task that blocks while another waits is reported, with all that is known, and once
/// more when it is over.
#[test]
fn l2_a_blocked_task_is_reported() {
    let (rt, told) = runtime();
    let (go, gone) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let line = line!() + 3;
    let block = async move { [begun.send(()).is_ok(), gone.recv().is_ok()] };
    let _entered = rt.enter();
    let stuck = task::Builder::new().name("reader").spawn(block).unwrap();
    let id = stuck.id();
    begins.recv().unwrap();
    assert_eq!(rt.block_on(rt.spawn(async { 1 })).unwrap(), 1);
    let report = told.recv().unwrap();
    assert_eq!(report.task_id(), Some(id));
    assert_eq!(report.task_name(), Some("reader"));
    let spawned_at = report.spawned_at().unwrap();
    assert!(spawned_at.file().ends_with("stall_reports.rs"), "{report}");
    assert_eq!(spawned_at.line(), line, "{report}");
    assert_eq!((report.worker(), report.thread_name()), (0, "the-worker"));
    assert!(report.lost_seat() && !report.is_over(), "{report}");
    let waiting = report.waiting();
    assert_eq!(waiting.injected + waiting.queued + waiting.elsewhere, 1, "{report}");
    if let StallCause::Blocked { system_call: Some(call) } = report.cause() {
        assert_eq!(call.name(), Some("futex"), "{report}");
    }
    assert!(!matches!(report.cause(), StallCause::Burning), "{report}");
    let metrics = rt.metrics();
    assert_eq!((metrics.stall_count(), metrics.worker_seat_loss_count(0)), (1, 1));
    assert!(metrics.longest_stall() >= report.duration());

    drop(go);
    rt.block_on(stuck).unwrap();
    let end = told.recv().unwrap();
    assert!(end.is_over() && end.task_id() == Some(id), "{end}");
    assert!(end.duration() >= report.duration());
    assert!(rt.metrics().longest_stall() >= end.duration());
    assert_eq!(rt.metrics().stall_count(), 1);
}

/// F3, J5, L2: a job that blocks is reported also if its worker has lent its seat for tasks, which
/// never end.
#[test]
fn l2_a_blocked_lender_is_reported() {
    let (rt, told) = runtime();
    let (is_over, polls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (is_over_there, polls_there) = (Arc::clone(&is_over), Arc::clone(&polls));
    let (begun, begins) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let job = rt.handle().spawn_job(move || {
        begun.send(()).unwrap();
        // Burns until its seat is borrowed, and blocks then.
        while polls_there.load(Ordering::Relaxed) < 2 {
            thread::yield_now();
        }
        gone.recv().is_ok()
    });
    begins.recv().unwrap();
    let yields = rt.spawn(async move {
        while !is_over_there.load(Ordering::Relaxed) {
            polls.fetch_add(1, Ordering::Relaxed);
            task::yield_now().await;
        }
    });
    // The other task is reported, too, if its thread gets no core in the middle of a poll.
    let mut of_jobs = told.iter().filter(|report| report.task_id().is_none());
    let report = of_jobs.next().unwrap();
    assert_eq!(report.worker(), 0, "{report}");
    assert_eq!(report.thread_name(), "the-worker");
    assert!(report.lost_seat() && !report.is_over(), "{report}");
    assert!(!matches!(report.cause(), StallCause::Burning), "{report}");
    go.send(()).unwrap();
    assert!(job.wait().unwrap());
    assert!(of_jobs.next().unwrap().is_over());
    is_over.store(true, Ordering::Relaxed);
    rt.block_on(yields).unwrap();
}

/// L2: one that computes is reported as such.
#[test]
fn l2_a_burning_task_is_reported() {
    let (rt, told) = runtime();
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_over);
    let (begun, begins) = mpsc::channel();
    let stuck = rt.spawn(async move {
        begun.send(()).unwrap();
        while !seen.load(Ordering::Relaxed) {}
    });
    begins.recv().unwrap();
    assert_eq!(rt.block_on(rt.spawn(async { 1 })).unwrap(), 1);
    let report = told.recv().unwrap();
    assert_eq!((report.task_id(), report.task_name()), (Some(stuck.id()), None));
    let cause = report.cause();
    assert!(matches!(cause, StallCause::Burning | StallCause::Unknown), "{report}");
    is_over.store(true, Ordering::Relaxed);
    rt.block_on(stuck).unwrap();
}

/// A long poll is no stall if no other task waits.
#[test]
fn l2_nobody_waits_nothing_is_reported() {
    let (rt, told) = runtime();
    let (go, gone) = mpsc::channel::<()>();
    let stuck = rt.spawn(async move {
        let _ = gone.recv();
    });
    // Many looks of the monitor's: its threshold is 10 ms.
    thread::sleep(std::time::Duration::from_millis(150));
    drop(go);
    rt.block_on(stuck).unwrap();
    drop(rt);
    assert!(told.recv().is_err(), "and the hook is gone with the runtime");
}
