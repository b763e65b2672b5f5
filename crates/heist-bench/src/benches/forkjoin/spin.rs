//! Work of a given length, divided.

use super::Pool;
use crate::benches::spin::Spin;

impl Spin {
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
    use std::time::Duration;

    #[test]
    fn each_seed_counts_once() {
        let spin = Spin::of(Duration::ZERO).times(3);
        let expected = (5..12).fold(0_u64, |sum, seed| sum.wrapping_add(spin.spin(seed)));
        assert_eq!(spin.spin_all::<Sequential>(&mut (), 5, 7), expected);
    }
}
