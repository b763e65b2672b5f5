//! Histograms of durations, which any thread may add to.

use crate::env::this_thread;
use crate::metrics::SharedCounter;
use crate::tuning::SHARDS;
use crossbeam_utils::CachePadded;

/// Layout: the first bucket contains durations up to 2^7 = 128 ns: shorter ones cannot be told from
/// the cost of reading the clock.
const FIRST: u32 = 7;
/// Each further bucket contains twice as much; the last but one up to 17 s, and the last has no
/// end.
pub(super) const BUCKETS: usize = 29;

/// Durations of polls or waits, in buckets that double.
pub(crate) struct Histogram {
    /// Threads that poll at the same time rarely share one.
    shards: [CachePadded<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    counts: [SharedCounter; BUCKETS],
    sum: SharedCounter,
}

/// The longest duration of a bucket, in nanoseconds; `None` if it has no end.
pub(crate) fn limit_of(bucket: usize) -> Option<u64> {
    (bucket + 1 < BUCKETS).then(|| 1 << (FIRST as usize + bucket))
}

fn bucket_of(nanos: u64) -> usize {
    let bits = u64::BITS - nanos.saturating_sub(1).leading_zeros();
    (bits.saturating_sub(FIRST) as usize).min(BUCKETS - 1)
}

impl Histogram {
    pub(super) fn new() -> Self {
        Histogram { shards: std::array::from_fn(|_| CachePadded::default()) }
    }

    pub(super) fn record(&self, nanos: u64) {
        let shard = &self.shards[this_thread() as usize % SHARDS];
        shard.counts[bucket_of(nanos)].add(1);
        shard.sum.add(nanos);
    }

    /// The number of durations in each bucket.
    pub(crate) fn counts(&self) -> [u64; BUCKETS] {
        let count = |bucket: usize| self.shards.iter().map(|s| s.counts[bucket].get()).sum();
        std::array::from_fn(count)
    }

    /// The sum of all durations.
    pub(crate) fn sum(&self) -> u64 {
        self.shards.iter().map(|shard| shard.sum.get()).fold(0, u64::wrapping_add)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// M1: a time counts in the first bucket whose limit it does not exceed.
    #[test]
    fn m1_a_time_counts_in_its_bucket() {
        for bucket in 0..BUCKETS - 1 {
            let limit = limit_of(bucket).unwrap();
            assert_eq!((bucket_of(limit), bucket_of(limit + 1)), (bucket, bucket + 1));
        }
        assert_eq!((bucket_of(0), bucket_of(u64::MAX)), (0, BUCKETS - 1));
        assert_eq!(limit_of(BUCKETS - 1), None);
        let histogram = Histogram::new();
        [0, 128, 129, u64::MAX].into_iter().for_each(|nanos| histogram.record(nanos));
        let counts = histogram.counts();
        assert_eq!((counts[0], counts[1], counts[BUCKETS - 1]), (2, 1, 1));
        assert_eq!(counts.iter().sum::<u64>(), 4);
    }
}
