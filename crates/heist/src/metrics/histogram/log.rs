//! Buckets that grow with the time that they stand for.

use super::nanos;
use std::error::Error;
use std::fmt;
use std::time::Duration;

const SHORTEST: Duration = Duration::from_nanos(100);
const LONGEST: Duration = Duration::from_secs(60);
const PRECISION: u32 = 2;
const MAX_PRECISION: u32 = 10;

/// A division into buckets in which each time that doubles takes the same number of them: 2 to
/// the power of `precision`. A bucket is then never wider than that fraction of its times.
///
/// Unless said otherwise it tells times from 100 ns to 60 s apart, with an error of at most 25 %,
/// in 119 buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogHistogram {
    precision: u32,
    /// The first bucket holds all times whose index is this or less.
    first: u64,
    buckets: usize,
}

impl LogHistogram {
    /// What may be said about it.
    pub fn builder() -> LogHistogramBuilder {
        LogHistogramBuilder::default()
    }

    /// The longest time that is told apart from all that are longer, in nanoseconds.
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

/// The place of a time among all that this precision tells apart: below twice 2^precision each
/// has its own; above, the leading `precision + 1` bits say which it is.
fn index(nanos: u64, precision: u32) -> u64 {
    if nanos >> (precision + 1) == 0 {
        return nanos;
    }
    let doublings = nanos.ilog2() - precision;
    (u64::from(doublings) << precision) + (nanos >> doublings)
}

/// The shortest time with this index.
fn start(index: u64, precision: u32) -> u64 {
    if index >> (precision + 1) == 0 {
        return index;
    }
    let doublings = (index >> precision) - 1;
    let leading = (1 << precision) | (index & ((1 << precision) - 1));
    leading << doublings
}

/// Makes a [`LogHistogram`].
#[derive(Debug, Clone, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct LogHistogramBuilder {
    precision: Option<u32>,
    shortest: Option<Duration>,
    longest: Option<Duration>,
}

impl LogHistogramBuilder {
    /// How far off a time may be that is read from its bucket: 0.25 for a quarter.
    ///
    /// # Panics
    /// If it is not between 0 and 1.
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

    /// Into how many buckets a doubling is divided: 2 to the power of `precision`.
    ///
    /// # Panics
    /// If it is above 10.
    #[track_caller]
    pub fn precision_exact(mut self, precision: u32) -> Self {
        assert!(
            precision <= MAX_PRECISION,
            "LogHistogramBuilder::precision_exact: {precision} is above {MAX_PRECISION}"
        );
        self.precision = Some(precision);
        self
    }

    /// The shortest time that is to be told apart from shorter ones.
    pub fn min_value(mut self, duration: Duration) -> Self {
        self.shortest = Some(duration);
        self
    }

    /// The longest time that is to be told apart from longer ones.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn max_value(mut self, duration: Duration) -> Self {
        assert!(!duration.is_zero(), "LogHistogramBuilder::max_value: must be above 0");
        self.longest = Some(duration);
        self
    }

    /// Builds it, if so many buckets are enough.
    ///
    /// # Errors
    /// If they are not.
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

    /// Builds it.
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

/// Why a histogram cannot be made.
#[derive(Debug)]
pub enum InvalidHistogramConfiguration {
    /// It would take more buckets than were allowed.
    TooManyBuckets {
        /// How many it would take.
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
