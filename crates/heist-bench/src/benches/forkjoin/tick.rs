//! A program that has something to do every few milliseconds, such as a game or a sound: short
//! parallel regions, short gaps between them, and long ones until the next tick. A worker that
//! sleeps in a gap is late for the next region; one that stays awake wastes CPU time.

use std::thread;
use std::time::{Duration, Instant};

use super::shared::Shared;
use super::sides::{Chili, Heist, HeistBound, Rayon, RayonBound, Sequential};
use super::{Pool, driven, expect};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::benches::cpu_time;
use crate::benches::spin::Spin;
use crate::unit::Unit;
use heist_testing::stats;

const TICKS: u64 = 30;
const EVERY: Duration = Duration::from_millis(10);
const REGIONS: u64 = 8;
const LEAVES: u64 = 64;
const LEAF: Duration = Duration::from_micros(10);
const GAP: Duration = Duration::from_micros(20);

pub fn benches() -> Vec<Bench> {
    let worker = bench(
        ["tick", "tick_p99", "tick_cpu"],
        "each 10 ms a worker has 8 regions of 64 leaves of 10 us, 20 us apart; median of a region",
    );
    let outside = bench(
        ["tick_outside", "tick_outside_p99", "tick_outside_cpu"],
        "as tick, each region begun by a thread that is no worker; median of a region",
    );
    let bound = bench(
        ["tick_bound", "tick_bound_p99", "tick_bound_cpu"],
        "as tick, each worker bound to a core of its own; median of a region",
    );
    let shared = Shared::new();
    let with = |shared: &Shared<Ticks>| shared.clone();
    let (heist, rayon, chili, plain) = (with(&shared), with(&shared), with(&shared), with(&shared));
    let (heist_outside, rayon_outside) = (with(&shared), with(&shared));
    let (heist_bound, rayon_bound) = (with(&shared), with(&shared));
    vec![
        worker
            .side(Runtime::Heist, move |setup| side::<Heist>(setup, &heist, Caller::Worker))
            .side(Runtime::Rayon, move |setup| side::<Rayon>(setup, &rayon, Caller::Worker))
            .side(Runtime::Chili, move |setup| side::<Chili>(setup, &chili, Caller::Worker))
            .side(Runtime::Sequential, move |setup| {
                side::<Sequential>(setup, &plain, Caller::Worker)
            }),
        outside
            .side(Runtime::Heist, move |setup| {
                side::<Heist>(setup, &heist_outside, Caller::Outside)
            })
            .side(Runtime::Rayon, move |setup| {
                side::<Rayon>(setup, &rayon_outside, Caller::Outside)
            }),
        bound
            .side(Runtime::Heist, move |setup| {
                side::<HeistBound>(setup, &heist_bound, Caller::Worker)
            })
            .side(Runtime::Rayon, move |setup| {
                side::<RayonBound>(setup, &rayon_bound, Caller::Worker)
            }),
    ]
}

fn bench([name, p99, cpu]: [&'static str; 3], about: &'static str) -> Bench {
    Bench::new(name, about, Unit::Us, Pace::Once)
        .row(p99, "the same; p99 of a region", Unit::Us)
        .row(cpu, "the same; CPU time a tick", Unit::Ms)
}

/// Where the program runs when a region begins.
#[derive(Debug, Clone, Copy)]
enum Caller {
    /// All regions of a tick are within one call.
    Worker,
    /// On a thread of its own, with a call for each region.
    Outside,
}

fn side<P: Pool>(
    setup: &Setup,
    shared: &Shared<Ticks>,
    caller: Caller,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<P>, Fault> {
    let ticks = shared.get(Ticks::new);
    driven(setup, move |setup| {
        let pool = P::start(setup.workers).map_err(Fault::Setup)?;
        let count = if setup.quick { 1 } else { TICKS };
        Ok(move |_| ticks.sample(&pool, caller, count))
    })
}

struct Ticks {
    leaf: Spin,
    gap: Spin,
    /// The result of a region.
    sum: u64,
}

impl Ticks {
    fn new() -> Self {
        let leaf = Spin::of(LEAF);
        let sum = leaf.spin_all::<Sequential>(&mut (), 0, LEAVES);
        Ticks { leaf, gap: Spin::of(GAP), sum }
    }

    fn sample<P: Pool>(&self, pool: &P, caller: Caller, ticks: u64) -> Result<Sample, Fault> {
        let mut regions = Vec::with_capacity((ticks * REGIONS) as usize);
        let (cpu, mut next) = (cpu_time(), Instant::now());
        for _ in 0..ticks {
            self.tick(pool, caller, &mut regions);
            next += EVERY;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        let cpu = (cpu_time() - cpu).as_secs_f64() * 1e3 / ticks as f64;
        for (_, sum) in &regions {
            expect("sum of a region", self.sum, *sum)?;
        }
        let mut times: Vec<_> = regions.iter().map(|(time, _)| time.as_secs_f64() * 1e6).collect();
        times.sort_unstable_by(f64::total_cmp);
        let [p50, p99] = [50.0, 99.0].map(|percent| stats::percentile(&times, percent));
        Ok(Sample::Values(vec![p50, p99, cpu]))
    }

    fn tick<P: Pool>(&self, pool: &P, caller: Caller, regions: &mut Vec<(Duration, u64)>) {
        match caller {
            Caller::Worker => pool.run(|context| {
                for _ in 0..REGIONS {
                    regions.push(timed(|| self.leaf.spin_all::<P>(context, 0, LEAVES)));
                    self.gap.spin(0);
                }
            }),
            Caller::Outside => {
                for _ in 0..REGIONS {
                    let region = || pool.run(|c| self.leaf.spin_all::<P>(c, 0, LEAVES));
                    regions.push(timed(region));
                    self.gap.spin(0);
                }
            }
        }
    }
}

fn timed(region: impl FnOnce() -> u64) -> (Duration, u64) {
    let start = Instant::now();
    let sum = region();
    (start.elapsed(), sum)
}
