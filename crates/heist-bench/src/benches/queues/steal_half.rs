//! One thief takes half of a ring, with nobody in its way.

use std::time::{Duration, Instant};

use super::sides::{CrossbeamFifo, HeistRing, St3Fifo};
use super::{Attempt, Queue};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample};
use crate::received::{Mismatch, Received};
use crate::unit::Unit;

const FILL: u64 = 128;

/// Victims that are filled and then stolen from: reading the clock once for all of them keeps its
/// cost, about that of a short steal, out of the result. Few enough for the first-level cache.
const VICTIMS: usize = 16;

pub fn bench() -> Bench {
    Bench::new(
        "ring_steal_half",
        "steal half of a ring of 128 into an empty one, filling and draining not timed; per steal",
        Unit::Ns,
        Pace::Calibrated,
    )
    .side(Runtime::Heist, |_| Ok(subject::<HeistRing>()))
    .side(Runtime::Crossbeam, |_| Ok(subject::<CrossbeamFifo>()))
    .side(Runtime::St3, |_| Ok(subject::<St3Fifo>()))
}

/// One iteration is one steal.
fn subject<Q: Queue>() -> impl FnMut(u64) -> Result<Sample, Fault> {
    let mut thefts: Vec<Theft<Q>> = (0..VICTIMS).map(|_| Theft::new()).collect();
    move |iterations| {
        let rounds = iterations.div_ceil(VICTIMS as u64);
        let mut elapsed = Duration::ZERO;
        for _ in 0..rounds {
            thefts.iter_mut().for_each(Theft::fill);
            let start = Instant::now();
            thefts.iter_mut().for_each(Theft::steal);
            elapsed += start.elapsed();
            thefts.iter_mut().try_for_each(Theft::check)?;
        }
        Ok(Sample::Timed { elapsed, operations: rounds * VICTIMS as u64 })
    }
}

struct Theft<Q: Queue> {
    victim: Q,
    stealer: Q::Stealer,
    thief: Q,
    attempt: Attempt,
}

impl<Q: Queue> Theft<Q> {
    fn new() -> Self {
        let victim = Q::new();
        let stealer = victim.stealer();
        Theft { victim, stealer, thief: Q::new(), attempt: Attempt::Empty }
    }

    fn fill(&mut self) {
        for item in 0..FILL {
            let _ = self.victim.push(item);
        }
    }

    #[inline]
    fn steal(&mut self) {
        self.attempt = Q::steal(&self.stealer, &mut self.thief);
    }

    /// Empties both queues.
    fn check(&mut self) -> Result<(), Fault> {
        let mut found = Received::default();
        if let Attempt::Took(item) = self.attempt {
            found.add(item);
        }
        while let Some(item) = self.thief.pop() {
            found.add(item);
        }
        let stolen = found.count();
        while let Some(item) = self.victim.pop() {
            found.add(item);
        }
        Mismatch::check(Received::of_all(FILL), found)?;
        if stolen != FILL / 2 {
            return Err(Fault::Wrong { what: "items stolen", expected: FILL / 2, found: stolen });
        }
        Ok(())
    }
}
