//! The owner on its own: what each spawn and each join pays, stolen from or not.

use std::hint::black_box;

use super::Queue;
use super::sides::{CrossbeamFifo, CrossbeamLifo, HeistDeque, HeistRing, St3Fifo, St3Lifo};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample};
use crate::received::{Mismatch, Received};
use crate::unit::Unit;

pub fn benches() -> Vec<Bench> {
    vec![
        bench::<HeistDeque, CrossbeamLifo, St3Lifo, 1>(
            "deque_push_pop",
            "LIFO owner alone: push one, pop one; per pair",
        ),
        bench::<HeistRing, CrossbeamFifo, St3Fifo, 1>(
            "ring_push_pop",
            "FIFO owner alone: push one, pop one; per pair",
        ),
        bench::<HeistDeque, CrossbeamLifo, St3Lifo, 64>(
            "deque_batch64",
            "LIFO owner alone: push 64, pop 64; per push and pop",
        ),
        bench::<HeistRing, CrossbeamFifo, St3Fifo, 64>(
            "ring_batch64",
            "FIFO owner alone: push 64, pop 64; per push and pop",
        ),
    ]
}

fn bench<H: Queue, C: Queue, S: Queue, const BATCH: u64>(
    name: &'static str,
    about: &'static str,
) -> Bench {
    Bench::new(name, about, Unit::Ns, Pace::Calibrated)
        .side(Runtime::Heist, |_| Ok(subject::<H, BATCH>()))
        .side(Runtime::Crossbeam, |_| Ok(subject::<C, BATCH>()))
        .side(Runtime::St3, |_| Ok(subject::<S, BATCH>()))
}

/// One iteration is one push and one pop.
fn subject<Q: Queue, const BATCH: u64>() -> impl FnMut(u64) -> Result<Sample, Fault> {
    let mut queue = Q::new();
    // Somebody could steal at any time, as in a scheduler, though nobody does.
    let stealer = queue.stealer();
    move |iterations| {
        let _stealer = &stealer;
        let rounds = iterations.div_ceil(BATCH);
        let items = rounds * BATCH;
        let (sample, found) = Sample::time(items, || push_pop::<Q, BATCH>(&mut queue, rounds));
        Mismatch::check(Received::of_all(items), found)?;
        Ok(sample)
    }
}

#[inline(never)]
fn push_pop<Q: Queue, const BATCH: u64>(queue: &mut Q, rounds: u64) -> Received {
    let mut found = Received::default();
    let mut next = 0;
    for _ in 0..rounds {
        for _ in 0..BATCH {
            // An item that is refused is missing from those received.
            let _ = queue.push(next);
            next += 1;
        }
        // Between a push and its pop there is other code in real use: the compiler must not
        // carry the queue's state in registers from one to the other.
        black_box(&mut *queue);
        for _ in 0..BATCH {
            if let Some(item) = queue.pop() {
                found.add(item);
            }
        }
        black_box(&mut *queue);
    }
    found
}
