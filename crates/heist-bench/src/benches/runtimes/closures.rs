//! Closures for threads that may block, spawned by tasks: what the way there and back costs.

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use super::{AsyncRuntime, Story, on_worker, sides, subject};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;

const CLOSURES: u64 = 10_000;

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "spawn_blocking",
            "a task spawns 10 000 blocking closures and awaits all; per closure",
            1,
        ),
        bench(
            "spawn_blocking_many",
            "8 tasks spawn 10 000 blocking closures in all and await them; per closure",
            8,
        ),
    ]
}

/// A runtime with threads for closures that block.
pub trait SpawnsBlocking: AsyncRuntime {
    /// To be called by a task of the runtime.
    fn spawn_blocking<F, T>(closure: F) -> Self::Task<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static;
}

fn bench(name: &'static str, about: &'static str, spawners: u64) -> Bench {
    Bench::new(name, about, Unit::Ns, Pace::Calibrated)
        .side(Runtime::Heist, move |setup| side::<sides::Heist>(setup, spawners))
        .side(Runtime::Tokio, move |setup| side::<sides::Tokio>(setup, spawners))
}

fn side<B: SpawnsBlocking>(
    setup: &Setup,
    spawners: u64,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<B>, Fault> {
    subject::<B, Closures<B>, _>(setup, move |setup| Closures {
        number: setup.scaled(CLOSURES),
        spawners,
        runtime: PhantomData,
    })
}

/// `B` is the runtime of the side; a story knows it by a narrower interface.
struct Closures<B> {
    number: u64,
    spawners: u64,
    runtime: PhantomData<B>,
}

impl<B: SpawnsBlocking> Story for Closures<B> {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let Closures { number, spawners, .. } = *self;
        let (elapsed, found) = on_worker(runtime, spawn_all::<B>(number, spawners));
        let expected = number * (number - 1) / 2;
        if found != expected {
            let what = "sum of what the closures returned";
            return Err(Fault::Wrong { what, expected, found });
        }
        Ok(Sample::Timed { elapsed, operations: number })
    }
}

/// Returns the time until all closures have been awaited, and the sum of what they returned.
async fn spawn_all<B: SpawnsBlocking>(number: u64, spawners: u64) -> (Duration, u64) {
    let start = Instant::now();
    let mut sum = 0;
    if spawners == 1 {
        sum += spawn_some::<B>(0, number, 1).await;
    } else {
        let spawn = |first| B::spawn(spawn_some::<B>(first, number, spawners));
        let tasks: Vec<_> = (0..spawners).map(spawn).collect();
        for task in tasks {
            sum += B::join(task).await;
        }
    }
    (start.elapsed(), sum)
}

/// The closures of one task: each returns its number.
async fn spawn_some<B: SpawnsBlocking>(first: u64, end: u64, step: u64) -> u64 {
    let numbers = (first..end).step_by(step as usize);
    let closures: Vec<_> = numbers.map(|number| B::spawn_blocking(move || number)).collect();
    let mut sum = 0;
    for closure in closures {
        sum += B::join(closure).await;
    }
    sum
}
