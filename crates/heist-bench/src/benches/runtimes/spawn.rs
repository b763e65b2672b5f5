//! Many small tasks, spawned by one: from a task, from `block_on`, from another thread.

use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future::block_on;

use super::roll::RollCall;
use super::{AsyncRuntime, Story, bench, on_worker};
use crate::bench::{Bench, Fault, Sample, Setup};
use crate::unit::Unit;

const SPAWNS: u64 = 10_000;

/// Guessed: until all workers have gone to sleep.
const UNTIL_IDLE: Duration = Duration::from_millis(1);

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "spawn_local",
            "a task spawns 10 000 others and waits for all; per spawn",
            Unit::Ns,
            |setup| Local(Spawns::new(setup)),
        ),
        bench(
            "spawn_many_local",
            "block_on spawns 10 000 tasks and waits for all; per spawn",
            Unit::Ns,
            |setup| InBlockOn(Spawns::new(setup)),
        ),
        bench(
            "spawn_remote_idle",
            "another thread spawns 10 000 tasks, workers idle, and waits for all; per spawn",
            Unit::Ns,
            |setup| Remote(Spawns::new(setup)),
        ),
    ]
}

#[derive(Clone, Copy)]
struct Spawns {
    number: u64,
    roll: &'static RollCall,
}

impl Spawns {
    fn new(setup: &Setup) -> Self {
        Spawns { number: setup.scaled(SPAWNS), roll: RollCall::leak() }
    }

    /// All spawns, by a task or `block_on`, and the wait; returns the time it took.
    async fn spawn_inside<R: AsyncRuntime>(self, all: impl Future<Output = ()> + Send) -> Duration {
        let start = Instant::now();
        for number in 0..self.number {
            R::detach(R::spawn(async move { self.roll.here(number) }));
        }
        all.await;
        start.elapsed()
    }

    fn sample(self, elapsed: Duration) -> Result<Sample, Fault> {
        self.roll.check()?;
        Ok(Sample::Timed { elapsed, operations: self.number })
    }
}

struct Local(Spawns);

impl Story for Local {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let all = self.0.roll.begin(self.0.number)?;
        self.0.sample(on_worker(runtime, self.0.spawn_inside::<R>(all)))
    }
}

struct InBlockOn(Spawns);

impl Story for InBlockOn {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let all = self.0.roll.begin(self.0.number)?;
        self.0.sample(runtime.block_on(self.0.spawn_inside::<R>(all)))
    }
}

struct Remote(Spawns);

impl Story for Remote {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let Spawns { number, roll } = self.0;
        thread::sleep(UNTIL_IDLE);
        let elapsed = spawn_and_wait(runtime, number, roll)?;
        self.0.sample(elapsed)
    }
}

/// Spawns `number` tasks from this thread, which is not the runtime's; returns the time until
/// all have run.
pub fn spawn_and_wait<R: AsyncRuntime>(
    runtime: &R,
    number: u64,
    roll: &'static RollCall,
) -> Result<Duration, Fault> {
    let all = roll.begin(number)?;
    let handle = runtime.handle();
    let start = Instant::now();
    for number in 0..number {
        R::detach(R::spawn_from_outside(&handle, async move { roll.here(number) }));
    }
    block_on(all);
    let elapsed = start.elapsed();
    roll.check()?;
    Ok(elapsed)
}
