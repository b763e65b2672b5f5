//! In which order the sides of a bench take their turns.

use heist_testing::Rng;

/// Fixed, so that two runs of one command line interleave alike.
const SEED: u64 = 0x6865_6973_7400;

/// One order after another in which `sides` sides are sampled once each.
///
/// Shuffled anew each round: with a fixed order, a side would always find the caches, the
/// clock frequency and the allocator as the same neighbour left them.
pub fn rounds(sides: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut rng = Rng::new(SEED);
    std::iter::repeat_with(move || {
        let mut order: Vec<usize> = (0..sides).collect();
        rng.shuffle(&mut order);
        order
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_round_has_each_side_once() {
        for mut order in rounds(4).take(50) {
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn each_side_goes_first_and_follows_each_other_side() {
        let orders: Vec<_> = rounds(3).take(21).collect();
        let first: HashSet<_> = orders.iter().map(|order| order[0]).collect();
        assert_eq!(first.len(), 3);
        let pairs: HashSet<_> = orders
            .iter()
            .flat_map(|order| order.windows(2).map(|pair| (pair[0], pair[1])))
            .collect();
        assert_eq!(pairs.len(), 6);
    }

    #[test]
    fn two_runs_take_the_same_turns() {
        let twice = [(); 2].map(|()| rounds(3).take(21).collect::<Vec<_>>());
        assert_eq!(twice[0], twice[1]);
    }
}
