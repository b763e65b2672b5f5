//! Histograms whose buckets grow with the durations that they count.

use super::nanos;
use std::error::Error;
use std::fmt;
use std::time::Duration;

const SHORTEST: Duration = Duration::from_nanos(100);
const LONGEST: Duration = Duration::from_secs(60);
const PRECISION: u32 = 2;
const MAX_PRECISION: u32 = 10;

/// A logarithmic division into buckets: every doubling of the duration has the same number of
/// buckets, 2 to the power of `precision`.
///
/// A bucket is never wider than the fraction 1 / 2^`precision` of the durations in it. The default
/// distinguishes durations from 100 ns to 60 s with an error of at most 25 %, in 119 buckets.
///
/// # Examples
///
/// ```
/// use heist::runtime::LogHistogram;
/// use std::time::Duration;
///
/// let histogram = LogHistogram::builder()
///     .min_value(Duration::from_micros(20))
///     .max_value(Duration::from_millis(4))
///     .precision_exact(0)
///     .build();
/// assert!(histogram.max_value() >= 4_000_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogHistogram {
    precision: u32,
    /// The first bucket holds all durations whose index is this or less.
    first: u64,
    buckets: usize,
}

impl LogHistogram {
    /// Creates a builder with the default settings.
    pub fn builder() -> LogHistogramBuilder {
        LogHistogramBuilder::default()
    }

    /// Returns the longest duration, in nanoseconds, that is distinguished from all longer ones.
    pub fn max_value(&self) -> u64 {
        self.start(self.buckets - 1)
    }

    pub(super) fn buckets(&self) -> usize {
        self.buckets
    }

    pub(super) fn bucket(&self, nanos: u64) -> u64 {
        index(nanos, self.precision).saturating_sub(self.first)
    }

    pub(super) fn start(&self, bucket: usize) -> u64 {
        if bucket == 0 { 0 } else { start(self.first + bucket as u64, self.precision) }
    }
}

impl Default for LogHistogram {
    fn default() -> Self {
        LogHistogramBuilder::default().build()
    }
}

/// The index of a duration among all that this precision distinguishes. Below twice 2^precision
/// each duration has its own; above, the leading `precision + 1` bits determine it.
fn index(nanos: u64, precision: u32) -> u64 {
    if nanos >> (precision + 1) == 0 {
        return nanos;
    }
    let doublings = nanos.ilog2() - precision;
    (u64::from(doublings) << precision) + (nanos >> doublings)
}

/// The shortest duration with this index.
fn start(index: u64, precision: u32) -> u64 {
    if index >> (precision + 1) == 0 {
        return index;
    }
    let doublings = (index >> precision) - 1;
    let leading = (1 << precision) | (index & ((1 << precision) - 1));
    leading << doublings
}

/// Builds a [`LogHistogram`].
///
/// # Examples
///
/// ```
/// use heist::runtime::LogHistogram;
///
/// let error = LogHistogram::builder().max_error(0.01).max_buckets(10).unwrap_err();
/// assert!(error.to_string().contains("buckets"));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct LogHistogramBuilder {
    precision: Option<u32>,
    shortest: Option<Duration>,
    longest: Option<Duration>,
}

impl LogHistogramBuilder {
    /// Sets the maximum relative error of a duration that is read from its bucket, such as 0.25.
    ///
    /// # Panics
    ///
    /// Panics if it is not between 0 and 1, exclusively.
    #[track_caller]
    pub fn max_error(mut self, max_error: f64) -> Self {
        assert!(
            max_error > 0.0 && max_error < 1.0,
            "LogHistogramBuilder::max_error: {max_error} is not between 0 and 1; 0.25 is a quarter"
        );
        let is_enough = |precision: &u32| 0.5_f64.powi(*precision as i32) <= max_error;
        self.precision = Some((PRECISION..MAX_PRECISION).find(is_enough).unwrap_or(MAX_PRECISION));
        self
    }

    /// Sets the precision: every doubling is divided into 2 to the power of `precision` buckets.
    ///
    /// # Panics
    ///
    /// Panics if `precision` is greater than 10.
    #[track_caller]
    pub fn precision_exact(mut self, precision: u32) -> Self {
        assert!(
            precision <= MAX_PRECISION,
            "LogHistogramBuilder::precision_exact: {precision} is above {MAX_PRECISION}"
        );
        self.precision = Some(precision);
        self
    }

    /// Sets the shortest duration that is distinguished from shorter ones.
    pub fn min_value(mut self, duration: Duration) -> Self {
        self.shortest = Some(duration);
        self
    }

    /// Sets the longest duration that is distinguished from longer ones.
    ///
    /// # Panics
    ///
    /// Panics if `duration` is 0.
    #[track_caller]
    pub fn max_value(mut self, duration: Duration) -> Self {
        assert!(!duration.is_zero(), "LogHistogramBuilder::max_value: must be above 0");
        self.longest = Some(duration);
        self
    }

    /// Builds the histogram if it has at most `max_buckets` buckets.
    ///
    /// # Errors
    ///
    /// Returns an error with the required number of buckets if it has more.
    pub fn max_buckets(
        &mut self,
        max_buckets: usize,
    ) -> Result<LogHistogram, InvalidHistogramConfiguration> {
        match self.build() {
            built if built.buckets <= max_buckets => Ok(built),
            built => Err(InvalidHistogramConfiguration::TooManyBuckets {
                required_bucket_count: built.buckets,
            }),
        }
    }

    /// Builds the histogram.
    pub fn build(&self) -> LogHistogram {
        let precision = self.precision.unwrap_or(PRECISION);
        let shortest = index(nanos(self.shortest.unwrap_or(SHORTEST)), precision);
        let longest = index(nanos(self.longest.unwrap_or(LONGEST)), precision);
        let first = shortest.saturating_sub(1);
        // One bucket for each index up to the longest time's, and one for all that is longer. The
        // highest index of all has no next.
        let most = index(u64::MAX, precision) - first + 1;
        let buckets = (longest.saturating_sub(first) + 2).min(most) as usize;
        LogHistogram { precision, first, buckets }
    }
}

impl From<LogHistogramBuilder> for LogHistogram {
    fn from(builder: LogHistogramBuilder) -> Self {
        builder.build()
    }
}

/// The error of [`LogHistogramBuilder::max_buckets`].
///
/// # Examples
///
/// ```
/// use heist::runtime::{InvalidHistogramConfiguration, LogHistogram};
///
/// let InvalidHistogramConfiguration::TooManyBuckets { required_bucket_count } =
///     LogHistogram::builder().max_buckets(2).unwrap_err();
/// assert!(required_bucket_count > 2);
/// ```
#[derive(Debug)]
pub enum InvalidHistogramConfiguration {
    /// The histogram needs more buckets than were allowed.
    TooManyBuckets {
        /// The number of buckets that it needs.
        required_bucket_count: usize,
    },
}

impl fmt::Display for InvalidHistogramConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidHistogramConfiguration::TooManyBuckets { required_bucket_count } = self;
        write!(
            f,
            "the histogram needs {required_bucket_count} buckets, more than were allowed; allow \
             them, or ask for a larger error or a smaller range"
        )
    }
}

impl Error for InvalidHistogramConfiguration {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// M1: the bounds are those that Tokio's users know.
    #[test]
    fn m1_as_many_buckets_as_it_takes() {
        let default = LogHistogram::default();
        assert_eq!(default.buckets(), 119);
        assert_eq!((default.start(1), default.start(2)), (96, 112));
        let doubling = LogHistogram::builder()
            .min_value(Duration::from_micros(20))
            .max_value(Duration::from_millis(4))
            .precision_exact(0);
        assert_eq!(doubling.build().buckets(), 10);
        assert_eq!(
            (1..4).map(|b| doubling.build().start(b)).collect::<Vec<_>>(),
            [16384, 32768, 65536]
        );
        let error = LogHistogram::builder().max_buckets(100).unwrap_err();
        assert!(error.to_string().contains("119 buckets"), "{error}");
    }
}
