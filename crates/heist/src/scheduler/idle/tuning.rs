//! What costs less: a fence in each submit, or a call of the kernel in each sleep.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// Sleeps are judged by at least so many at a time. Guessed.
const SLEEPS: u32 = 8;
/// If workers come less far for each sleep, in ticks, the fences cost less. A call costs as much as some thousand of them, and interrupts others. Guessed.
const FEW: u32 = 1024;
/// If they come further the calls do. What lies between leaves it as it is: a change costs a call. Guessed.
const MANY: u32 = 4096;

/// Two ticks of a worker are a step, and stand for a submit: most steps run a task that somebody has submitted. The pushes of jobs are not counted, as
/// their bells see to themselves. All Relaxed, and none of a model's: either way is right, and this is about which is cheaper.
pub(super) struct Tuning {
    /// How often a worker has gone to sleep. It wraps around.
    sleeps: AtomicU32,
    /// The ticks of all when that was judged last.
    judged_at: AtomicU32,
    /// So many sleeps are judged by at a time: when a program comes to a pause all its workers lie down, one after the other.
    sleeps_at_a_time: u32,
}

/// What a worker that does not sleep knows of those that do.
#[derive(Default)]
pub(in crate::scheduler) struct Awake {
    /// How often somebody had gone to sleep when it looked last.
    sleeps: Cell<u32>,
    /// How far it has come since then, in ticks.
    ticks: Cell<u32>,
}

impl Tuning {
    pub(super) fn new(workers: u32) -> Self {
        let (sleeps, judged_at) = Default::default();
        Tuning { sleeps, judged_at, sleeps_at_a_time: SLEEPS.max(2 * workers) }
    }

    pub(super) fn sleeps(&self) -> u32 {
        self.sleeps.load(Ordering::Relaxed)
    }

    /// A worker goes to sleep. Whether submits should run a fence, if there is anything to say about that; `ticks` are those of all workers together.
    pub(super) fn judge_sleep(&self, ticks: impl FnOnce() -> u32) -> Option<bool> {
        let sleeps = self.sleeps.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if sleeps % self.sleeps_at_a_time != 0 {
            return None;
        }
        let now = ticks();
        let passed = now.wrapping_sub(self.judged_at.swap(now, Ordering::Relaxed));
        // Who was slow to judge has been overtaken.
        let passed = u32::try_from(passed as i32).ok()?;
        match passed / self.sleeps_at_a_time {
            ..FEW => Some(true),
            FEW..=MANY => None,
            _ => Some(false),
        }
    }

    /// Whether `awake`, who has come so much further, has come too far since anybody went to sleep to wait for a judgement.
    pub(super) fn is_sleepless(&self, awake: &Awake, ticks: u32) -> bool {
        let sleeps = self.sleeps();
        let is_first = awake.sleeps.replace(sleeps) != sleeps;
        let so_far = if is_first { 0 } else { awake.ticks.get().saturating_add(ticks) };
        awake.ticks.set(so_far);
        so_far > SLEEPS * MANY
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// What is said when so many have lain down, who have come so far for each sleep; before that nothing is.
    fn judge(tuning: &Tuning, ticks: &mut u32, per_sleep: u32) -> Option<bool> {
        for _ in 1..tuning.sleeps_at_a_time {
            *ticks = ticks.wrapping_add(per_sleep);
            assert_eq!(tuning.judge_sleep(|| unreachable!("one of many judges")), None);
        }
        *ticks = ticks.wrapping_add(per_sleep);
        tuning.judge_sleep(|| *ticks)
    }

    #[test]
    fn few_ticks_for_each_sleep_are_worth_a_fence_each() {
        let (tuning, mut ticks) = (Tuning::new(2), 0);
        // They wrap around.
        while ticks < u32::MAX / 2 {
            judge(&tuning, &mut ticks, 1 << 20);
        }
        assert_eq!(judge(&tuning, &mut ticks, FEW - 1), Some(true));
        assert_eq!(judge(&tuning, &mut ticks, MANY + 1), Some(false));
        assert_eq!(judge(&tuning, &mut ticks, MANY), None, "in between it stays");
    }

    #[test]
    fn a_pause_is_judged_as_a_whole() {
        let tuning = Tuning::new(16);
        let mut said = Vec::new();
        for pause in 1..=8 {
            // Who lies down last has done nothing since the others did.
            said.extend((0..16).filter_map(|_| tuning.judge_sleep(|| pause * 200_000)));
        }
        assert_eq!(said, [false; 4]);
    }

    #[test]
    fn who_is_slow_to_judge_says_nothing() {
        let tuning = Tuning::new(1);
        assert_eq!(judge(&tuning, &mut 1500, 0), Some(true));
        assert_eq!(judge(&tuning, &mut 1000, 0), None);
    }

    #[test]
    fn who_is_awake_for_long_among_others_who_are_does_not_wait_for_sleeps() {
        let (tuning, awake) = (Tuning::new(1), Awake::default());
        let enough = SLEEPS * MANY;
        for _ in 0..3 {
            tuning.judge_sleep(|| 0);
            assert!(!tuning.is_sleepless(&awake, u32::MAX), "somebody has slept");
            assert!(!tuning.is_sleepless(&awake, enough));
            assert!(tuning.is_sleepless(&awake, 1));
            assert!(tuning.is_sleepless(&awake, u32::MAX));
        }
    }
}
