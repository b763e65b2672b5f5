//! What a sleep costs, and who pays for it.

use super::*;
use heist_sync::Barrier;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// More often than sleeps are judged by at a time.
const ROUNDS: usize = 20;

/// A task that is polled so often; then all sleep again.
fn polls(stage: &Stage, count: u32) {
    stage.spawn(async move {
        for _ in 1..count {
            task::yield_now().await;
        }
    });
    stage.run();
}

/// Where the kernel has no barrier a sleep is never dear.
fn has_barrier() -> bool {
    Barrier::detect() == Barrier::Process
}

#[test]
fn who_does_little_between_sleeps_sleeps_by_a_fence() {
    let stage = Stage::new(2, None, 7);
    assert_eq!(stage.scheduler.idle.is_sleep_dear(), has_barrier());
    (0..ROUNDS).for_each(|_| polls(&stage, 10));
    assert!(!stage.scheduler.idle.is_sleep_dear());
    (0..ROUNDS).for_each(|_| polls(&stage, 10_000));
    assert_eq!(stage.scheduler.idle.is_sleep_dear(), has_barrier());
}

#[test]
fn a_sleeper_is_judged_by_the_steps_of_all() {
    let stage = Stage::new(2, None, 7);
    for _ in 0..ROUNDS {
        // Whoever lies down, and however little it has done itself.
        (0..100).for_each(|_| drop(stage.spawn(async {})));
        stage.run();
    }
    let ticks = stage.players.iter().map(|player| player.worker.local.tick.get());
    assert!(ticks.clone().all(|tick| tick > 2), "both have done something");
    assert_eq!(stage.scheduler.remotes.ticks(), ticks.sum::<u32>());
}

#[test]
fn who_never_sleeps_does_not_pay_for_sleeps() {
    let stage = Stage::new(1, None, 7);
    (0..ROUNDS).for_each(|_| polls(&stage, 10));
    assert!(!stage.scheduler.idle.is_sleep_dear());
    let is_dear = Arc::new(AtomicBool::new(false));
    let at_end = is_dear.clone();
    stage.spawn(async move {
        for _ in 0..30_000 {
            task::yield_now().await;
        }
        let dear = super::stage().scheduler.idle.is_sleep_dear();
        at_end.store(dear, Ordering::Relaxed);
    });
    stage.run();
    assert_eq!(is_dear.load(Ordering::Relaxed), has_barrier());
}

/// Forks and joins so often within one step.
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
    (0..ROUNDS).for_each(|_| polls(&stage, 10));
    assert!(!stage.scheduler.idle.is_sleep_dear());
    (0..2).for_each(|_| {
        joins(&stage, 400);
        assert!(!was_silenced(&stage));
        // From here on it is counted anew.
        stage.run();
    });
    joins(&stage, 400);
    joins(&stage, 400);
    assert!(was_silenced(&stage), "nobody has gone to sleep in between");
    stage.run();
}

#[test]
fn a_nudge_is_forgotten_at_once() {
    let stage = Stage::new(1, None, 7);
    (0..ROUNDS).for_each(|_| polls(&stage, 10));
    joins(&stage, 1000);
    stage.remote(0).jobs.nudge();
    let local = &stage.players[0].worker.local;
    let is_rung = || local.with_deque(|deque| deque.attend());
    assert!(is_rung());
    joins(&stage, 1);
    assert!(!is_rung());
    stage.run();
}
