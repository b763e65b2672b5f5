//! Next to nothing to do but joins.

use std::hint::black_box;

use super::abroad::{self, Abroad, Errand};
use super::{Pool, Work, expect};
use crate::bench::{Bench, Fault, Setup};
use crate::unit::Unit;

pub fn bench() -> Bench {
    abroad::bench(
        "fork_join_fib",
        "fib(32) by its definition, a join for each sum; per join",
        Unit::Ns,
        Fib::new,
    )
}

struct Fib {
    n: u32,
    found: u64,
}

impl Fib {
    fn new(setup: &Setup) -> Self {
        Fib { n: if setup.quick { 12 } else { 32 }, found: 0 }
    }
}

impl Work for Fib {
    fn operations(&self) -> u64 {
        joins(self.n)
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        self.found = fib::<P>(context, black_box(self.n));
    }

    fn check(&mut self) -> Result<(), Fault> {
        expect("fib", by_addition(self.n), self.found)
    }
}

impl Abroad for Fib {
    fn errand(&self) -> Errand {
        Errand { words: format!("fib {}", self.n), digest: by_addition(self.n) }
    }
}

/// By its definition.
pub fn fib<P: Pool>(context: &mut P::Context<'_>, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = P::join(context, |c| fib::<P>(c, n - 1), |c| fib::<P>(c, n - 2));
    a + b
}

/// How many joins that takes.
pub fn joins(n: u32) -> u64 {
    by_addition(n + 1) - 1
}

pub fn by_addition(n: u32) -> u64 {
    let (mut a, mut b) = (0, 1);
    for _ in 0..n {
        (a, b) = (b, a + b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::super::sides::Sequential;
    use super::*;

    #[test]
    fn both_ways_come_to_the_same() {
        for n in [0, 1, 2, 10] {
            assert_eq!(fib::<Sequential>(&mut (), n), by_addition(n));
        }
        // fib(4) is the sum of fib(3) and fib(2), and fib(3) of fib(2) and a leaf.
        assert_eq!([1, 2, 3, 4].map(joins), [0, 1, 2, 4]);
    }
}
