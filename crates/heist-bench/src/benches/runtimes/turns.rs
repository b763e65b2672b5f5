//! Tasks that take turns: by yielding, by waking each other, by spawning the next one.

use std::time::Instant;

use futures_lite::future::block_on;
use tokio::sync::oneshot;

use super::roll::RollCall;
use super::{AsyncRuntime, Story, bench, on_worker};
use crate::bench::{Bench, Fault, Sample, Setup};
use crate::unit::Unit;

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "yield_many",
            "200 tasks that yield 1000 times each; per yield",
            Unit::Ns,
            Yielding::new,
        ),
        bench(
            "ping_pong",
            "1000 times: two tasks are spawned, wake each other by oneshots; per pair",
            Unit::Ns,
            Pairs::new,
        ),
        bench(
            "chained_spawn",
            "a chain of 1000 tasks, each spawned by the one before; per spawn",
            Unit::Ns,
            Chain::new,
        ),
        bench(
            "spawn_await",
            "a task spawns and awaits 1000 others one after another; per spawn",
            Unit::Ns,
            |setup| Awaited { spawns: setup.scaled(1000) },
        ),
    ]
}

pub struct Yielding {
    tasks: u64,
    yields: u64,
    roll: &'static RollCall,
}

impl Yielding {
    pub fn new(setup: &Setup) -> Self {
        Yielding { tasks: 200, yields: setup.scaled(1000), roll: RollCall::leak() }
    }
}

impl Story for Yielding {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let Yielding { tasks, yields, roll } = *self;
        let all = roll.begin(tasks)?;
        let handle = runtime.handle();
        let (sample, ()) = Sample::time(tasks * yields, || {
            for number in 0..tasks {
                R::detach(R::spawn_from_outside(&handle, async move {
                    for _ in 0..yields {
                        R::yield_now().await;
                    }
                    roll.here(number);
                }));
            }
            block_on(all);
        });
        roll.check()?;
        Ok(sample)
    }
}

struct Pairs {
    pairs: u64,
    roll: &'static RollCall,
}

impl Pairs {
    fn new(setup: &Setup) -> Self {
        Pairs { pairs: setup.scaled(1000), roll: RollCall::leak() }
    }
}

impl Story for Pairs {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let Pairs { pairs, roll } = *self;
        let all = roll.begin(pairs)?;
        let elapsed = on_worker(runtime, async move {
            let start = Instant::now();
            for number in 0..pairs {
                R::detach(R::spawn(ping::<R>(number, roll)));
            }
            all.await;
            start.elapsed()
        });
        roll.check()?;
        Ok(Sample::Timed { elapsed, operations: pairs })
    }
}

/// One half of a pair, which spawns the other. It reports only if its own number came back.
async fn ping<R: AsyncRuntime>(number: u64, roll: &'static RollCall) {
    let (there, ping) = oneshot::channel();
    let (back, pong) = oneshot::channel();
    R::detach(R::spawn(async move {
        if let Ok(number) = ping.await {
            let _ = back.send(number);
        }
    }));
    let _ = there.send(number);
    if let Ok(number) = pong.await {
        roll.here(number);
    }
}

struct Chain {
    links: u64,
    roll: &'static RollCall,
}

impl Chain {
    fn new(setup: &Setup) -> Self {
        Chain { links: setup.scaled(1000), roll: RollCall::leak() }
    }
}

impl Story for Chain {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let Chain { links, roll } = *self;
        let all = roll.begin(links)?;
        let elapsed = on_worker(runtime, async move {
            let start = Instant::now();
            link::<R>(links, roll);
            all.await;
            start.elapsed()
        });
        roll.check()?;
        Ok(Sample::Timed { elapsed, operations: links })
    }
}

/// Spawns one task, which spawns the next, until `left` have been.
fn link<R: AsyncRuntime>(left: u64, roll: &'static RollCall) {
    R::detach(R::spawn(async move {
        roll.here(left - 1);
        if left > 1 {
            link::<R>(left - 1, roll);
        }
    }));
}

struct Awaited {
    spawns: u64,
}

impl Story for Awaited {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let spawns = self.spawns;
        let (elapsed, sum) = on_worker(runtime, async move {
            let start = Instant::now();
            let mut sum = 0;
            for number in 0..spawns {
                sum += R::join(R::spawn(async move { number })).await;
            }
            (start.elapsed(), sum)
        });
        let expected = spawns * (spawns - 1) / 2;
        if sum != expected {
            return Err(Fault::Wrong { what: "sum of the results", expected, found: sum });
        }
        Ok(Sample::Timed { elapsed, operations: spawns })
    }
}
