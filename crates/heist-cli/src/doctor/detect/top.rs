//! The largest of many sums, in memory of a fixed size.

use std::collections::HashMap;
use std::hash::Hash;

/// The number of keys that are distinguished. A key with more than the reciprocal of this of the
/// whole is never missed.
const KEPT: usize = 64;

/// Sums by key. When there are too many keys, a new key replaces the smallest and inherits its sum
/// ("space saving"): a sum is never too small, and too large by at most that much.
#[derive(Debug)]
pub(super) struct Top<K> {
    sums: HashMap<K, Sum>,
    total: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    value: u64,
    /// The part of the sum that may belong to other keys.
    inherited: u64,
}

impl<K> Default for Top<K> {
    fn default() -> Self {
        Top { sums: HashMap::new(), total: 0 }
    }
}

impl<K: Copy + Eq + Hash> Top<K> {
    pub(super) fn add(&mut self, key: K, value: u64) {
        self.total += value;
        let mut inherited = 0;
        if !self.sums.contains_key(&key) && self.sums.len() >= KEPT {
            let smallest = self.sums.iter().min_by_key(|(_, sum)| sum.value);
            let (&smallest, &sum) = smallest.expect("there are many");
            self.sums.remove(&smallest);
            inherited = sum.value;
        }
        let sum = self.sums.entry(key).or_insert(Sum { value: inherited, inherited });
        sum.value += value;
    }

    /// The largest, and the part of its sum that is certain.
    pub(super) fn first(&self) -> Option<(K, u64)> {
        let own = self.sums.iter().map(|(key, sum)| (*key, sum.value - sum.inherited));
        own.max_by_key(|(_, own)| *own)
    }

    /// The largest few in descending order, and the parts of their sums that are certain.
    pub(super) fn largest(&self, count: usize) -> Vec<(K, u64)> {
        let own = self.sums.iter().map(|(key, sum)| (*key, sum.value - sum.inherited));
        let mut own: Vec<_> = own.collect();
        own.sort_by_key(|(_, own)| std::cmp::Reverse(*own));
        own.truncate(count);
        own
    }

    /// The part of the sum that is certain.
    pub(super) fn of(&self, key: K) -> u64 {
        self.sums.get(&key).map_or(0, |sum| sum.value - sum.inherited)
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_is_found_among_any_number_of_others() {
        let mut top = Top::default();
        for number in 0..100_000u64 {
            top.add(number % 1000, 1);
            top.add(u64::MAX, 1);
        }
        let (key, sum) = top.first().unwrap();
        assert_eq!((key, top.total()), (u64::MAX, 200_000));
        assert!((95_000..=100_000).contains(&sum), "{sum}");
        assert!(top.sums.len() <= KEPT);
    }
}
