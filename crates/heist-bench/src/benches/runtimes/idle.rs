//! What a runtime without work costs the machine: how often its threads wake up.

use std::thread;
use std::time::{Duration, Instant};

use super::roll::RollCall;
use super::spawn::spawn_and_wait;
use super::threads::{self, Switches, Tid};
use super::{AsyncRuntime, Story};
use crate::bench::{Bench, Fault, Sample, Setup};
use crate::unit::Unit;

/// Before the count starts: workers may search for a while before they sleep.
const SETTLE: Duration = Duration::from_millis(250);

pub fn bench() -> Bench {
    super::bench(
        "idle",
        "a second without work; context switches of the runtime's threads in it",
        Unit::Switches,
        Idle::new,
    )
}

struct Idle {
    time: Duration,
    roll: &'static RollCall,
    /// All threads of the process before the runtime was started.
    before: Vec<Tid>,
    /// The runtime's.
    threads: Vec<Tid>,
}

impl Idle {
    fn new(setup: &Setup) -> Self {
        Idle {
            time: Duration::from_millis(setup.scaled(1000)),
            roll: RollCall::leak(),
            // An error comes again when the runtime is up, and is reported then.
            before: threads::all().unwrap_or_default(),
            threads: Vec::new(),
        }
    }

    /// A little work, spread over all workers.
    fn work<R: AsyncRuntime>(&self, runtime: &R) -> Result<(), Fault> {
        spawn_and_wait(runtime, 1000, self.roll)?;
        thread::sleep(SETTLE);
        Ok(())
    }
}

impl Story for Idle {
    fn ready<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<(), Fault> {
        // Also starts threads that only come with the first task.
        self.work(runtime)?;
        self.threads = runtime.threads_since(&self.before)?;
        Ok(())
    }

    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        self.work(runtime)?;
        let switches = || match threads::switches(&self.threads) {
            Ok(Switches { voluntary, involuntary }) => Ok(voluntary + involuntary),
            Err(error) => Err(Fault::Setup(error)),
        };
        let (before, start) = (switches()?, Instant::now());
        thread::sleep(self.time);
        let (after, elapsed) = (switches()?, start.elapsed());
        // A thread that ended takes its count with it.
        Ok(Sample::Value(after.saturating_sub(before) as f64 / elapsed.as_secs_f64()))
    }
}
