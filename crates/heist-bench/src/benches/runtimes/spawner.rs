//! A task that keeps its worker and spawns a small task now and then: how often are threads woken
//! for it, and what does that cost the one that spawns?

use std::time::Instant;

use super::roll::RollCall;
use super::spawn::spawn_and_wait;
use super::threads::{self, Tid};
use super::{AsyncRuntime, Story, on_worker};
use crate::bench::{Bench, Fault, Sample, Setup};
use crate::benches::spin::Spin;
use crate::unit::Unit;

/// How long the task computes between two spawns, in microseconds: a worker that found nothing has
/// long gone to sleep.
const ROUND: u64 = 400;

/// How long a spawned task computes, in microseconds.
const SPAWNED: u64 = 10;

pub fn bench() -> Bench {
    super::bench(
        "one_spawner",
        "a task computes for 400 us and spawns one of 10 us, 200 times; per round",
        Unit::Us,
        Spawner::new,
    )
    .row(
        "one_spawner_csw",
        "as one_spawner; how often threads of the runtime sleep, per spawn",
        Unit::Switches,
    )
}

struct Spawner {
    rounds: u64,
    roll: &'static RollCall,
    /// All threads of the process before the runtime was started.
    before: Vec<Tid>,
    /// The runtime's.
    threads: Vec<Tid>,
}

impl Spawner {
    fn new(setup: &Setup) -> Self {
        Spawner {
            rounds: setup.scaled(200),
            roll: RollCall::leak(),
            // An error comes again when the runtime is up, and is reported then.
            before: threads::all().unwrap_or_default(),
            threads: Vec::new(),
        }
    }

    fn sleeps(&self) -> Result<u64, Fault> {
        threads::switches(&self.threads).map(|all| all.voluntary).map_err(Fault::Setup)
    }
}

impl Story for Spawner {
    fn ready<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<(), Fault> {
        // Also starts threads that only come with the first task.
        spawn_and_wait(runtime, 1000, self.roll)?;
        self.threads = runtime.threads_since(&self.before)?;
        Ok(())
    }

    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let (rounds, roll) = (self.rounds, self.roll);
        let all = roll.begin(rounds)?;
        let before = self.sleeps()?;
        let elapsed = on_worker(runtime, async move {
            let [round, spawned] = [ROUND, SPAWNED].map(|time| Spin::microsecond().times(time));
            let start = Instant::now();
            for number in 0..rounds {
                round.burn();
                R::detach(R::spawn(async move {
                    spawned.burn();
                    roll.here(number);
                }));
            }
            all.await;
            start.elapsed()
        });
        let sleeps = self.sleeps()?.saturating_sub(before);
        roll.check()?;
        let per_round = |value: f64| value / rounds as f64;
        let microseconds = elapsed.as_secs_f64() * 1e6;
        Ok(Sample::Values([microseconds, sleeps as f64].map(per_round).to_vec()))
    }
}
