//! Next to nothing to do but joins.

use std::hint::black_box;

use super::abroad::{self, Abroad, Problem};
use super::sides::{Chili, Heist, Rayon, Sequential};
use super::{Pool, Work, driven, expect};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;

pub fn benches() -> Vec<Bench> {
    let generic = abroad::bench(
        "fork_join_fib",
        "fib(32) by its definition, a join for each sum; per join",
        Unit::Ns,
        Fib::new,
    );
    let about = "the same, written for each side as its documentation shows; per join";
    let plain = Bench::new("fib_plain", about, Unit::Ns, Pace::Calibrated)
        .side(Runtime::Heist, plain_side::<Heist>)
        .side(Runtime::Rayon, plain_side::<Rayon>)
        .side(Runtime::Chili, plain_side::<Chili>)
        .side(Runtime::Sequential, plain_side::<Sequential>);
    vec![generic, plain]
}

/// A pool with a program of its own.
trait Plain: Pool {
    fn fib(context: &mut Self::Context<'_>, n: u32) -> u64;
}

impl Plain for Heist {
    fn fib((): &mut (), n: u32) -> u64 {
        fib_with_heist(n)
    }
}

fn fib_with_heist(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = heist::join(|| fib_with_heist(n - 1), || fib_with_heist(n - 2));
    a + b
}

impl Plain for Rayon {
    fn fib((): &mut (), n: u32) -> u64 {
        fib_with_rayon(n)
    }
}

fn fib_with_rayon(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = rayon::join(|| fib_with_rayon(n - 1), || fib_with_rayon(n - 2));
    a + b
}

impl Plain for Chili {
    fn fib(scope: &mut chili::Scope<'_>, n: u32) -> u64 {
        fib_with_chili(scope, n)
    }
}

fn fib_with_chili(scope: &mut chili::Scope<'_>, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = scope.join(|s| fib_with_chili(s, n - 1), |s| fib_with_chili(s, n - 2));
    a + b
}

impl Plain for Sequential {
    fn fib((): &mut (), n: u32) -> u64 {
        fib_sequentially(n)
    }
}

fn fib_sequentially(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { fib_sequentially(n - 1) + fib_sequentially(n - 2) }
}

fn plain_side<P: Plain>(
    setup: &Setup,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<P>, Fault> {
    driven(setup, |setup| {
        let n = Fib::new(setup).n;
        let pool = P::start(setup.workers).map_err(Fault::Setup)?;
        Ok(move |iterations| {
            let mut total = None;
            for _ in 0..iterations {
                let compute = || pool.run(|context| P::fib(context, black_box(n)));
                let (sample, found) = Sample::time(joins(n), compute);
                expect("fib", by_addition(n), found)?;
                total = Some(Sample::sum(total, sample));
            }
            Ok(total.expect("a sample has iterations"))
        })
    })
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
    fn problem(&self) -> Problem {
        Problem { words: format!("fib {}", self.n), digest: by_addition(self.n) }
    }
}

/// The n-th Fibonacci number, by its definition.
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
