//! Something that is counted along the trace, in a fixed number of steps.

/// A chart is hardly wider in pixels.
const BUCKETS: usize = 400;

#[derive(Debug, Clone)]
pub(super) struct OverTime {
    start: u64,
    width: u64,
    values: Vec<u64>,
}

impl OverTime {
    pub(super) fn new(start: u64, end: u64) -> Self {
        let width = ((end - start) / BUCKETS as u64 + 1).max(1);
        let buckets = (end - start) / width + 1;
        OverTime { start, width, values: vec![0; buckets as usize] }
    }

    fn bucket(&self, at: u64) -> usize {
        let bucket = at.saturating_sub(self.start) / self.width;
        usize::try_from(bucket).unwrap_or(usize::MAX).min(self.values.len() - 1)
    }

    pub(super) fn add_one(&mut self, at: u64) {
        let bucket = self.bucket(at);
        self.values[bucket] += 1;
    }

    /// Adds to each bucket how much of the span lies in it, in nanoseconds.
    pub(super) fn add_span(&mut self, start: u64, end: u64) {
        let first = self.bucket(start);
        let last = self.bucket(end);
        for bucket in first..=last {
            let bucket_start = self.start + bucket as u64 * self.width;
            let from = start.max(bucket_start);
            let until = if bucket == last { end } else { bucket_start + self.width };
            self.values[bucket] += until.saturating_sub(from);
        }
    }

    pub(super) fn width(&self) -> u64 {
        self.width
    }

    pub(super) fn total(&self) -> u64 {
        self.values.iter().sum()
    }

    pub(super) fn values(self) -> Vec<u64> {
        self.values
    }

    /// How much of each bucket is filled with spans.
    pub(super) fn permille(&self) -> Vec<u64> {
        let of_bucket = |value: &u64| (value.saturating_mul(1000) / self.width).min(1000);
        self.values.iter().map(of_bucket).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_divided_among_the_buckets_it_lies_in() {
        let mut busy = OverTime::new(1000, 1000 + 3999);
        assert_eq!((busy.width(), busy.values.len()), (10, 400));
        busy.add_span(1005, 1032);
        busy.add_span(4995, 4999);
        assert_eq!(busy.values[..5], [5, 10, 10, 2, 0]);
        assert_eq!(busy.permille()[..4], [500, 1000, 1000, 200]);
        assert_eq!(busy.total(), 31);
    }

    #[test]
    fn a_trace_of_one_moment_has_one_bucket() {
        let mut polls = OverTime::new(7, 7);
        polls.add_one(7);
        polls.add_span(7, 7);
        assert_eq!(polls.values(), [1]);
    }
}
