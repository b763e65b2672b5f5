//! All workers are held by tasks that block or compute: how long do the others wait?
//!
//! While the workers are held, a thread that is not the runtime's sends a tick to a task, about
//! every millisecond. The *gap* of a tick is the time from there until the task has it. It does not
//! matter if the sending thread wakes late: a tick's time starts when it is sent.

use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future::block_on;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::blockade::{Blockade, Hold};
use super::{AsyncRuntime, Story, bench, go};
use crate::bench::{Bench, Fault, Runtime, Sample, Setup};
use crate::benches::foreign::program::Program;
use crate::unit::Unit;
use heist_testing::stats;

const TICK: Duration = Duration::from_millis(1);

pub fn benches() -> Vec<Bench> {
    vec![
        stall(
            ["stall", "stall_p99"],
            "all workers blocked for 1 s, a tick to a task each ms; the longest a tick waits",
            "as stall; p99 of how long the ticks wait",
            Hold::Block,
        ),
        stall(
            ["stall_burn", "stall_burn_p99"],
            "all workers compute for 1 s, a tick to a task each ms; the longest a tick waits",
            "as stall_burn; p99 of how long the ticks wait",
            Hold::Burn,
        ),
    ]
}

fn stall(
    [name, p99]: [&'static str; 2],
    about: &'static str,
    about_p99: &'static str,
    hold: Hold,
) -> Bench {
    let mut bench = bench(name, about, Unit::Ms, move |setup| Ticker::new(setup, hold)).row(
        p99,
        about_p99,
        Unit::Ms,
    );
    // nio puts two of the tasks that are to hold a worker each on one.
    bench.sides.retain(|side| side.runtime != Runtime::Nio);
    bench.side(Runtime::Go, move |setup| {
        let Ticker { workers, hold, time } = Ticker::new(setup, hold);
        let program = Program::build(&go::STALL)?;
        Ok(move |_| go::stall(&program, workers, hold, time).map(Gaps::sample))
    })
}

/// How long ticks waited, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaps {
    pub longest: f64,
    pub p99: f64,
}

impl Gaps {
    /// Makes statistics of the gaps; without gaps all numbers are zero.
    pub fn of(mut gaps: Vec<Duration>) -> Self {
        if gaps.is_empty() {
            return Gaps { longest: 0.0, p99: 0.0 };
        }
        gaps.sort_unstable();
        let sorted: Vec<f64> = gaps.iter().map(|gap| gap.as_secs_f64() * 1e3).collect();
        let [longest, p99] = [100.0, 99.0].map(|percent| stats::percentile(&sorted, percent));
        Gaps { longest, p99 }
    }

    pub fn sample(self) -> Sample {
        Sample::Values(vec![self.longest, self.p99])
    }
}

struct Ticker {
    workers: usize,
    hold: Hold,
    time: Duration,
}

impl Ticker {
    fn new(setup: &Setup, hold: Hold) -> Self {
        let time = Duration::from_millis(setup.scaled(1000));
        Ticker { workers: setup.workers, hold, time }
    }
}

impl Story for Ticker {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let (ticks, clock) = mpsc::unbounded_channel();
        let listener = R::spawn_from_outside(&runtime.handle(), gaps(clock));
        let blockade = Blockade::lay(runtime, self.workers, self.hold, self.time)?;
        let mut sent = 0;
        while !blockade.is_over() {
            // The listener ends when the sender is dropped, and not before.
            let _ = ticks.send(Instant::now());
            sent += 1;
            thread::sleep(TICK);
        }
        drop(ticks);
        blockade.join();
        let gaps = block_on(R::join(listener));
        if gaps.len() as u64 != sent {
            return Err(Fault::Wrong { what: "ticks", expected: sent, found: gaps.len() as u64 });
        }
        Ok(Gaps::of(gaps).sample())
    }
}

/// How long each tick was on its way.
async fn gaps(mut clock: UnboundedReceiver<Instant>) -> Vec<Duration> {
    let mut gaps = Vec::new();
    while let Some(tick) = clock.recv().await {
        gaps.push(tick.elapsed());
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::super::sides::Tokio;
    use super::*;

    #[test]
    fn the_longest_gap_and_the_p99_are_of_all_ticks() {
        let gaps: Vec<_> = (0..=100).rev().map(Duration::from_millis).collect();
        let Gaps { longest, p99 } = Gaps::of(gaps);
        assert_eq!((longest.round(), p99.round()), (100.0, 99.0));
        assert_eq!(Gaps::of(Vec::new()), Gaps { longest: 0.0, p99: 0.0 });
    }

    /// Tokio lets ticks wait until a worker comes back; the first is sent when all are gone.
    #[test]
    fn a_runtime_that_does_nothing_about_it_has_a_gap_as_long_as_the_stall() {
        let runtime = Tokio::start(2).unwrap();
        let time = Duration::from_millis(200);
        let mut ticker = Ticker { workers: 2, hold: Hold::Block, time };
        let Sample::Values(ms) = ticker.sample(&runtime).unwrap() else {
            panic!("gaps are values");
        };
        // Half of the stall, because the sender may start that much later.
        assert!(ms[0] >= 100.0, "{ms:?}");
    }
}
