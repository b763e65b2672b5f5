//! Units, and which direction is the better one.

use std::fmt;
use std::time::Duration;

/// What a bench's numbers are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Ns,
    Us,
    Ms,
    MiB,
    B,
    /// Context switches; the fewer, the better.
    Switches,
    /// System calls; the fewer, the better.
    Calls,
    /// A share of an earlier value; more is better.
    Percent,
    /// Operations per second; the name has to end in `/s`, as in `items/s`.
    Rate(&'static str),
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Us => "us",
            Unit::Ms => "ms",
            Unit::MiB => "MiB",
            Unit::B => "B",
            Unit::Switches => "csw",
            Unit::Calls => "calls",
            Unit::Percent => "%",
            Unit::Rate(name) => name,
        }
    }

    fn higher_is_better(self) -> bool {
        matches!(self, Unit::Rate(_) | Unit::Percent)
    }

    /// How many times better `heist` is than `peer`: above 1 heist wins, whatever the unit.
    ///
    /// None if there is no such number, as with a peer that needs 0 bytes.
    pub fn ratio(self, heist: f64, peer: f64) -> Option<f64> {
        let ratio = if self.higher_is_better() { heist / peer } else { peer / heist };
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }

    /// The value of `operations` that took `elapsed` in all.
    ///
    /// # Panics
    ///
    /// With a unit that is none of time: such a bench returns `Sample::Value`.
    pub fn of_time(self, elapsed: Duration, operations: u64) -> f64 {
        let seconds = elapsed.as_secs_f64();
        let operations = operations as f64;
        match self {
            Unit::Ns => seconds * 1e9 / operations,
            Unit::Us => seconds * 1e6 / operations,
            Unit::Ms => seconds * 1e3 / operations,
            Unit::Rate(_) => operations / seconds,
            Unit::MiB | Unit::B | Unit::Switches | Unit::Calls | Unit::Percent => {
                panic!("Unit::of_time: {self} is no unit of time; return Sample::Value instead")
            }
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_is_better_for_all_that_is_spent() {
        let spent = [Unit::Ns, Unit::Us, Unit::Ms, Unit::MiB, Unit::B, Unit::Switches, Unit::Calls];
        for unit in spent {
            assert_eq!(unit.ratio(10.0, 25.0), Some(2.5), "{unit}");
            assert_eq!(unit.ratio(25.0, 10.0), Some(0.4), "{unit}");
        }
    }

    #[test]
    fn higher_is_better_for_rates_and_for_what_is_left() {
        for unit in [Unit::Rate("items/s"), Unit::Percent] {
            assert_eq!(unit.ratio(25.0, 10.0), Some(2.5), "{unit}");
            assert_eq!(unit.ratio(10.0, 25.0), Some(0.4), "{unit}");
        }
    }

    #[test]
    fn zero_has_no_ratio() {
        assert_eq!(Unit::B.ratio(0.0, 10.0), None);
        assert_eq!(Unit::B.ratio(10.0, 0.0), None);
        assert_eq!(Unit::B.ratio(0.0, 0.0), None);
    }

    #[test]
    fn time_is_reported_per_operation_and_rates_per_second() {
        let elapsed = Duration::from_millis(20);
        assert_eq!(Unit::Ns.of_time(elapsed, 1000).round(), 20_000.0);
        assert_eq!(Unit::Us.of_time(elapsed, 1000).round(), 20.0);
        assert_eq!(Unit::Ms.of_time(elapsed, 10).round(), 2.0);
        assert_eq!(Unit::Rate("items/s").of_time(elapsed, 1000).round(), 50_000.0);
    }
}
