//! Threads that wait in `block_on`: what one call costs, beside worker threads and without any.
//!
//! Without, the runtime is its flavour for one thread, which runs the tasks while it waits.

use std::time::Instant;

use super::channels::ask;
use super::{AsyncRuntime, Story, bench, sides, subject};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::received::{Mismatch, Received};
use crate::unit::Unit;

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "block_on",
            "a thread calls block_on 1000 times with what is ready; per call",
            Unit::Ns,
            |setup| Calls { number: setup.scaled(1000), spawns: false },
        ),
        bench(
            "block_on_spawn",
            "as block_on, each call spawns a task and awaits it; per call",
            Unit::Ns,
            |setup| Calls { number: setup.scaled(1000), spawns: true },
        ),
        alone(
            "alone_block_on",
            "as block_on, on a runtime without worker threads; per call",
            |setup| Calls { number: setup.scaled(1000), spawns: false },
        ),
        alone(
            "alone_spawn",
            "as block_on_spawn, on a runtime without worker threads; per call",
            |setup| Calls { number: setup.scaled(1000), spawns: true },
        ),
        alone(
            "alone_oneshot",
            "as oneshot, within block_on on a runtime without worker threads; per question",
            |setup| AskAlone { number: setup.scaled(1000) },
        ),
    ]
}

/// The bench of a story for one thread.
fn alone<S, M>(name: &'static str, about: &'static str, make: M) -> Bench
where
    S: Story,
    M: Fn(&Setup) -> S + Copy + Send + 'static,
{
    Bench::new(name, about, Unit::Ns, Pace::Calibrated)
        .side(Runtime::Heist, move |setup| subject::<sides::HeistAlone, S, M>(setup, make))
        .side(Runtime::Tokio, move |setup| subject::<sides::TokioAlone, S, M>(setup, make))
}

struct Calls {
    number: u64,
    /// Whether there is something to wait for.
    spawns: bool,
}

impl Story for Calls {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let Calls { number, spawns } = *self;
        let mut found = Received::default();
        let start = Instant::now();
        for item in 0..number {
            found.add(if spawns {
                runtime.block_on(async move { R::join(R::spawn(async move { item })).await })
            } else {
                runtime.block_on(async move { item })
            });
        }
        let elapsed = start.elapsed();
        Mismatch::check(Received::of_all(number), found)?;
        Ok(Sample::Timed { elapsed, operations: number })
    }
}

struct AskAlone {
    number: u64,
}

impl Story for AskAlone {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let (elapsed, found) = runtime.block_on(ask::<R>(self.number));
        Mismatch::check(Received::of_all(self.number), found)?;
        Ok(Sample::Timed { elapsed, operations: self.number })
    }
}
