//! How long a worker was awake.

use crate::env::Clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const BUSY: u64 = 1 << 63;
/// How often a reader retries if the worker falls asleep or wakes up meanwhile.
const RETRIES: u32 = 8;

/// The time that a worker has been awake, in one word, so that readers never see half a change.
///
/// | bit 63 | bits 0..63: nanoseconds |
/// |---|---|
/// | 0: asleep, or on no thread | for how long it was busy |
/// | 1: busy | for how long it was not, since `epoch` |
///
/// While the worker is awake the word does not change; readers subtract it from the current time.
#[derive(Debug)]
pub(super) struct Busy {
    word: AtomicU64,
    epoch: Clock,
}

/// The state of a worker that has no thread yet.
impl Default for Busy {
    fn default() -> Self {
        Busy { word: AtomicU64::new(0), epoch: Clock::now() }
    }
}

impl Busy {
    /// Called only by the worker, like [`end`](Self::end).
    pub(super) fn begin(&self, now: Clock) {
        let was_busy = self.word.load(Ordering::Relaxed) & !BUSY;
        let was_not = self.age(now).saturating_sub(was_busy);
        self.word.store(BUSY | was_not, Ordering::Relaxed);
    }

    pub(super) fn end(&self, now: Clock) {
        let was_not = self.word.load(Ordering::Relaxed) & !BUSY;
        self.word.store(self.age(now).saturating_sub(was_not) & !BUSY, Ordering::Relaxed);
    }

    pub(super) fn is_going_on(&self) -> bool {
        self.word.load(Ordering::Relaxed) & BUSY != 0
    }

    /// The time up to now, for any thread.
    pub(super) fn total(&self) -> Duration {
        let mut word = self.word.load(Ordering::Relaxed);
        let mut nanos = word & !BUSY;
        for _ in 0..RETRIES {
            nanos = word & !BUSY;
            if word & BUSY == 0 {
                break;
            }
            nanos = self.age(Clock::now()).saturating_sub(nanos);
            // If the word has changed, the worker may have slept for a part of that time.
            let before = std::mem::replace(&mut word, self.word.load(Ordering::Relaxed));
            if word == before {
                break;
            }
        }
        Duration::from_nanos(nanos)
    }

    fn age(&self, now: Clock) -> u64 {
        u64::try_from(now.since(self.epoch).as_nanos()).unwrap_or(u64::MAX) & !BUSY
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn at(busy: &Busy, nanos: u64) -> Clock {
        busy.epoch.plus(Duration::from_nanos(nanos))
    }

    /// M1: only the times between a begin and an end count.
    #[test]
    fn m1_only_busy_time_counts() {
        let busy = Busy::default();
        assert_eq!(busy.total(), Duration::ZERO);
        busy.begin(at(&busy, 100));
        busy.end(at(&busy, 130));
        assert_eq!(busy.total(), Duration::from_nanos(30));
        busy.begin(at(&busy, 1_000));
        busy.end(at(&busy, 1_005));
        assert_eq!(busy.total(), Duration::from_nanos(35));
    }

    /// M1: a long poll is visible while it lasts.
    #[test]
    fn m1_time_goes_by_while_busy() {
        let busy = Busy::default();
        busy.begin(Clock::now());
        let first = busy.total();
        while busy.total() == first {}
        assert!(busy.total() > first);
    }
}
