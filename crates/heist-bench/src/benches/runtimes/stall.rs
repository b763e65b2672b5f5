//! All workers are held by tasks that block or compute: how long do the others wait?
//!
//! While the workers are held, a thread that is not the runtime's sends a tick to a task, about
//! every millisecond. The *gap* of a tick is the time from there until the task has it. It does
//! not matter that a thread that sleeps is woken late: nobody waits for a tick that was not
//! sent.

use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future::block_on;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::blockade::{Blockade, Hold};
use super::{AsyncRuntime, Story, bench};
use crate::bench::{Bench, Fault, Runtime, Sample, Setup};
use crate::stats;
use crate::unit::Unit;

const TICK: Duration = Duration::from_millis(1);

pub fn benches() -> Vec<Bench> {
    let mut benches = vec![
        bench(
            "stall",
            "all workers blocked for 1 s, a tick to a task each ms; the longest a tick waits",
            Unit::Ms,
            |setup| Ticker::new(setup, Hold::Block, LONGEST),
        ),
        bench("stall_p99", "as stall; p99 of how long the ticks wait", Unit::Ms, |setup| {
            Ticker::new(setup, Hold::Block, P99)
        }),
        bench(
            "stall_burn",
            "all workers compute for 1 s, a tick to a task each ms; the longest a tick waits",
            Unit::Ms,
            |setup| Ticker::new(setup, Hold::Burn, LONGEST),
        ),
        bench(
            "stall_burn_p99",
            "as stall_burn; p99 of how long the ticks wait",
            Unit::Ms,
            |setup| Ticker::new(setup, Hold::Burn, P99),
        ),
    ];
    for bench in &mut benches {
        // nio puts two of the tasks that are to hold a worker each on one.
        bench.sides.retain(|side| side.runtime != Runtime::Nio);
    }
    benches
}

/// The percentile that a bench is about.
const LONGEST: f64 = 100.0;
const P99: f64 = 99.0;

struct Ticker {
    workers: usize,
    hold: Hold,
    time: Duration,
    percentile: f64,
}

impl Ticker {
    fn new(setup: &Setup, hold: Hold, percentile: f64) -> Self {
        let time = Duration::from_millis(setup.scaled(1000));
        Ticker { workers: setup.workers, hold, time, percentile }
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
        Ok(Sample::Value(in_ms(gaps, self.percentile)))
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

/// That percentile of the gaps; none are like no wait.
fn in_ms(mut gaps: Vec<Duration>, percentile: f64) -> f64 {
    if gaps.is_empty() {
        return 0.0;
    }
    gaps.sort_unstable();
    let sorted: Vec<f64> = gaps.iter().map(|gap| gap.as_secs_f64() * 1e3).collect();
    stats::percentile(&sorted, percentile)
}

#[cfg(test)]
mod tests {
    use super::super::sides::Tokio;
    use super::*;

    #[test]
    fn the_longest_gap_and_the_p99_are_of_all_ticks() {
        let gaps: Vec<_> = (0..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(in_ms(gaps.clone(), LONGEST).round(), 100.0);
        assert_eq!(in_ms(gaps, P99).round(), 99.0);
        assert_eq!(in_ms(Vec::new(), P99), 0.0);
    }

    /// Tokio lets ticks wait until a worker comes back; the first is sent when all are gone.
    #[test]
    fn a_runtime_that_does_nothing_about_it_has_a_gap_as_long_as_the_stall() {
        let runtime = Tokio::start(2).unwrap();
        let time = Duration::from_millis(200);
        let mut ticker = Ticker { workers: 2, hold: Hold::Block, time, percentile: LONGEST };
        let Sample::Value(ms) = ticker.sample(&runtime).unwrap() else {
            panic!("a gap is a value");
        };
        // Half of it: that much later at most the thread that sends comes to it.
        assert!(ms >= 100.0, "{ms}");
    }
}
