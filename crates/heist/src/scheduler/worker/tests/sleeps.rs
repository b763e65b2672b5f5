//! What a sleep costs, and who pays for it.

use super::*;
use heist_sync::Barrier;

/// Where the kernel has no barrier a sleep is never dear.
fn has_barrier() -> bool {
    Barrier::detect() == Barrier::Process
}

/// Forks and joins `count` times within one step.
fn joins(stage: &Stage, count: usize) {
    stage.spawn(async move { (0..count).for_each(|_| _ = crate::join(|| (), || ())) });
    assert_eq!(stage.step(0), Step::Ran);
}

/// Whether the bell of its deque has been silenced. It rings afterwards.
fn was_silenced(stage: &Stage) -> bool {
    stage.remote(0).jobs.ring()
}

#[test]
fn a_bell_that_is_cheap_to_leave_ringing_is_silenced_late() {
    let stage = Stage::new(1, None, 7);
    joins(&stage, 1);
    assert_eq!(was_silenced(&stage), has_barrier(), "each sleep is a call anyway");
    stage.scheduler.idle.make_sleep_cheap();
    joins(&stage, 400);
    assert!(!was_silenced(&stage));
    joins(&stage, 400);
    assert!(was_silenced(&stage), "that cost as much as a call");
    stage.run();
}

#[test]
fn a_nudge_is_forgotten_at_once() {
    let stage = Stage::new(1, None, 7);
    stage.scheduler.idle.make_sleep_cheap();
    joins(&stage, 1000);
    stage.remote(0).jobs.nudge();
    let local = &stage.players[0].worker;
    let is_rung = || local.with_deque(|deque| deque.finish_push());
    assert!(is_rung());
    joins(&stage, 1);
    assert!(!is_rung());
    stage.run();
}
