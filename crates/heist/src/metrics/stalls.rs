//! Counters of stalls.

use super::SharedCounter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The stalls of a runtime. They are rare, so any thread may count one.
#[derive(Debug, Default)]
pub(crate) struct Stalls {
    count: SharedCounter,
    /// In nanoseconds.
    longest: AtomicU64,
    shortages: SharedCounter,
}

/// For threads that detect stalls.
impl Stalls {
    /// Counts a stuck worker.
    pub(crate) fn began(&self) {
        self.count.add(1);
    }

    /// Notes the duration of a stall, so far or in total.
    pub(crate) fn lasted(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.longest.fetch_max(nanos, Ordering::Relaxed);
    }

    /// Counts a seat without a spare worker.
    pub(crate) fn lacked_spare(&self) {
        self.shortages.add(1);
    }
}

/// For readers.
impl Stalls {
    pub(crate) fn count(&self) -> u64 {
        self.count.get()
    }

    pub(crate) fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest.load(Ordering::Relaxed))
    }

    pub(crate) fn shortages(&self) -> u64 {
        self.shortages.get()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// M1: stalls are counted, and the longest is kept.
    #[test]
    fn m1_stalls_are_counted_and_the_longest_is_kept() {
        let stalls = Stalls::default();
        assert_eq!((stalls.count(), stalls.longest(), stalls.shortages()), (0, Duration::ZERO, 0));
        stalls.began();
        stalls.lasted(Duration::from_millis(12));
        stalls.lasted(Duration::from_millis(20));
        stalls.began();
        stalls.lasted(Duration::from_millis(13));
        stalls.lacked_spare();
        assert_eq!(stalls.longest(), Duration::from_millis(20));
        assert_eq!((stalls.count(), stalls.shortages()), (2, 1));
        stalls.lasted(Duration::MAX);
        assert_eq!(stalls.longest(), Duration::from_nanos(u64::MAX));
    }
}
