//! Each runtime's queues behind one trait, each used as its documentation means it.

use super::{Attempt, DEPTH, Queue};

pub struct HeistDeque(heist_deque::deque::Owner<u64>);

impl Queue for HeistDeque {
    type Stealer = heist_deque::deque::Stealer<u64>;
    const STEALS_MANY: bool = false;

    fn new() -> Self {
        HeistDeque(heist_deque::deque::Owner::new())
    }

    #[inline]
    fn push(&mut self, item: u64) -> Result<(), u64> {
        self.0.push(item);
        Ok(())
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.0.stealer()
    }

    #[inline]
    fn steal(victim: &Self::Stealer, _own: &mut Self) -> Attempt {
        victim.steal().into()
    }
}

impl Unbounded for HeistDeque {
    fn len(&self) -> usize {
        self.0.len()
    }
}

pub struct HeistRing(heist_deque::ring::Owner<u64>);

impl Queue for HeistRing {
    type Stealer = heist_deque::ring::Stealer<u64>;
    const STEALS_MANY: bool = true;

    fn new() -> Self {
        HeistRing(heist_deque::ring::Owner::with_capacity(DEPTH))
    }

    #[inline]
    fn push(&mut self, item: u64) -> Result<(), u64> {
        self.0.push(item).map_err(|full| full.0)
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.0.stealer()
    }

    #[inline]
    fn steal(victim: &Self::Stealer, own: &mut Self) -> Attempt {
        victim.steal_into(&mut own.0).into()
    }
}

impl From<heist_deque::Steal<u64>> for Attempt {
    #[inline]
    fn from(steal: heist_deque::Steal<u64>) -> Self {
        match steal {
            heist_deque::Steal::Success(item) => Attempt::Took(item),
            heist_deque::Steal::Empty => Attempt::Empty,
            heist_deque::Steal::Retry => Attempt::Retry,
        }
    }
}

pub struct CrossbeamLifo(crossbeam_deque::Worker<u64>);

impl Queue for CrossbeamLifo {
    type Stealer = crossbeam_deque::Stealer<u64>;
    const STEALS_MANY: bool = false;

    fn new() -> Self {
        CrossbeamLifo(crossbeam_deque::Worker::new_lifo())
    }

    #[inline]
    fn push(&mut self, item: u64) -> Result<(), u64> {
        self.0.push(item);
        Ok(())
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.0.stealer()
    }

    #[inline]
    fn steal(victim: &Self::Stealer, _own: &mut Self) -> Attempt {
        victim.steal().into()
    }
}

impl Unbounded for CrossbeamLifo {
    fn len(&self) -> usize {
        self.0.len()
    }
}

pub struct CrossbeamFifo(crossbeam_deque::Worker<u64>);

impl Queue for CrossbeamFifo {
    type Stealer = crossbeam_deque::Stealer<u64>;
    const STEALS_MANY: bool = true;

    fn new() -> Self {
        CrossbeamFifo(crossbeam_deque::Worker::new_fifo())
    }

    #[inline]
    fn push(&mut self, item: u64) -> Result<(), u64> {
        self.0.push(item);
        Ok(())
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.0.stealer()
    }

    /// With a limit of its own, as the default one of 32 would be less than half.
    #[inline]
    fn steal(victim: &Self::Stealer, own: &mut Self) -> Attempt {
        victim.steal_batch_with_limit_and_pop(&own.0, DEPTH / 2).into()
    }
}

impl Unbounded for CrossbeamFifo {
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl From<crossbeam_deque::Steal<u64>> for Attempt {
    #[inline]
    fn from(steal: crossbeam_deque::Steal<u64>) -> Self {
        match steal {
            crossbeam_deque::Steal::Success(item) => Attempt::Took(item),
            crossbeam_deque::Steal::Empty => Attempt::Empty,
            crossbeam_deque::Steal::Retry => Attempt::Retry,
        }
    }
}

pub struct St3Lifo(st3::lifo::Worker<u64>);

impl Queue for St3Lifo {
    type Stealer = st3::lifo::Stealer<u64>;
    const STEALS_MANY: bool = false;

    fn new() -> Self {
        St3Lifo(st3::lifo::Worker::new(DEPTH))
    }

    #[inline]
    fn push(&mut self, item: u64) -> Result<(), u64> {
        self.0.push(item)
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.0.stealer()
    }

    /// st3 steals batches only; a batch of one is returned directly and leaves `own` alone.
    #[inline]
    fn steal(victim: &Self::Stealer, own: &mut Self) -> Attempt {
        victim.steal_and_pop(&own.0, |_| 1).into()
    }
}

pub struct St3Fifo(st3::fifo::Worker<u64>);

impl Queue for St3Fifo {
    type Stealer = st3::fifo::Stealer<u64>;
    const STEALS_MANY: bool = true;

    fn new() -> Self {
        St3Fifo(st3::fifo::Worker::new(DEPTH))
    }

    #[inline]
    fn push(&mut self, item: u64) -> Result<(), u64> {
        self.0.push(item)
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.0.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.0.stealer()
    }

    /// Rounded up, as the others do it: a single item has to be stealable.
    #[inline]
    fn steal(victim: &Self::Stealer, own: &mut Self) -> Attempt {
        victim.steal_and_pop(&own.0, |len| len.div_ceil(2)).into()
    }
}

impl From<Result<(u64, usize), st3::StealError>> for Attempt {
    #[inline]
    fn from(steal: Result<(u64, usize), st3::StealError>) -> Self {
        match steal {
            Ok((item, _moved)) => Attempt::Took(item),
            Err(st3::StealError::Empty) => Attempt::Empty,
            Err(st3::StealError::Busy) => Attempt::Retry,
        }
    }
}

/// A queue that takes as many items as it is given.
pub trait Unbounded: Queue {
    fn len(&self) -> usize;
}

/// Gives an unbounded queue the bound of the others, so that all see the same workload.
///
/// The length is asked for only when the room that was left at the last time is used up, so
/// that the queue pays next to nothing for a bound that is not its own.
pub struct Bounded<Q> {
    queue: Q,
    /// A lower bound of the free room: pops and steals since then only add to it.
    room: usize,
}

impl<Q: Unbounded> Queue for Bounded<Q> {
    type Stealer = Q::Stealer;
    const STEALS_MANY: bool = Q::STEALS_MANY;

    fn new() -> Self {
        Bounded { queue: Q::new(), room: DEPTH }
    }

    #[inline]
    fn push(&mut self, item: u64) -> Result<(), u64> {
        if self.room == 0 {
            self.room = DEPTH.saturating_sub(self.queue.len());
            if self.room == 0 {
                return Err(item);
            }
        }
        self.room -= 1;
        self.queue.push(item)
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.queue.pop()
    }

    fn stealer(&self) -> Self::Stealer {
        self.queue.stealer()
    }

    #[inline]
    fn steal(victim: &Self::Stealer, own: &mut Self) -> Attempt {
        Q::steal(victim, &mut own.queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill<Q: Queue>() -> (Q, u64) {
        let mut queue = Q::new();
        let fits = (0..1000).take_while(|item| queue.push(*item).is_ok()).count();
        (queue, fits as u64)
    }

    fn holds_depth_items<Q: Queue>() {
        let (mut queue, fits) = fill::<Q>();
        assert_eq!(fits, DEPTH as u64);
        assert!(queue.pop().is_some());
        assert_eq!(queue.push(7), Ok(()));
        assert_eq!(queue.push(7), Err(7));
    }

    #[test]
    fn all_sides_of_a_contended_bench_have_the_same_bound() {
        holds_depth_items::<Bounded<HeistDeque>>();
        holds_depth_items::<Bounded<CrossbeamLifo>>();
        holds_depth_items::<St3Lifo>();
        holds_depth_items::<HeistRing>();
        holds_depth_items::<Bounded<CrossbeamFifo>>();
        holds_depth_items::<St3Fifo>();
    }

    /// Steals once from a full queue; returns how many items the thief has then.
    fn stolen<Q: Queue>() -> usize {
        let (queue, _) = fill::<Q>();
        let mut own = Q::new();
        let Attempt::Took(_) = Q::steal(&queue.stealer(), &mut own) else {
            panic!("nothing to steal")
        };
        1 + std::iter::from_fn(|| own.pop()).count()
    }

    #[test]
    fn thieves_take_one_from_a_deque() {
        let counts =
            [stolen::<Bounded<HeistDeque>>, stolen::<Bounded<CrossbeamLifo>>, stolen::<St3Lifo>]
                .map(|stolen| stolen());
        assert_eq!(counts, [1; 3]);
    }

    #[test]
    fn thieves_take_half_of_a_ring() {
        let counts = [stolen::<HeistRing>, stolen::<Bounded<CrossbeamFifo>>, stolen::<St3Fifo>]
            .map(|stolen| stolen());
        assert_eq!(counts, [DEPTH / 2; 3]);
    }
}
