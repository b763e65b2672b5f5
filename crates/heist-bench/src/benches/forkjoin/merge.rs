//! Mergesort: the merges are divided as well.

use std::sync::Arc;

use super::shared::Shared;
use super::sort::{Buffers, Numbers};
use super::{Pool, Work};
use crate::bench::{Bench, Fault};
use crate::unit::Unit;

/// Shorter ones are left to the standard library. Guessed.
const SEQUENTIAL: usize = 128;

/// Shorter ones are merged in one go. Guessed.
const SHORT_MERGE: usize = 4096;

pub fn bench() -> Bench {
    let shared = Shared::new();
    super::bench(
        "mergesort",
        "10^7 random u32, joins for the halves and within each merge; per sort",
        Unit::Ms,
        move |setup| Mergesort(Numbers::get(&shared, setup)),
    )
}

struct Mergesort(Arc<Numbers>);

impl Work for Mergesort {
    fn prepare(&mut self) {
        self.0.shuffle();
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        let Buffers { numbers, scratch } = &mut *self.0.buffers();
        sort::<P>(context, numbers, scratch, Goal::Numbers);
    }

    fn check(&mut self) -> Result<(), Fault> {
        self.0.check()
    }
}

/// The destination of the sorted numbers.
#[derive(Debug, Clone, Copy)]
enum Goal {
    Numbers,
    Scratch,
}

fn sort<P: Pool>(
    context: &mut P::Context<'_>,
    numbers: &mut [u32],
    scratch: &mut [u32],
    goal: Goal,
) {
    if numbers.len() <= SEQUENTIAL {
        numbers.sort_unstable();
        if let Goal::Scratch = goal {
            scratch.copy_from_slice(numbers);
        }
        return;
    }
    let half = numbers.len() / 2;
    {
        let (numbers, more) = numbers.split_at_mut(half);
        let (scratch, more_scratch) = scratch.split_at_mut(half);
        let halves = match goal {
            Goal::Numbers => Goal::Scratch,
            Goal::Scratch => Goal::Numbers,
        };
        P::join(
            context,
            |c| sort::<P>(c, numbers, scratch, halves),
            |c| sort::<P>(c, more, more_scratch, halves),
        );
    }
    let (from, to) = match goal {
        Goal::Numbers => (scratch, numbers),
        Goal::Scratch => (numbers, scratch),
    };
    merge::<P>(context, &from[..half], &from[half..], to);
}

fn merge<P: Pool>(context: &mut P::Context<'_>, a: &[u32], b: &[u32], to: &mut [u32]) {
    if to.len() <= SHORT_MERGE {
        return merge_here(a, b, to);
    }
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let in_long = long.len() / 2;
    let pivot = long[in_long];
    let in_short = short.partition_point(|number| *number < pivot);
    let (low, high) = to.split_at_mut(in_long + in_short);
    P::join(
        context,
        |c| merge::<P>(c, &long[..in_long], &short[..in_short], low),
        |c| merge::<P>(c, &long[in_long..], &short[in_short..], high),
    );
}

#[inline(never)]
fn merge_here(mut a: &[u32], mut b: &[u32], to: &mut [u32]) {
    let mut places = to.iter_mut();
    while let ([first, ..], [second, ..]) = (a, b) {
        let Some(place) = places.next() else { return };
        let takes_first = first <= second;
        *place = if takes_first { *first } else { *second };
        a = &a[usize::from(takes_first)..];
        b = &b[usize::from(!takes_first)..];
    }
    places.zip(a.iter().chain(b)).for_each(|(place, number)| *place = *number);
}

#[cfg(test)]
mod tests {
    use super::super::sides::Rayon;
    use super::super::tests::outcome;
    use super::*;

    #[test]
    fn it_sorts() {
        outcome::<Rayon, _>(Mergesort(Arc::new(Numbers::new(3 * SHORT_MERGE)))).unwrap();
    }
}
