//! Options for the histogram of poll times.

use super::Builder;
use crate::metrics::HistogramConfiguration;

/// # Histogram of poll times
impl Builder {
    /// Enables the histogram of poll times; see
    /// [`RuntimeMetrics::poll_time_histogram_bucket_count`].
    ///
    /// It is disabled by default, because it reads the clock twice for each poll.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .enable_metrics_poll_time_histogram()
    ///     .build()
    ///     .unwrap();
    /// let metrics = rt.metrics();
    /// rt.block_on(rt.spawn(async {})).unwrap();
    /// drop(rt);
    /// let buckets = 0..metrics.poll_time_histogram_num_buckets();
    /// let polls: u64 = buckets.map(|b| metrics.poll_time_histogram_bucket_count(0, b)).sum();
    /// assert_eq!(polls, 1);
    /// ```
    ///
    /// [`RuntimeMetrics::poll_time_histogram_bucket_count`]:
    /// crate::runtime::RuntimeMetrics::poll_time_histogram_bucket_count
    pub fn enable_metrics_poll_time_histogram(&mut self) -> &mut Self {
        self.counts_poll_times = true;
        self
    }

    /// Sets the buckets of the histogram of poll times. The default is ten buckets of 100 µs.
    ///
    /// This has an effect only with
    /// [`enable_metrics_poll_time_histogram`](Self::enable_metrics_poll_time_histogram).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::{Builder, HistogramConfiguration, LogHistogram};
    /// use std::time::Duration;
    ///
    /// let mut builder = Builder::new_multi_thread();
    /// builder.worker_threads(1).enable_metrics_poll_time_histogram();
    /// let log = LogHistogram::builder().max_value(Duration::from_secs(1)).max_error(0.1);
    /// builder.metrics_poll_time_histogram_configuration(HistogramConfiguration::log(log));
    /// let runtime = builder.build().unwrap();
    /// assert!(runtime.metrics().poll_time_histogram_enabled());
    /// ```
    pub fn metrics_poll_time_histogram_configuration(
        &mut self,
        configuration: HistogramConfiguration,
    ) -> &mut Self {
        self.poll_times = configuration;
        self
    }
}
