//! How long things took.

use serde::Serialize;

/// Nanoseconds, in steps of 1, 2 and 5, from 100 ns to 10 s.
const BOUNDS: [u64; 25] = bounds();

const fn bounds() -> [u64; 25] {
    let steps = [1, 2, 5];
    let mut bounds = [0; 25];
    let mut index = 0;
    let mut decade = 100;
    while index < bounds.len() {
        bounds[index] = steps[index % 3] * decade;
        if index % 3 == 2 {
            decade *= 10;
        }
        index += 1;
    }
    bounds
}

/// A count for each bound, and one for what is longer.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    counts: [u64; BOUNDS.len() + 1],
}

/// The upper bound of the bar, whose lower bound is that of the bar before; 0 means no bound. And
/// how many took that long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Bar(pub(super) u64, pub(super) u64);

impl Histogram {
    pub(super) fn add(&mut self, nanos: u64) {
        self.counts[BOUNDS.partition_point(|bound| *bound < nanos)] += 1;
    }

    /// The bars from the first non-empty bucket to the last.
    pub(super) fn bars(&self) -> Vec<Bar> {
        let filled = |count: &u64| *count > 0;
        let Some(first) = self.counts.iter().position(filled) else { return Vec::new() };
        let last = self.counts.iter().rposition(filled).unwrap_or(first);
        let bar = |index| Bar(BOUNDS.get(index).copied().unwrap_or(0), self.counts[index]);
        (first..=last).map(bar).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_bar() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.bars(), []);
        let times = [150, 200, 201, 1000, 60_000_000_000];
        times.into_iter().for_each(|nanos| histogram.add(nanos));
        let bars = histogram.bars();
        assert_eq!(bars[..4], [Bar(200, 2), Bar(500, 1), Bar(1000, 1), Bar(2000, 0)]);
        assert_eq!(bars.last(), Some(&Bar(0, 1)));
        assert_eq!(BOUNDS[24], 10_000_000_000);
    }
}
