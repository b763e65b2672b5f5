//! Several threads outside of the runtime spawn at the same time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future::block_on;

use super::roll::RollCall;
use super::{AsyncRuntime, Story, bench};
use crate::bench::{Bench, Fault, Sample, Setup};
use crate::unit::Unit;

const TASKS: u64 = 12_800;

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "remote_spawn",
            "8 threads spawn 12 800 tasks in all; per spawn",
            Unit::Ns,
            |setup| Crowd::new(setup, 8),
        ),
        bench("remote_spawn_p1", "1 thread spawns 12 800 tasks; per spawn", Unit::Ns, |setup| {
            Crowd::new(setup, 1)
        }),
        bench(
            "remote_spawn_p2",
            "2 threads spawn 12 800 tasks in all; per spawn",
            Unit::Ns,
            |setup| Crowd::new(setup, 2),
        ),
        bench(
            "remote_spawn_p4",
            "4 threads spawn 12 800 tasks in all; per spawn",
            Unit::Ns,
            |setup| Crowd::new(setup, 4),
        ),
    ]
}

struct Crowd {
    tasks: u64,
    producers: usize,
    roll: &'static RollCall,
}

impl Crowd {
    fn new(setup: &Setup, producers: usize) -> Self {
        Crowd { tasks: setup.scaled(TASKS), producers, roll: RollCall::leak() }
    }
}

impl Story for Crowd {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let elapsed = self.push_all(runtime)?;
        self.roll.check()?;
        Ok(Sample::Timed { elapsed, operations: self.tasks })
    }
}

impl Crowd {
    /// The clock starts when all producers stand at the gate, and stops when all tasks have
    /// run.
    fn push_all<R: AsyncRuntime>(&self, runtime: &R) -> Result<Duration, Fault> {
        let Crowd { tasks, producers, roll } = *self;
        let all = roll.begin(tasks)?;
        let gate = Barrier::new(producers + 1);
        let arrived = AtomicUsize::new(0);
        let elapsed = thread::scope(|scope| {
            for producer in 0..producers {
                let (gate, arrived, handle) = (&gate, &arrived, runtime.handle());
                scope.spawn(move || {
                    arrived.fetch_add(1, Ordering::Relaxed);
                    gate.wait();
                    for number in (producer as u64..tasks).step_by(producers) {
                        R::detach(R::spawn_from_outside(&handle, async move { roll.here(number) }));
                    }
                });
            }
            while arrived.load(Ordering::Relaxed) < producers {
                thread::yield_now();
            }
            let start = Instant::now();
            gate.wait();
            block_on(all);
            start.elapsed()
        });
        Ok(elapsed)
    }
}
