//! Work of a given length: a number of steps, the same for all sides, each of which needs the
//! result of the one before.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::Pool;

/// The number of steps that take a given time on this machine.
#[derive(Debug, Clone, Copy)]
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

    /// One for each seed from `first` on, by halves; the sum of what comes out.
    pub fn spin_all<P: Pool>(self, context: &mut P::Context<'_>, first: u64, count: u64) -> u64 {
        if count == 1 {
            return self.spin(first);
        }
        let half = count / 2;
        let (a, b) = P::join(
            context,
            |c| self.spin_all::<P>(c, first, half),
            |c| self.spin_all::<P>(c, first + half, count - half),
        );
        a.wrapping_add(b)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sides::Sequential;
    use super::*;

    #[test]
    fn each_seed_counts_once() {
        let spin = Spin { steps: 3 };
        let expected = (5..12).fold(0_u64, |sum, seed| sum.wrapping_add(spin.spin(seed)));
        assert_eq!(spin.spin_all::<Sequential>(&mut (), 5, 7), expected);
    }

    #[test]
    fn there_is_always_something_to_do() {
        assert!(Spin::of(Duration::from_millis(1)).steps > 1);
        assert_eq!(Spin::of(Duration::ZERO).steps, 1);
    }
}
