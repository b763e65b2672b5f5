//! How long polls take, by buckets (M1).

use heist::runtime::{Builder, HistogramConfiguration, LogHistogram, Runtime};
use heist::task::yield_now;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn built(configure: impl Fn(&mut Builder)) -> [Runtime; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()].map(|mut builder| {
        // No spare worker polls any task: what it counts cannot be asked for.
        builder.worker_threads(2).stall_threshold(None);
        configure(&mut builder);
        builder.build().unwrap()
    })
}

/// M1: every poll is in one bucket. (No poll takes a day, so it is the first.)
#[test]
fn m1_every_poll_is_in_a_bucket() {
    let day = Duration::from_secs(24 * 3600);
    let runtimes = built(|builder| {
        let linear = HistogramConfiguration::linear(day, 3);
        builder.enable_metrics_poll_time_histogram();
        builder.metrics_poll_time_histogram_configuration(linear);
    });
    for rt in runtimes {
        let metrics = rt.metrics();
        assert!(metrics.poll_time_histogram_enabled());
        assert_eq!(metrics.poll_time_histogram_num_buckets(), 3);
        assert_eq!(metrics.poll_time_histogram_bucket_range(1), day..2 * day);
        (0..10).for_each(|_| rt.block_on(rt.spawn(yield_now())).unwrap());
        drop(rt);
        let counts = [0, 1, 2].map(|bucket| -> u64 {
            let count = |worker| metrics.poll_time_histogram_bucket_count(worker, bucket);
            (0..metrics.num_workers()).map(count).sum()
        });
        assert_eq!(counts, [20, 0, 0]);
    }
}

/// M1: nothing is counted unless it was asked for, whatever the buckets would be.
#[test]
fn m1_off_unless_asked_for() {
    let runtimes = built(|builder| {
        let log = HistogramConfiguration::log(LogHistogram::default());
        builder.metrics_poll_time_histogram_configuration(log);
    });
    for rt in runtimes {
        let metrics = rt.metrics();
        rt.block_on(rt.spawn(async {})).unwrap();
        assert!(!metrics.poll_time_histogram_enabled());
        assert_eq!(metrics.poll_time_histogram_num_buckets(), 0);
        assert_eq!(metrics.poll_time_histogram_bucket_range(5), us(0)..us(0));
        assert_eq!(metrics.poll_time_histogram_bucket_count(0, 5), 0);
    }
}

/// M1: ten buckets of 100 µs unless said otherwise; one that does not exist is named.
#[test]
fn m1_the_default_buckets() {
    let runtimes = built(|builder| {
        builder.enable_metrics_poll_time_histogram();
    });
    for rt in runtimes {
        let metrics = rt.metrics();
        assert_eq!(metrics.poll_time_histogram_num_buckets(), 10);
        assert_eq!(metrics.poll_time_histogram_bucket_range(0), us(0)..us(100));
        let end = Duration::from_nanos(u64::MAX);
        assert_eq!(metrics.poll_time_histogram_bucket_range(9), us(900)..end);
        let ask = AssertUnwindSafe(|| metrics.poll_time_histogram_bucket_count(0, 10));
        let panic = catch_unwind(ask).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.contains("poll_time_histogram_bucket_count: there is no bucket 10"));
        assert!(message.contains("says that there are 10"), "{message}");
    }
}
