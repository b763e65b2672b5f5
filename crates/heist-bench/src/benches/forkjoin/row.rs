//! Joins one after the other, with little to do in each: a list, and a loop. There is never more
//! than one job to steal, and that may be so small that it takes longer to pass it on.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use super::{Pool, Work, expect};
use crate::bench::{Bench, Fault, Setup};
use crate::benches::spin::Spin;
use crate::unit::Unit;

pub fn benches() -> Vec<Bench> {
    let row = |name, about, shape, leaf, leaves| {
        let shared = Shared::new();
        super::bench(name, about, Unit::Ns, move |setup: &Setup| {
            let leaves = if setup.quick { 10 } else { leaves };
            Row::of(shared.get(|| Plan::new(shape, Spin::of(leaf), leaves)))
        })
    };
    let (small, large) = (Duration::from_nanos(50), Duration::from_micros(5));
    vec![
        row(
            "list_50ns",
            "a list: a join of an element of 50 ns and the rest; per element",
            Shape::List,
            small,
            2000,
        ),
        row("list_5us", "the same with 5 us", Shape::List, large, 200),
        row(
            "pairs_50ns",
            "a loop of joins of two elements of 50 ns; per element",
            Shape::Pairs,
            small,
            4000,
        ),
        row("pairs_5us", "the same with 5 us", Shape::Pairs, large, 200),
    ]
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    /// The first, and then the rest, which is another list.
    List,
    /// Two at a time.
    Pairs,
}

/// The workload, which is the same for all sides.
struct Plan {
    shape: Shape,
    leaf: Spin,
    leaves: u64,
    /// The expected sum.
    sum: u64,
}

impl Plan {
    fn new(shape: Shape, leaf: Spin, leaves: u64) -> Self {
        let sum = (0..leaves).map(|seed| leaf.spin(seed)).fold(0, u64::wrapping_add);
        Plan { shape, leaf, leaves, sum }
    }
}

struct Row {
    plan: Arc<Plan>,
    found: u64,
}

impl Row {
    fn of(plan: Arc<Plan>) -> Self {
        Row { plan, found: 0 }
    }
}

impl Work for Row {
    fn operations(&self) -> u64 {
        self.plan.leaves
    }

    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        let Plan { shape, leaf, leaves, .. } = *self.plan;
        self.found = match shape {
            Shape::List => list::<P>(context, leaf, 0..leaves),
            Shape::Pairs => pairs::<P>(context, leaf, leaves),
        };
    }

    fn check(&mut self) -> Result<(), Fault> {
        expect("sum", self.plan.sum, self.found)
    }
}

fn list<P: Pool>(context: &mut P::Context<'_>, leaf: Spin, mut seeds: Range<u64>) -> u64 {
    let Some(seed) = seeds.next() else { return 0 };
    let (first, rest) = P::join(context, |_| leaf.spin(seed), |c| list::<P>(c, leaf, seeds));
    first.wrapping_add(rest)
}

fn pairs<P: Pool>(context: &mut P::Context<'_>, leaf: Spin, leaves: u64) -> u64 {
    (0..leaves).step_by(2).fold(0, |sum, seed| {
        let (a, b) = P::join(context, |_| leaf.spin(seed), |_| leaf.spin(seed + 1));
        sum.wrapping_add(a).wrapping_add(b)
    })
}

#[cfg(test)]
mod tests {
    use super::super::sides::{Heist, Rayon};
    use super::super::tests::outcome;
    use super::*;

    #[test]
    fn each_leaf_counts_once() {
        for shape in [Shape::List, Shape::Pairs] {
            let plan = Arc::new(Plan::new(shape, Spin::of(Duration::ZERO), 10));
            outcome::<Rayon, _>(Row::of(Arc::clone(&plan))).unwrap();
            outcome::<Heist, _>(Row::of(plan)).unwrap();
        }
    }
}
