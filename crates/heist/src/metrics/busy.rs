//! For how long a worker was not asleep.

use crate::env::Clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const BUSY: u64 = 1 << 63;
/// How often a reader looks again when the worker falls asleep or wakes up under its eyes.
const LOOKS: u32 = 8;

/// The time that a worker has been busy, in one word, so that no reader sees half a change.
///
/// | bit 63 | bits 0..63: nanoseconds |
/// |---|---|
/// | 0: asleep, or on no thread | for how long it was busy |
/// | 1: busy | for how long it was not, since `epoch` |
///
/// While it is busy the word does not change: the time goes by for the reader.
#[derive(Debug)]
pub(super) struct Busy {
    word: AtomicU64,
    epoch: Clock,
}

/// Of a worker that is on no thread yet.
impl Default for Busy {
    fn default() -> Self {
        Busy { word: AtomicU64::new(0), epoch: Clock::now() }
    }
}

impl Busy {
    /// By the worker alone, as [`end`](Self::end).
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

    /// Up to now, whoever asks.
    pub(super) fn total(&self) -> Duration {
        let mut word = self.word.load(Ordering::Relaxed);
        let mut nanos = word & !BUSY;
        for _ in 0..LOOKS {
            nanos = word & !BUSY;
            if word & BUSY == 0 {
                break;
            }
            nanos = self.age(Clock::now()).saturating_sub(nanos);
            // If it has changed, the worker may have slept for a part of that.
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

    /// M1: the times between a begin and an end count, the others do not.
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

    /// M1: a poll that goes on and on shows while it does.
    #[test]
    fn m1_time_goes_by_while_busy() {
        let busy = Busy::default();
        busy.begin(Clock::now());
        let first = busy.total();
        while busy.total() == first {}
        assert!(busy.total() > first);
    }
}
