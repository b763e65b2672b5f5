//! What a join costs that nobody has any use for: there is one worker.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::fib::{by_addition, fib, joins};
use super::sides::{Chili, Heist, Rayon, Sequential};
use super::{Pool, driven, expect};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;

/// Plain calls and joins take turns, so that a machine that slows down slows down both.
const TURNS: u32 = 10;

pub fn bench() -> Bench {
    let about = "fib(27) with 1 worker, less what plain calls take; per join";
    Bench::new("join_overhead", about, Unit::Ns, Pace::Once)
        .side(Runtime::Heist, side::<Heist>)
        .side(Runtime::Rayon, side::<Rayon>)
        .side(Runtime::Chili, side::<Chili>)
}

fn side<P: Pool>(
    setup: &Setup,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<P>, Fault> {
    driven(setup, |setup| {
        let n = if setup.quick { 12 } else { 27 };
        let pool = P::start(1).map_err(Fault::Setup)?;
        Ok(move |_| {
            let (mut joined, mut called) = (Duration::ZERO, Duration::ZERO);
            for _ in 0..TURNS {
                called += timed(&Sequential, n)?;
                joined += timed(&pool, n)?;
            }
            let difference = joined.as_secs_f64() - called.as_secs_f64();
            let joins = joins(n) * u64::from(TURNS);
            Ok(Sample::Value(difference * 1e9 / joins as f64))
        })
    })
}

/// Times the computation without the way to the worker and back.
fn timed<P: Pool>(pool: &P, n: u32) -> Result<Duration, Fault> {
    let (elapsed, found) = pool.run(|context| {
        let start = Instant::now();
        let found = fib::<P>(context, black_box(n));
        (start.elapsed(), found)
    });
    expect("fib", by_addition(n), found)?;
    Ok(elapsed)
}
