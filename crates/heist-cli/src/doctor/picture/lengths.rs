//! How long polls are, in a few numbers.

use std::time::Duration;

/// The longest are left out: a worker that loses its core in one of many short polls, none of which
/// was timed, makes all of them look long. Guessed.
const KEPT: f64 = 0.75;

/// Polls by their length, a column for each power of two of nanoseconds; what takes minutes is in
/// the last.
#[derive(Debug, Clone)]
pub(in crate::doctor) struct Lengths {
    columns: [Column; Lengths::COLUMNS],
}

#[derive(Debug, Clone, Copy, Default)]
struct Column {
    polls: u64,
    nanos: u64,
}

impl Default for Lengths {
    fn default() -> Self {
        Lengths { columns: [Column::default(); Lengths::COLUMNS] }
    }
}

impl Lengths {
    const COLUMNS: usize = 40;

    pub(super) fn add(&mut self, length: Duration) {
        let nanos = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        let column = nanos.max(1).ilog2() as usize;
        let column = &mut self.columns[column.min(Self::COLUMNS - 1)];
        column.polls += 1;
        column.nanos = column.nanos.saturating_add(nanos);
    }

    /// The mean of three quarters of them, the shorter ones.
    pub(in crate::doctor) fn typical(&self) -> Duration {
        let polls: u64 = self.columns.iter().map(|column| column.polls).sum();
        let kept = (polls as f64 * KEPT).ceil();
        let (mut left, mut nanos) = (kept, 0.0);
        for column in self.columns.iter().filter(|column| column.polls > 0) {
            let taken = left.min(column.polls as f64);
            nanos += column.nanos as f64 * taken / column.polls as f64;
            left -= taken;
        }
        Duration::from_nanos((nanos / kept.max(1.0)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typical(lengths: impl IntoIterator<Item = u64>) -> u64 {
        let mut all = Lengths::default();
        lengths.into_iter().for_each(|nanos| all.add(Duration::from_nanos(nanos)));
        all.typical().as_nanos() as u64
    }

    #[test]
    fn the_longest_quarter_does_not_count() {
        assert_eq!(typical([]), 0);
        assert_eq!(typical([0]), 0);
        assert_eq!(typical([700]), 700);
        assert_eq!(typical([100, 100, 100, 4_000_000]), 100);
        assert_eq!(typical([100, 100, 4000, 4000]), 1400);
    }
}
