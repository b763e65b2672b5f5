//! Work of a given length: a number of steps, the same for all sides, each of which needs the
//! result of the one before.

use std::fmt;
use std::hint::black_box;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The number of steps that take a given time on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spin {
    steps: u64,
}

impl Spin {
    /// Measures the number of steps that take `length`, by the shortest of several tries: other
    /// load on the machine makes tries longer.
    pub fn of(length: Duration) -> Self {
        let probe = Spin { steps: 10_000 };
        let tries = (0..50).map(|seed| {
            let start = Instant::now();
            black_box(probe.spin(seed));
            start.elapsed()
        });
        let shortest = tries.min().unwrap_or_default().as_secs_f64();
        let steps = probe.steps as f64 * length.as_secs_f64() / shortest.max(1e-9);
        Spin { steps: (steps as u64).max(1) }
    }

    /// A microsecond by one measurement for all of this process.
    pub fn microsecond() -> Self {
        static MICROSECOND: LazyLock<Spin> = LazyLock::new(|| Spin::of(Duration::from_micros(1)));
        *MICROSECOND
    }

    #[must_use]
    pub fn times(self, number: u64) -> Self {
        Spin { steps: self.steps * number }
    }

    /// What comes out depends on what goes in. Not inlined: in some copies of the loop the compiler
    /// makes eight steps in one.
    #[inline(never)]
    pub fn spin(self, seed: u64) -> u64 {
        let mut number = seed;
        for _ in 0..black_box(self.steps) {
            number = number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        }
        number
    }

    /// Takes the time, and nothing comes out.
    #[inline]
    pub fn burn(self) {
        black_box(self.spin(0));
    }
}

/// Formats the spin as the command line of a process names it.
impl fmt::Display for Spin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.fmt(f)
    }
}

impl FromStr for Spin {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(|steps| Spin { steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_something_to_do() {
        assert!(Spin::of(Duration::from_millis(1)).steps > 1);
        assert_eq!(Spin::of(Duration::ZERO).steps, 1);
    }

    #[test]
    fn a_microsecond_is_measured_once() {
        let microsecond = Spin::microsecond();
        assert_eq!(Spin::microsecond(), microsecond);
        assert_eq!(microsecond.times(3).steps, 3 * microsecond.steps);
        assert_eq!(microsecond.to_string().parse(), Ok(microsecond));
    }
}
