//! Order statistics of one side's samples.

/// Median and spread. The mean is left out on purpose: on a shared machine one descheduled
/// sample moves it, and says nothing about the code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stats {
    /// As many lie above as below.
    pub median: f64,
    /// One in ten lies below.
    pub p10: f64,
    /// One in ten lies above.
    pub p90: f64,
    /// How many there are.
    pub samples: usize,
}

impl Stats {
    /// Those of the samples, which may have any order.
    ///
    /// # Panics
    /// Without samples.
    pub fn of(samples: &[f64]) -> Self {
        assert!(!samples.is_empty(), "Stats::of: needs at least one sample");
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Stats {
            median: percentile(&sorted, 50.0),
            p10: percentile(&sorted, 10.0),
            p90: percentile(&sorted, 90.0),
            samples: sorted.len(),
        }
    }
}

/// Interpolates between the two nearest ranks, so that few samples do not collapse p10 and
/// p90 into minimum and maximum.
///
/// # Panics
/// Without samples.
pub fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let rank = percent / 100.0 * (sorted.len() - 1) as f64;
    let below = sorted[rank.floor() as usize];
    let above = sorted[rank.ceil() as usize];
    below + (above - below) * rank.fract()
}

/// None without values: there is no such mean.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    Some((logs / values.len() as f64).exp())
}

/// Where a median lies that was estimated by samples: in 95 of 100 such experiments it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The confidence interval of the median of the distribution, by the sign test. The only
    /// assumption is that each value lies below the median with a probability of one half.
    ///
    /// None with fewer than six values: even the lowest and the highest are not sure enough then.
    pub fn of_median(values: &[f64]) -> Option<Self> {
        let outside = outside(values.len())?;
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Interval { low: sorted[outside], high: sorted[values.len() - 1 - outside] })
    }
}

/// The number of values that can be left out on either side: the maximum for which the median lies
/// outside with a probability of at most 5 %.
fn outside(values: usize) -> Option<usize> {
    let count = values as f64;
    // Of exactly `below` values below the median; as a logarithm, because it may be too small for a
    // number.
    let mut chance = -count * 2f64.ln();
    let mut chances = 0.0;
    let mut outside = None;
    for below in 0..values {
        chances += 2.0 * chance.exp();
        if chances > 0.05 {
            break;
        }
        outside = Some(below);
        chance += ((count - below as f64) / (below as f64 + 1.0)).ln();
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The usual table of the sign test.
    #[test]
    fn an_interval_leaves_out_what_the_sign_test_does() {
        let found = [5, 6, 8, 9, 12, 20, 41, 100, 2000].map(outside);
        let ends = [0, 0, 1, 2, 5, 13, 39, 955].map(Some);
        assert_eq!((found[0], &found[1..]), (None, &ends[..]));
    }

    #[test]
    fn an_interval_lies_around_the_median() {
        let values: Vec<f64> = (0..=40).rev().map(f64::from).collect();
        assert_eq!(Interval::of_median(&values), Some(Interval { low: 13.0, high: 27.0 }));
        assert_eq!(Interval::of_median(&values[..5]), None);
    }

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(Stats::of(&[3.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Stats::of(&[4.0, 1.0, 3.0, 2.0]).median, 2.5);
    }

    #[test]
    fn one_sample_is_all_of_its_percentiles() {
        let stats = Stats::of(&[7.0]);
        assert_eq!(stats, Stats { median: 7.0, p10: 7.0, p90: 7.0, samples: 1 });
    }

    #[test]
    fn percentiles_of_a_ramp() {
        let ramp: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let stats = Stats::of(&ramp);
        assert_eq!((stats.p10, stats.median, stats.p90), (10.0, 50.0, 90.0));
        assert_eq!(stats.samples, 101);
    }

    #[test]
    fn percentiles_interpolate_between_ranks() {
        let stats = Stats::of(&[0.0, 10.0]);
        assert_eq!((stats.p10, stats.median, stats.p90), (1.0, 5.0, 9.0));
    }

    #[test]
    fn an_outlier_does_not_move_the_median() {
        assert_eq!(Stats::of(&[1.0, 1.0, 1.0, 1.0, 1e9]).median, 1.0);
    }

    #[test]
    fn geometric_mean_treats_twice_and_half_alike() {
        assert_eq!(geometric_mean(&[2.0, 0.5]), Some(1.0));
        assert_eq!(geometric_mean(&[]), None);
    }
}
