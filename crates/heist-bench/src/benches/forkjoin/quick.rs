//! Quicksort: what there is to join depends on the numbers.

use std::sync::Arc;

use super::abroad::{self, Abroad, Problem};
use super::shared::Shared;
use super::sort::Numbers;
use super::{Pool, Work};
use crate::bench::{Bench, Fault};
use crate::unit::Unit;

/// Shorter ones are left to the standard library. Guessed.
const SEQUENTIAL: usize = 128;

pub fn bench() -> Bench {
    let shared = Shared::new();
    abroad::bench(
        "quicksort",
        "10^7 random u32, a join for each partition; per sort",
        Unit::Ms,
        move |setup| Quicksort(Numbers::get(&shared, setup)),
    )
}

struct Quicksort(Arc<Numbers>);

impl Work for Quicksort {
    fn prepare(&mut self) {
        self.0.shuffle();
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        sort::<P>(context, &mut self.0.buffers().numbers);
    }

    fn check(&mut self) -> Result<(), Fault> {
        self.0.check()
    }
}

impl Abroad for Quicksort {
    fn problem(&self) -> Problem {
        let sorted = self.0.sorted();
        let digest = abroad::digest(sorted.iter().map(|number| u64::from(*number)));
        Problem { words: format!("quicksort {}", sorted.len()), digest }
    }
}

fn sort<P: Pool>(context: &mut P::Context<'_>, numbers: &mut [u32]) {
    if numbers.len() <= SEQUENTIAL {
        return sort_short(numbers);
    }
    let middle = partition(numbers);
    let (less, others) = numbers.split_at_mut(middle);
    // The pivot stays where it is.
    let others = &mut others[1..];
    P::join(context, |c| sort::<P>(c, less), |c| sort::<P>(c, others));
}

#[inline(never)]
fn sort_short(numbers: &mut [u32]) {
    numbers.sort_unstable();
}

/// Puts those that are less than the median of three before it; returns its place.
#[inline(never)]
fn partition(numbers: &mut [u32]) -> usize {
    let last = numbers.len() - 1;
    let mut three = [0, last / 2, last];
    three.sort_unstable_by_key(|place| numbers[*place]);
    numbers.swap(three[1], last);
    let pivot = numbers[last];
    let mut middle = 0;
    // Each is swapped, needed or not: a branch would be mispredicted half of the time.
    for place in 0..last {
        let number = numbers[place];
        numbers.swap(place, middle);
        middle += usize::from(number < pivot);
    }
    numbers.swap(middle, last);
    middle
}

#[cfg(test)]
mod tests {
    use super::super::sides::{Rayon, Sequential};
    use super::super::tests::outcome;
    use super::*;

    #[test]
    fn it_sorts() {
        outcome::<Rayon, _>(Quicksort(Arc::new(Numbers::new(5000)))).unwrap();
    }

    #[test]
    fn what_is_not_sorted_is_a_fault() {
        let numbers = Numbers::new(5000);
        sort::<Sequential>(&mut (), &mut numbers.buffers().numbers);
        numbers.check().unwrap();
        numbers.buffers().numbers.swap(1, 4000);
        let message = numbers.check().unwrap_err().to_string();
        assert_eq!(message, "numbers in their place: expected 5000, found 4998");
    }
}
