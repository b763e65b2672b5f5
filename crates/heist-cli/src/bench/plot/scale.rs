//! From figures to places in a picture.

/// A linear scale from 0.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    longest: f64,
    left: f64,
    right: f64,
}

impl Linear {
    /// A scale on which `longest` is at `right`.
    pub fn new(longest: f64, left: f64, right: f64) -> Linear {
        Linear { longest: if longest > 0.0 { longest } else { 1.0 }, left, right }
    }

    pub fn x(self, value: f64) -> f64 {
        self.left + (self.right - self.left) * (value / self.longest).clamp(0.0, 1.0)
    }

    /// Three to seven round figures, 0 first.
    pub fn ticks(self) -> Vec<f64> {
        let magnitude = 10f64.powf(self.longest.log10().floor());
        let step = [0.2, 0.5, 1.0, 2.0, 5.0]
            .map(|factor| factor * magnitude)
            .into_iter()
            .find(|step| self.longest / step <= 6.0)
            .unwrap_or(magnitude * 5.0);
        (0..).map(|tick| tick as f64 * step).take_while(|tick| *tick <= self.longest).collect()
    }
}

/// A logarithmic scale.
#[derive(Debug, Clone, Copy)]
pub struct Logarithmic {
    low: f64,
    high: f64,
    left: f64,
    right: f64,
}

impl Logarithmic {
    /// A scale with 1 and with all of `values`, and some space beside them.
    pub fn new(values: &[f64], left: f64, right: f64) -> Logarithmic {
        let low = values.iter().copied().fold(1.0, f64::min).log2().floor();
        let high = values.iter().copied().fold(1.0, f64::max).log2().ceil();
        // Never a scale without a length.
        Logarithmic { low: low.min(-1.0), high: high.max(1.0), left, right }
    }

    pub fn x(self, value: f64) -> f64 {
        let part = (value.log2() - self.low) / (self.high - self.low);
        self.left + (self.right - self.left) * part.clamp(0.0, 1.0)
    }

    /// Powers of two, no more than there is space for.
    pub fn ticks(self) -> Vec<f64> {
        let (low, high) = (self.low as i32, self.high as i32);
        let every = (high - low) / 10 + 1;
        (low..=high).filter(|power| power % every == 0).map(|power| 2f64.powi(power)).collect()
    }
}

/// A round figure: `0.5`, `250`, `40k`, `1.5M`.
pub fn label(value: f64) -> String {
    let (value, suffix) = match value {
        1e9.. => (value / 1e9, "G"),
        1e6.. => (value / 1e6, "M"),
        1e4.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_round() {
        let ticks = |longest| Linear::new(longest, 0.0, 1.0).ticks();
        assert_eq!(ticks(1.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(972.3), [0.0, 200.0, 400.0, 600.0, 800.0]);
        assert_eq!(ticks(77_807.0), [0.0, 20_000.0, 40_000.0, 60_000.0]);
        for longest in [1e-6, 0.37, 1.9, 2.5, 5.1, 9.99, 3e9] {
            assert!((3..=7).contains(&ticks(longest).len()), "{longest}: {:?}", ticks(longest));
        }
    }

    #[test]
    fn a_scale_of_nothing_has_its_bars_at_zero() {
        let scale = Linear::new(0.0, 10.0, 20.0);
        assert_eq!((scale.x(0.0), scale.ticks().first().copied()), (10.0, Some(0.0)));
    }

    #[test]
    fn twice_and_half_are_as_far_from_one() {
        let scale = Logarithmic::new(&[2.0, 0.5], 0.0, 100.0);
        assert_eq!([0.5, 1.0, 2.0].map(|value| scale.x(value)), [0.0, 50.0, 100.0]);
        assert_eq!(scale.ticks(), [0.5, 1.0, 2.0]);
        let wide = Logarithmic::new(&[1e-9, 1e9], 0.0, 100.0);
        assert!(wide.ticks().len() <= 11 && wide.ticks().contains(&1.0), "{:?}", wide.ticks());
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.6000000000000001, 250.0, 40_000.0, 1.5e6, 3e9].map(label);
        assert_eq!(labels, ["0", "0.6", "250", "40k", "1.5M", "3G"]);
    }
}
