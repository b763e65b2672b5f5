//! What costs less: a fence in each submit, or a call of the kernel in each sleep.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// Sleeps are judged by so many at a time: when a program comes to a pause its workers lie down one after the other.
const SLEEPS: u32 = 8;
/// If workers come less far for each sleep, in ticks, the fences cost less. A call costs as much as some thousand of them, and interrupts others. Guessed.
const FEW: u32 = 1024;
/// If they come further the calls do. What lies between leaves it as it is: a change costs a call. Guessed.
const MANY: u32 = 4096;

/// Two ticks of a worker are a step, and stand for a submit: most steps run a task that somebody has submitted. Jobs are not counted, as their bells see to
/// themselves. All Relaxed, and none of a model's: either way is right, and this is about which is cheaper.
#[derive(Default)]
pub(super) struct Tuning {
    /// How often a worker has gone to sleep. It wraps around.
    sleeps: AtomicU32,
    /// The ticks of all when that was judged last.
    judged_at: AtomicU32,
}

/// What a worker that does not sleep knows of those that do.
#[derive(Default)]
pub(in crate::scheduler) struct Awake {
    /// How often somebody had gone to sleep when it looked last.
    sleeps: Cell<u32>,
    /// Its tick when it first saw that.
    since: Cell<u32>,
}

impl Tuning {
    pub(super) fn sleeps(&self) -> u32 {
        self.sleeps.load(Ordering::Relaxed)
    }

    /// A worker goes to sleep. Whether submits should run a fence, if there is anything to say about that; `ticks` are those of all workers together.
    pub(super) fn judge_sleep(&self, ticks: impl FnOnce() -> u32) -> Option<bool> {
        let sleeps = self.sleeps.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if sleeps % SLEEPS != 0 {
            return None;
        }
        let now = ticks();
        match now.wrapping_sub(self.judged_at.swap(now, Ordering::Relaxed)) / SLEEPS {
            ..FEW => Some(true),
            FEW..=MANY => None,
            _ => Some(false),
        }
    }

    /// Whether `awake`, at this tick, has come too far since anybody went to sleep to wait for a judgement.
    pub(super) fn is_sleepless(&self, awake: &Awake, tick: u32) -> bool {
        let sleeps = self.sleeps();
        if awake.sleeps.replace(sleeps) != sleeps {
            awake.since.set(tick);
        }
        tick.wrapping_sub(awake.since.get()) > SLEEPS * MANY
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn few_ticks_for_each_sleep_are_worth_a_fence_each() {
        let tuning = Tuning::default();
        // As if it had wrapped around.
        let mut ticks = u32::MAX - 1000;
        let mut judge = |per_sleep: u32| {
            let judged = (0..SLEEPS).map(|_| {
                ticks = ticks.wrapping_add(per_sleep);
                tuning.judge_sleep(|| ticks)
            });
            judged.fold((None, 0), |(_, silent), said| (said, silent + u32::from(said.is_none())))
        };
        judge(0);
        assert_eq!(judge(FEW - 1), (Some(true), SLEEPS - 1), "one of many judges");
        assert_eq!(judge(MANY + 1), (Some(false), SLEEPS - 1));
        assert_eq!(judge(MANY), (None, SLEEPS), "in between it stays");
    }

    #[test]
    fn who_is_awake_for_long_among_others_who_are_does_not_wait_for_sleeps() {
        let (tuning, awake) = (Tuning::default(), Awake::default());
        tuning.judge_sleep(|| 0);
        let enough = SLEEPS * MANY;
        assert!(!tuning.is_sleepless(&awake, enough), "somebody slept meanwhile");
        assert!(!tuning.is_sleepless(&awake, 2 * enough));
        assert!(tuning.is_sleepless(&awake, 2 * enough + 1));
        tuning.judge_sleep(|| 0);
        assert!(!tuning.is_sleepless(&awake, 3 * enough), "somebody slept again");
    }
}
