//! Closures for threads that may block, spawned by tasks: what the way there and back costs.

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use super::{AsyncRuntime, Story, on_worker, sides, subject};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;

const CLOSURES: u64 = 10_000;
const TURNS: u64 = 1000;

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "spawn_blocking",
            "a task spawns 10 000 blocking closures and awaits all; per closure",
            |setup| Plan::at_once(setup, 1),
        ),
        bench(
            "spawn_blocking_many",
            "8 tasks spawn 10 000 blocking closures in all and await them; per closure",
            |setup| Plan::at_once(setup, 8),
        ),
        bench(
            "spawn_blocking_await",
            "a task spawns and awaits 1000 blocking closures, one after another; per closure",
            |setup| Plan { number: setup.scaled(TURNS), spawners: 1, ahead: 1 },
        ),
    ]
}

/// A runtime with threads for closures that block.
pub trait SpawnsBlocking: AsyncRuntime {
    /// Spawns a closure. Must be called by a task of the runtime.
    fn spawn_blocking<F, T>(closure: F) -> Self::Task<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static;
}

fn bench(name: &'static str, about: &'static str, plan: fn(&Setup) -> Plan) -> Bench {
    Bench::new(name, about, Unit::Ns, Pace::Calibrated)
        .side(Runtime::Heist, move |setup| side::<sides::Heist>(setup, plan))
        .side(Runtime::Tokio, move |setup| side::<sides::Tokio>(setup, plan))
}

fn side<B: SpawnsBlocking>(
    setup: &Setup,
    plan: fn(&Setup) -> Plan,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<B>, Fault> {
    subject::<B, Closures<B>, _>(setup, move |setup| Closures {
        plan: plan(setup),
        runtime: PhantomData,
    })
}

#[derive(Debug, Clone, Copy)]
struct Plan {
    number: u64,
    spawners: u64,
    /// How many closures a spawner has spawned before it awaits the first of them.
    ahead: u64,
}

impl Plan {
    fn at_once(setup: &Setup, spawners: u64) -> Self {
        let number = setup.scaled(CLOSURES);
        Plan { number, spawners, ahead: number }
    }

    /// Returns the time until all closures have been awaited, and the sum of what they returned.
    async fn carry_out<B: SpawnsBlocking>(self) -> (Duration, u64) {
        let start = Instant::now();
        let mut sum = 0;
        if self.spawners == 1 {
            sum += self.spawn_some::<B>(0).await;
        } else {
            let spawn = |first| B::spawn(self.spawn_some::<B>(first));
            let tasks: Vec<_> = (0..self.spawners).map(spawn).collect();
            for task in tasks {
                sum += B::join(task).await;
            }
        }
        (start.elapsed(), sum)
    }

    /// The closures of one task: each returns its number.
    async fn spawn_some<B: SpawnsBlocking>(self, first: u64) -> u64 {
        let mut numbers = (first..self.number).step_by(self.spawners as usize).peekable();
        let mut sum = 0;
        while numbers.peek().is_some() {
            let some = numbers.by_ref().take(self.ahead as usize);
            let closures: Vec<_> = some.map(|number| B::spawn_blocking(move || number)).collect();
            for closure in closures {
                sum += B::join(closure).await;
            }
        }
        sum
    }
}

/// `B` is the runtime of the side; a story knows it by a narrower interface.
struct Closures<B> {
    plan: Plan,
    runtime: PhantomData<B>,
}

impl<B: SpawnsBlocking> Story for Closures<B> {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let number = self.plan.number;
        let (elapsed, found) = on_worker(runtime, self.plan.carry_out::<B>());
        let expected = number * (number - 1) / 2;
        if found != expected {
            let what = "sum of what the closures returned";
            return Err(Fault::Wrong { what, expected, found });
        }
        Ok(Sample::Timed { elapsed, operations: number })
    }
}
