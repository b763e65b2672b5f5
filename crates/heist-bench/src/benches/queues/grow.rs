//! An unbounded deque that grows far beyond its first capacity.

use super::Queue;
use super::sides::{CrossbeamLifo, HeistDeque};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::received::{Mismatch, Received};
use crate::unit::Unit;

const ITEMS: u64 = 1 << 20;

pub fn bench() -> Bench {
    Bench::new(
        "deque_grow",
        "a new LIFO deque: push 1 Mi items, pop them all, drop it; per item",
        Unit::Ns,
        Pace::Once,
    )
    .side(Runtime::Heist, |setup| Ok(subject::<HeistDeque>(setup)))
    .side(Runtime::Crossbeam, |setup| Ok(subject::<CrossbeamLifo>(setup)))
}

fn subject<Q: Queue>(setup: &Setup) -> impl FnMut(u64) -> Result<Sample, Fault> + use<Q> {
    let items = setup.scaled(ITEMS);
    move |iterations| {
        let (sample, found) = Sample::time(items * iterations, || {
            let mut found = Received::default();
            (0..iterations).for_each(|_| found.merge(grow_and_shrink::<Q>(items)));
            found
        });
        let mut expected = Received::default();
        (0..iterations).for_each(|_| expected.merge(Received::of_all(items)));
        Mismatch::check(expected, found)?;
        Ok(sample)
    }
}

/// The queue is made and dropped inside the timed part: one side frees its outgrown buffers
/// when it is dropped, another while it runs or, through its garbage collector, some time
/// later.
#[inline(never)]
fn grow_and_shrink<Q: Queue>(items: u64) -> Received {
    let mut queue = Q::new();
    for item in 0..items {
        let _ = queue.push(item);
    }
    let mut found = Received::default();
    while let Some(item) = queue.pop() {
        found.add(item);
    }
    found
}
