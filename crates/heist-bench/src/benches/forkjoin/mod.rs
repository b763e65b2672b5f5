//! Fork-join: programs that divide their work, and workers that share it.
//!
//! Each program is a `Work`, written once against `Pool`, which hides how the sides differ. All of
//! them divide down to pieces of some nanoseconds or microseconds and leave it to the pool what is
//! worth sharing. A leaf that is a loop is one function for all sides and not inlined: copies of a
//! loop may come out differently, and that would be taken for the pool's.
//!
//! - `sides`: the pools, and plain calls
//! - `abroad`: the same programs in other languages
//! - `shared`: an input that all sides of a bench work on
//! - `spin`: work of a given length, divided
//! - `tick`, `mixed`: programs that do other things as well
//! - the rest: the programs, a file each

mod abroad;
mod fib;
mod mandelbrot;
mod matmul;
mod merge;
mod mixed;
mod overhead;
mod prefix;
mod queens;
mod quick;
mod row;
mod scope;
mod search;
mod shared;
mod sides;
mod sort;
mod spin;
mod tick;
mod tree;

use std::io;

use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::benches::driver::{self, Driver};
use crate::unit::Unit;
use sides::{Chili, Heist, Rayon, Sequential};

pub fn benches() -> Vec<Bench> {
    let mut benches = fib::benches();
    benches.push(overhead::bench());
    benches.extend(tree::benches());
    benches.extend([quick::bench(), merge::bench(), queens::bench(), matmul::bench()]);
    benches.extend([search::bench(), mandelbrot::bench(), prefix::bench()]);
    benches.extend(row::benches());
    benches.extend(scope::benches());
    benches.extend(tick::benches());
    benches.extend(mixed::benches());
    benches
}

/// Workers as the programs see them; static calls only, so that this layer costs nothing.
pub trait Pool: Sized + Sync + 'static {
    /// What a closure needs in order to join. Some have it in the thread, and nothing here.
    type Context<'s>;

    fn start(workers: usize) -> io::Result<Self>;

    /// Calls `work` where it can join, from a thread that is no worker, and waits.
    fn run<R: Send>(&self, work: impl FnOnce(&mut Self::Context<'_>) -> R + Send) -> R;

    /// Calls both, perhaps at the same time.
    fn join<A, B, RA, RB>(context: &mut Self::Context<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Self::Context<'_>) -> RA + Send,
        B: FnOnce(&mut Self::Context<'_>) -> RB + Send,
        RA: Send,
        RB: Send;
}

/// A computation with one right result. One value a side.
trait Work: Send + 'static {
    /// What one time is divided by.
    fn operations(&self) -> u64 {
        1
    }

    /// Before each time; not timed.
    fn prepare(&mut self) {}

    /// What is timed.
    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>);

    /// After each time; not timed.
    fn check(&mut self) -> Result<(), Fault>;
}

/// The bench of a work that `make` makes, with all pools and without.
fn bench<W, M>(name: &'static str, about: &'static str, unit: Unit, make: M) -> Bench
where
    W: Work,
    M: Fn(&Setup) -> W + Clone + Send + 'static,
{
    let [heist, rayon, chili, sequential] = [(); 4].map(|()| make.clone());
    Bench::new(name, about, unit, Pace::Calibrated)
        .side(Runtime::Heist, move |setup| subject::<Heist, W, M>(setup, heist.clone()))
        .side(Runtime::Rayon, move |setup| subject::<Rayon, W, M>(setup, rayon.clone()))
        .side(Runtime::Chili, move |setup| subject::<Chili, W, M>(setup, chili.clone()))
        .side(Runtime::Sequential, move |setup| {
            subject::<Sequential, W, M>(setup, sequential.clone())
        })
}

fn subject<P, W, M>(
    setup: &Setup,
    make: M,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<P, W, M>, Fault>
where
    P: Pool,
    W: Work,
    M: Fn(&Setup) -> W + Send + 'static,
{
    driven(setup, move |setup| {
        let mut work = make(setup);
        let pool = P::start(setup.workers).map_err(Fault::Setup)?;
        Ok(move |iterations| iterate(&pool, &mut work, iterations))
    })
}

/// A side on a thread of its own, so that a pool that hangs ends the run with a message.
fn driven<F, S>(
    setup: &Setup,
    start: F,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<F, S>, Fault>
where
    F: FnOnce(&Setup) -> Result<S, Fault> + Send + 'static,
    S: FnMut(u64) -> Result<Sample, Fault>,
{
    let setup = *setup;
    let mut driver = Driver::start(move || start(&setup), driver::GIVE_UP)?;
    Ok(move |iterations| driver.sample(iterations))
}

fn iterate<P: Pool, W: Work>(pool: &P, work: &mut W, iterations: u64) -> Result<Sample, Fault> {
    let mut total = None;
    for _ in 0..iterations {
        work.prepare();
        let operations = work.operations();
        let compute = || pool.run(|context| work.compute::<P>(context));
        let (sample, ()) = Sample::time(operations, compute);
        work.check()?;
        total = Some(Sample::sum(total, sample));
    }
    Ok(total.expect("a sample has iterations"))
}

/// A number that has only one right value.
fn expect(what: &'static str, expected: u64, found: u64) -> Result<(), Fault> {
    if found == expected { Ok(()) } else { Err(Fault::Wrong { what, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a work on a pool with two workers.
    pub fn outcome<P: Pool, W: Work>(mut work: W) -> Result<(), Fault> {
        iterate(&P::start(2).unwrap(), &mut work, 3).map(drop)
    }

    struct Counts {
        computed: u64,
        wrong_from: u64,
    }

    impl Work for Counts {
        fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
            let (a, b) = P::join(context, |_| 1, |_| 0);
            self.computed += a + b;
        }

        fn check(&mut self) -> Result<(), Fault> {
            expect("count", self.computed.min(self.wrong_from), self.computed)
        }
    }

    #[test]
    fn each_iteration_is_checked() {
        let counts = |wrong_from| Counts { computed: 0, wrong_from };
        outcome::<Rayon, _>(counts(3)).unwrap();
        let fault = outcome::<Rayon, _>(counts(2)).unwrap_err();
        assert_eq!(fault.to_string(), "count: expected 2, found 3");
    }
}
