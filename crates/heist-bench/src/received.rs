//! Proof that no item was lost or handed out twice.

use std::fmt;

/// The numbered items that were received, cheap enough to keep inside a timed loop.
///
/// Count, sum and xor together: a loss shows in the count, a loss made up for by a duplicate
/// in the sum or the xor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    count: u64,
    sum: u64,
    xor: u64,
}

impl Received {
    /// Each of `0..items`, received exactly once.
    pub fn of_all(items: u64) -> Self {
        let mut received = Received::default();
        (0..items).for_each(|item| received.add(item));
        received
    }

    #[inline]
    pub fn add(&mut self, item: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(item);
        self.xor ^= item;
    }

    pub fn merge(&mut self, other: Received) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
        self.xor ^= other.xor;
    }

    pub fn count(&self) -> u64 {
        self.count
    }
}

/// Items that are not those that were put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    pub expected: Received,
    pub found: Received,
}

impl Mismatch {
    pub fn check(expected: Received, found: Received) -> Result<(), Mismatch> {
        if expected == found { Ok(()) } else { Err(Mismatch { expected, found }) }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (expected, found) = (self.expected.count, self.found.count);
        match found.checked_sub(expected) {
            None => write!(f, "{} of {expected} items lost", expected - found),
            Some(0) => write!(f, "{expected} items came out, but not those that went in"),
            Some(extra) => write!(f, "{extra} items too many, {expected} went in"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(items: &[u64]) -> Received {
        let mut received = Received::default();
        items.iter().for_each(|&item| received.add(item));
        received
    }

    #[test]
    fn order_and_split_do_not_matter() {
        let mut found = received(&[3, 0]);
        found.merge(received(&[2, 1]));
        assert_eq!(Mismatch::check(Received::of_all(4), found), Ok(()));
    }

    #[test]
    fn a_lost_item_a_double_and_a_swap_are_told_apart() {
        let says = |items: &[u64]| {
            Mismatch::check(Received::of_all(4), received(items)).unwrap_err().to_string()
        };
        assert_eq!(says(&[0, 1, 3]), "1 of 4 items lost");
        assert_eq!(says(&[0, 1, 1, 2, 3]), "1 items too many, 4 went in");
        assert_eq!(says(&[0, 1, 1, 3]), "4 items came out, but not those that went in");
    }
}
