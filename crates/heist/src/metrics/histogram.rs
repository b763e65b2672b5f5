//! Histograms of poll times.

mod log;

pub use log::{InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder};

use super::Counter;
use crate::env::Clock;
use std::ops::Range;
use std::time::Duration;

/// Determines the buckets of the histogram of poll times; see
/// [`Builder::metrics_poll_time_histogram_configuration`].
///
/// # Examples
///
/// ```
/// use heist::runtime::{HistogramConfiguration, LogHistogram};
/// use std::time::Duration;
///
/// let linear = HistogramConfiguration::linear(Duration::from_micros(50), 20);
/// let log = HistogramConfiguration::log(LogHistogram::default());
/// # _ = (linear, log);
/// ```
///
/// [`Builder::metrics_poll_time_histogram_configuration`]:
/// crate::runtime::Builder::metrics_poll_time_histogram_configuration
#[derive(Debug, Clone)]
pub struct HistogramConfiguration(Scale);

#[derive(Debug, Clone, Copy)]
enum Scale {
    Linear { bucket_nanos: u64, buckets: usize },
    Log(LogHistogram),
}

impl HistogramConfiguration {
    /// Creates buckets of equal width. The last one also counts all longer durations.
    ///
    /// # Panics
    ///
    /// Panics if `bucket_width` or `num_buckets` is 0.
    #[track_caller]
    pub fn linear(bucket_width: Duration, num_buckets: usize) -> Self {
        assert!(
            !bucket_width.is_zero() && num_buckets > 0,
            "HistogramConfiguration::linear: {num_buckets} buckets of {bucket_width:?} hold \
             nothing; both must be above 0"
        );
        Self(Scale::Linear { bucket_nanos: nanos(bucket_width), buckets: num_buckets })
    }

    /// Creates buckets whose width grows with the durations that they count.
    pub fn log(configuration: impl Into<LogHistogram>) -> Self {
        Self(Scale::Log(configuration.into()))
    }

    pub(crate) fn buckets(&self) -> usize {
        match self.0 {
            Scale::Linear { buckets, .. } => buckets,
            Scale::Log(log) => log.buckets(),
        }
    }

    /// The range of a bucket in nanoseconds; the last one has no end.
    fn range(&self, bucket: usize) -> Range<u64> {
        let start = self.start(bucket);
        let end = if bucket + 1 < self.buckets() { self.start(bucket + 1) } else { u64::MAX };
        start..end
    }

    fn start(&self, bucket: usize) -> u64 {
        match self.0 {
            Scale::Linear { bucket_nanos, .. } => bucket_nanos.saturating_mul(bucket as u64),
            Scale::Log(log) => log.start(bucket),
        }
    }

    fn bucket(&self, nanos: u64) -> usize {
        let bucket = match self.0 {
            Scale::Linear { bucket_nanos, .. } => nanos / bucket_nanos,
            Scale::Log(log) => log.bucket(nanos),
        };
        usize::try_from(bucket).unwrap_or(usize::MAX).min(self.buckets() - 1)
    }
}

/// Ten buckets of 100 µs each.
impl Default for HistogramConfiguration {
    fn default() -> Self {
        Self::linear(Duration::from_micros(100), 10)
    }
}

/// Counts the polls of a worker by their duration. Reads the clock twice per poll.
#[derive(Debug)]
pub(crate) struct Histogram {
    configuration: HistogramConfiguration,
    counts: Box<[Counter]>,
}

impl Histogram {
    pub(super) fn new(configuration: &HistogramConfiguration) -> Self {
        let counts = (0..configuration.buckets()).map(|_| Counter::default()).collect();
        Histogram { configuration: configuration.clone(), counts }
    }

    /// Runs a poll and counts it.
    pub(crate) fn time<R>(&self, poll: impl FnOnce() -> R) -> R {
        let begun = Clock::now();
        let polled = poll();
        self.record(Clock::now().since(begun));
        polled
    }

    fn record(&self, time: Duration) {
        self.counts[self.configuration.bucket(nanos(time))].add(1);
    }

    /// The number of polls in a bucket. Panics if there is no such bucket, as does range().
    pub(crate) fn count(&self, bucket: usize) -> u64 {
        self.counts[bucket].get()
    }

    pub(crate) fn buckets(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn range(&self, bucket: usize) -> Range<Duration> {
        let Range { start, end } = self.configuration.range(bucket);
        Duration::from_nanos(start)..Duration::from_nanos(end)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// M1: whatever the buckets, they leave no gap, and a time lies in the bucket that it counts
    /// for.
    #[test]
    fn m1_a_time_counts_in_its_bucket() {
        let us = Duration::from_micros;
        let log = |precision| LogHistogram::builder().precision_exact(precision).build();
        let configurations = [
            HistogramConfiguration::default(),
            HistogramConfiguration::linear(us(7), 1),
            HistogramConfiguration::log(LogHistogram::default()),
            HistogramConfiguration::log(log(0)),
            HistogramConfiguration::log(log(10)),
        ];
        for configuration in configurations {
            let (mut end, last) = (0, configuration.buckets() - 1);
            for bucket in 0..=last {
                let range = configuration.range(bucket);
                assert_eq!(range.start, end);
                assert!(range.start < range.end, "{range:?}");
                assert_eq!(configuration.bucket(range.start), bucket);
                assert_eq!(configuration.bucket(range.end - 1), bucket);
                end = range.end;
            }
            assert_eq!(end, u64::MAX);
            assert_eq!(configuration.bucket(u64::MAX), last);
        }
    }

    /// M1: what is recorded is counted, each time once.
    #[test]
    fn m1_polls_are_counted_by_their_time() {
        let us = Duration::from_micros;
        let histogram = Histogram::new(&HistogramConfiguration::linear(us(10), 3));
        for time in [us(0), us(9), us(10), us(19), us(19), us(20), us(1_000_000)] {
            histogram.record(time);
        }
        let counts: Vec<_> = (0..3).map(|bucket| histogram.count(bucket)).collect();
        assert_eq!(counts, [2, 3, 2]);
        assert_eq!(histogram.range(1), us(10)..us(20));
    }
}
