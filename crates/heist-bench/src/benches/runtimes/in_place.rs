//! A task that may block where it is: what it costs to give the worker's place away, and to
//! take it back when nobody has come for it.

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use super::{AsyncRuntime, Story, on_worker, sides, subject};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;

const CALLS: u64 = 1000;

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "block_in_place",
            "a task calls block_in_place 1000 times with nothing to do, in one poll; per call",
            false,
        ),
        bench(
            "block_in_place_polls",
            "as block_in_place, with a yield after each call; per call and yield",
            true,
        ),
    ]
}

/// A runtime whose tasks may block, if they say so.
pub trait BlocksInPlace: AsyncRuntime {
    /// Calls `closure`, which may block. Must be called by a task of the runtime.
    fn block_in_place<T>(closure: impl FnOnce() -> T) -> T;
}

fn bench(name: &'static str, about: &'static str, yields: bool) -> Bench {
    Bench::new(name, about, Unit::Ns, Pace::Calibrated)
        .side(Runtime::Heist, move |setup| side::<sides::Heist>(setup, yields))
        .side(Runtime::Tokio, move |setup| side::<sides::Tokio>(setup, yields))
}

fn side<B: BlocksInPlace>(
    setup: &Setup,
    yields: bool,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<B>, Fault> {
    subject::<B, InPlace<B>, _>(setup, move |setup| InPlace {
        calls: setup.scaled(CALLS),
        yields,
        runtime: PhantomData,
    })
}

/// `B` is the runtime of the side; a story knows it by a narrower interface.
struct InPlace<B> {
    calls: u64,
    /// Whether each call is in a poll of its own. A worker whose place was taken during one
    /// call has none to give away in the next: without a yield between them, the rest would be
    /// plain calls.
    yields: bool,
    runtime: PhantomData<B>,
}

impl<B: BlocksInPlace> Story for InPlace<B> {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let InPlace { calls, yields, .. } = *self;
        let (elapsed, found) = on_worker(runtime, call::<B>(calls, yields));
        let expected = calls * (calls - 1) / 2;
        if found != expected {
            let what = "sum of what the closures returned";
            return Err(Fault::Wrong { what, expected, found });
        }
        Ok(Sample::Timed { elapsed, operations: calls })
    }
}

/// Returns the time that all calls took, and the sum of what they returned.
async fn call<B: BlocksInPlace>(calls: u64, yields: bool) -> (Duration, u64) {
    let start = Instant::now();
    let mut sum = 0;
    for number in 0..calls {
        sum += B::block_in_place(|| number);
        if yields {
            B::yield_now().await;
        }
    }
    (start.elapsed(), sum)
}
