//! The queues alone, without a runtime around them.
//!
//! `deque_*` benches use queues whose owner is LIFO and whose thieves take one item at a time,
//! `ring_*` benches queues whose owner is FIFO and whose thieves take half.

mod alone;
mod contended;
mod grow;
mod sides;
mod steal_half;

use crate::bench::Bench;

/// The capacity of the bounded queues, and the bound that is put on the others where it
/// matters. It is what heist's and Tokio's workers use.
const DEPTH: usize = 256;

pub fn benches() -> Vec<Bench> {
    let mut benches = alone::benches();
    benches.extend(contended::benches());
    benches.extend([steal_half::bench(), grow::bench()]);
    benches
}

/// A queue as the benches see it; static calls only, so that this layer costs nothing.
trait Queue: Sized + Send + 'static {
    type Stealer: Send + 'static;

    /// Whether [`Queue::steal`] may put items into the thief's own queue.
    const STEALS_MANY: bool;

    fn new() -> Self;

    /// Gives the item back if the queue is bounded and full.
    fn push(&mut self, item: u64) -> Result<(), u64>;

    fn pop(&mut self) -> Option<u64>;

    fn stealer(&self) -> Self::Stealer;

    /// One item from a deque; half of them from a ring, one returned and the rest put into
    /// `own`, which is empty.
    fn steal(victim: &Self::Stealer, own: &mut Self) -> Attempt;
}

/// What came of one attempt to steal.
#[derive(Debug, Clone, Copy)]
enum Attempt {
    Took(u64),
    Empty,
    /// Somebody else was faster.
    Retry,
}
