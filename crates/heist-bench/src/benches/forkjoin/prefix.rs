//! Prefix sums: little to do for much memory, twice.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heist_testing::Rng;

use super::shared::Shared;
use super::{Pool, Work, expect};
use crate::bench::{Bench, Fault};
use crate::unit::Unit;

/// What is summed up in one go. Guessed: some microseconds.
const BLOCK: usize = 4096;

pub fn bench() -> Bench {
    let shared = Shared::new();
    super::bench(
        "prefix_sums",
        "of 4 Mi numbers: sums of blocks of 4096, then what is in them; per number",
        Unit::Ns,
        move |setup| {
            let numbers = shared.get(|| Numbers::new(setup.scaled(1 << 22) as usize));
            PrefixSums { blocks: vec![0; numbers.given.len().div_ceil(BLOCK)], numbers }
        },
    )
}

struct Numbers {
    given: Vec<u32>,
    expected: Vec<u32>,
    sums: Mutex<Vec<u32>>,
}

impl Numbers {
    fn new(count: usize) -> Self {
        let mut rng = Rng::new(5);
        let given: Vec<u32> = (0..count).map(|_| rng.next_u64() as u32).collect();
        let mut expected = vec![0; count];
        sum_up(0, &given, &mut expected);
        Numbers { given, expected, sums: Mutex::new(vec![0; count]) }
    }

    fn sums(&self) -> MutexGuard<'_, Vec<u32>> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct PrefixSums {
    numbers: Arc<Numbers>,
    /// What comes before each block.
    blocks: Vec<u32>,
}

impl Work for PrefixSums {
    fn operations(&self) -> u64 {
        self.numbers.given.len() as u64
    }

    fn prepare(&mut self) {
        self.numbers.sums().fill(0);
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        sum_blocks::<P>(context, &self.numbers.given, &mut self.blocks);
        let mut before = 0_u32;
        for block in &mut self.blocks {
            let sum = std::mem::replace(block, before);
            before = before.wrapping_add(sum);
        }
        let sums = &mut self.numbers.sums();
        sum_within::<P>(context, &self.numbers.given, &self.blocks, sums);
    }

    fn check(&mut self) -> Result<(), Fault> {
        let Numbers { expected, .. } = &*self.numbers;
        let right = self.numbers.sums().iter().zip(expected).filter(|(a, b)| a == b).count();
        expect("right sums", expected.len() as u64, right as u64)
    }
}

fn sum_blocks<P: Pool>(context: &mut P::Context<'_>, given: &[u32], blocks: &mut [u32]) {
    if let [block] = blocks {
        *block = sum(given);
        return;
    }
    let half = blocks.len() / 2;
    let (given, more) = given.split_at(half * BLOCK);
    let (blocks, more_blocks) = blocks.split_at_mut(half);
    P::join(
        context,
        |c| sum_blocks::<P>(c, given, blocks),
        |c| sum_blocks::<P>(c, more, more_blocks),
    );
}

#[inline(never)]
fn sum(numbers: &[u32]) -> u32 {
    numbers.iter().fold(0, |sum, number| sum.wrapping_add(*number))
}

fn sum_within<P: Pool>(
    context: &mut P::Context<'_>,
    given: &[u32],
    blocks: &[u32],
    sums: &mut [u32],
) {
    if let [before] = blocks {
        return sum_up(*before, given, sums);
    }
    let half = blocks.len() / 2;
    let (given, more) = given.split_at(half * BLOCK);
    let (blocks, more_blocks) = blocks.split_at(half);
    let (sums, more_sums) = sums.split_at_mut(half * BLOCK);
    P::join(
        context,
        |c| sum_within::<P>(c, given, blocks, sums),
        |c| sum_within::<P>(c, more, more_blocks, more_sums),
    );
}

#[inline(never)]
fn sum_up(before: u32, given: &[u32], sums: &mut [u32]) {
    let mut sum = before;
    for (number, place) in given.iter().zip(sums) {
        sum = sum.wrapping_add(*number);
        *place = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::super::sides::Rayon;
    use super::super::tests::outcome;
    use super::*;

    #[test]
    fn the_sums_are_right_and_a_wrong_one_is_a_fault() {
        let numbers = Arc::new(Numbers::new(3 * BLOCK + 7));
        let sums = || PrefixSums { numbers: Arc::clone(&numbers), blocks: vec![0; 4] };
        outcome::<Rayon, _>(sums()).unwrap();
        numbers.sums()[BLOCK] ^= 1;
        assert!(sums().check().is_err());
    }
}
