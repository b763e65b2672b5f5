//! What is left of stalls when they are over: nothing, if seats and threads come back.

use std::marker::PhantomData;
use std::thread;
use std::time::Duration;

use super::blockade::{Blockade, Hold};
use super::threads::{self, Tid};
use super::turns::Yielding;
use super::{AsyncRuntime, Story, on_worker, sides, subject};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;
use heist_testing::stats::Stats;

const STALLS: u64 = 100;

/// Longer than the 10 ms after which a worker counts as stuck, by what may pass until somebody
/// looks; and not by much more: the worker is back when another has just taken its place.
const STALL: Duration = Duration::from_millis(25);

/// A stall that is over before anybody has seen it does not count; that many blockades must do.
const BLOCKADES_PER_STALL: u64 = 20;

/// The time from the last stall to the second measurement.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of rounds; each throughput is their median.
const ROUNDS: u64 = 15;

pub fn bench() -> Bench {
    Bench::new(
        "stall_recovery",
        "yield_many a second after 100 stalls, of what it was before; all threads gone",
        Unit::Percent,
        Pace::Once,
    )
    .side(Runtime::Heist, side::<sides::HeistShortLived>)
}

/// A runtime that has others work in place of workers that are stuck, on threads that end soon
/// when they have nothing to do.
pub trait LendsSeats: AsyncRuntime {
    /// Stalls so far. To be called by a task of the runtime.
    fn stalls() -> u64;

    /// Spare workers that there are now. To be called by a task of the runtime.
    fn spares() -> usize;
}

fn side<L: LendsSeats>(
    setup: &Setup,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<L>, Fault> {
    subject::<L, Recovery<L>, _>(setup, |setup| Recovery {
        workers: setup.workers,
        stalls: setup.scaled(STALLS),
        rounds: setup.scaled(ROUNDS),
        yielding: Yielding::new(setup),
        base: Vec::new(),
        runtime: PhantomData,
    })
}

/// `L` is the runtime of the side; a story knows it by a narrower interface.
struct Recovery<L> {
    workers: usize,
    stalls: u64,
    rounds: u64,
    yielding: Yielding,
    /// All threads of the process before the first stall.
    base: Vec<Tid>,
    runtime: PhantomData<L>,
}

impl<L: LendsSeats> Story for Recovery<L> {
    fn ready<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<(), Fault> {
        // Also starts threads that only come with the first task.
        self.nanoseconds(runtime)?;
        self.base = threads::all().map_err(Fault::Setup)?;
        Ok(())
    }

    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let before = self.nanoseconds(runtime)?;
        self.stall(runtime)?;
        thread::sleep(PAUSE);
        self.check(runtime)?;
        let after = self.nanoseconds(runtime)?;
        Ok(Sample::Value(100.0 * before / after))
    }
}

impl<L: LendsSeats> Recovery<L> {
    /// Per yield.
    fn nanoseconds<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<f64, Fault> {
        let round = |_| Ok(self.yielding.sample(runtime)?.in_units(&[Unit::Ns])[0]);
        let rounds: Vec<f64> = (0..self.rounds).map(round).collect::<Result<_, Fault>>()?;
        Ok(Stats::of(&rounds).median)
    }

    /// Holds all workers with blocked tasks, again and again, until `self.stalls` stalls were
    /// counted.
    fn stall<R: AsyncRuntime>(&self, runtime: &R) -> Result<(), Fault> {
        let count = || on_worker(runtime, async { L::stalls() });
        let before = count();
        for _ in 0..self.stalls * BLOCKADES_PER_STALL {
            let blockade = Blockade::lay(runtime, self.workers, Hold::Block, STALL)?;
            let stalls = count() - before;
            blockade.join();
            if stalls >= self.stalls {
                return Ok(());
            }
        }
        let found = count() - before;
        Err(Fault::Wrong { what: "stalls that were seen", expected: self.stalls, found })
    }

    fn check<R: AsyncRuntime>(&self, runtime: &R) -> Result<(), Fault> {
        let spares = on_worker(runtime, async { L::spares() });
        if spares > 0 {
            let what = "spare workers after the stalls";
            return Err(Fault::Wrong { what, expected: 0, found: spares as u64 });
        }
        let more = threads::since(&self.base).map_err(Fault::Setup)?.len();
        if more > 0 {
            let what = "threads that the stalls have left";
            return Err(Fault::Wrong { what, expected: 0, found: more as u64 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sides::HeistShortLived;
    use super::*;

    fn recovery() -> Recovery<HeistShortLived> {
        let setup = Setup { workers: 2, quick: true };
        Recovery {
            workers: setup.workers,
            stalls: 1,
            rounds: 1,
            yielding: Yielding::new(&setup),
            base: threads::all().unwrap(),
            runtime: PhantomData,
        }
    }

    /// The task that counts is the one that waits: it runs, and finds the stall it waited for.
    #[test]
    fn stalls_are_seen_and_counted() {
        let runtime = HeistShortLived::start(2).unwrap();
        recovery().stall(&runtime).unwrap();
        assert!(on_worker(&runtime, async { HeistShortLived::stalls() }) >= 1);
    }

    #[test]
    fn a_thread_too_many_is_found() {
        // The threads of this runtime are not in the base.
        let recovery = recovery();
        let runtime = HeistShortLived::start(2).unwrap();
        let message = recovery.check(&runtime).unwrap_err().to_string();
        assert!(message.starts_with("threads that the stalls have left: expected 0"), "{message}");
    }
}
