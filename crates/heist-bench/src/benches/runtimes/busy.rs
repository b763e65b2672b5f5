//! Spawns from outside while the workers have enough to do: how long until they look up?

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future::block_on;

use super::roll::RollCall;
use super::spawn::spawn_and_wait;
use super::{AsyncRuntime, Story, bench};
use crate::bench::{Bench, Fault, Sample, Setup};
use crate::unit::Unit;

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "remote_busy1",
            "as spawn_remote_idle, against 8 tasks that yield and stall for 10 us; per spawn",
            Unit::Ns,
            Churning::new,
        ),
        bench(
            "remote_busy2",
            "1000 spawns from outside, a chain a worker that stalls and respawns; per spawn",
            Unit::Ns,
            Chained::new,
        ),
    ]
}

/// A task that computes for a while. It leaves the core to other threads, as the producer may
/// have no other.
fn stall() {
    const STALL: Duration = Duration::from_micros(10);
    let start = Instant::now();
    while start.elapsed() < STALL {
        thread::yield_now();
    }
}

/// What runs in the background during a sample, and ends with it.
#[derive(Default)]
struct Background {
    /// How many of its tasks have been running.
    up: AtomicU64,
    stop: AtomicBool,
}

impl Background {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn wait_until_up(&self, tasks: u64) {
        while self.up.load(Ordering::Relaxed) < tasks {
            thread::yield_now();
        }
    }
}

/// Stops the background, also if the sample goes wrong.
struct StopOnDrop<'a>(&'a Background);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

const CHURNS: u64 = 8;

struct Churning {
    spawns: u64,
    roll: &'static RollCall,
}

impl Churning {
    fn new(setup: &Setup) -> Self {
        Churning { spawns: setup.scaled(10_000), roll: RollCall::leak() }
    }
}

impl Story for Churning {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let background = Arc::new(Background::default());
        let stop = StopOnDrop(&background);
        let churn =
            || R::spawn_from_outside(&runtime.handle(), churn::<R>(Arc::clone(&background)));
        let churns: Vec<_> = std::iter::repeat_with(churn).take(CHURNS as usize).collect();
        background.wait_until_up(CHURNS);

        let elapsed = spawn_and_wait(runtime, self.spawns, self.roll)?;

        drop(stop);
        churns.into_iter().for_each(|churn| block_on(R::join(churn)));
        Ok(Sample::Timed { elapsed, operations: self.spawns })
    }
}

async fn churn<R: AsyncRuntime>(background: Arc<Background>) {
    background.up.fetch_add(1, Ordering::Relaxed);
    while !background.is_stopped() {
        R::yield_now().await;
        stall();
    }
}

struct Chained {
    spawns: u64,
    chains: u64,
    roll: &'static RollCall,
}

impl Chained {
    fn new(setup: &Setup) -> Self {
        let chains = setup.workers as u64;
        Chained { spawns: setup.scaled(1000), chains, roll: RollCall::leak() }
    }
}

impl Story for Chained {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let background = Arc::new(Background::default());
        let stop = StopOnDrop(&background);
        let (alive, ended) = mpsc::channel();
        for _ in 0..self.chains {
            let chain = Chain { background: Arc::clone(&background), _alive: alive.clone() };
            R::detach(R::spawn_from_outside(&runtime.handle(), async move {
                chain.background.up.fetch_add(1, Ordering::Relaxed);
                chain.spawn_link::<R>();
            }));
        }
        drop(alive);
        background.wait_until_up(self.chains);

        let elapsed = spawn_and_wait(runtime, self.spawns, self.roll)?;

        drop(stop);
        // Nobody sends: it ends when the last chain has dropped its sender.
        let Err(_) = ended.recv();
        Ok(Sample::Timed { elapsed, operations: self.spawns })
    }
}

/// Handed from link to link.
struct Chain {
    background: Arc<Background>,
    _alive: Sender<Infallible>,
}

impl Chain {
    /// The link stalls, then spawns the next one.
    fn spawn_link<R: AsyncRuntime>(self) {
        R::detach(R::spawn(async move {
            stall();
            if !self.background.is_stopped() {
                self.spawn_link::<R>();
            }
        }));
    }
}
