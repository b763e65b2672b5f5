//! Whether the owner lays out all that it pushes.

use std::cell::Cell;
#[cfg(not(loom))]
use std::time::{Duration, Instant};

/// An owner is open from when a thief has waited for its answer in vain until its pushes come so fast that its answers do, too.
///
/// What is laid out costs a push and a pop some ten nanoseconds more. Where a microsecond or more lies between two pushes that does not show, and
/// thieves find all there is, with no need of the owner or the kernel. Where it would show it ends after one term.
pub(super) struct Openness {
    /// So many pushes are left of this term; 0 if it is not open.
    left: Cell<u32>,
    term: Term,
}

impl Openness {
    pub(super) fn new() -> Self {
        Openness { left: Cell::new(0), term: Term::new() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.left.get() > 0
    }

    /// A thief has waited in vain.
    pub(super) fn begin(&self) {
        self.term.begin();
        self.left.set(Term::PUSHES);
    }

    /// The owner pushes.
    pub(super) fn push(&self) {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if left == 1 && self.term.was_long() {
            self.begin();
        }
    }
}

/// The time of so many pushes: when it is long.
#[cfg(not(loom))]
struct Term(Cell<Instant>);

#[cfg(not(loom))]
impl Term {
    /// More than there are between two leaves, as a rule; to lay out so many costs the owner about what the barrier costs a thief. Guessed.
    const PUSHES: u32 = 64;
    /// A microsecond each. Guessed.
    const LONG: Duration = Duration::from_micros(Self::PUSHES as u64);

    fn new() -> Self {
        Term(Cell::new(Instant::now()))
    }

    fn begin(&self) {
        self.0.set(Instant::now() + Self::LONG);
    }

    fn was_long(&self) -> bool {
        Instant::now() >= self.0.get()
    }
}

/// In a model no time passes.
#[cfg(loom)]
struct Term;

#[cfg(loom)]
impl Term {
    const PUSHES: u32 = 1;

    fn new() -> Self {
        Term
    }

    fn begin(&self) {}

    fn was_long(&self) -> bool {
        false
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Open, and at the end of a term.
    fn at_the_end_of_a_term(will_be_long_at: Instant) -> Openness {
        let openness = Openness::new();
        openness.push();
        assert!(!openness.is_open(), "nobody has waited in vain");
        openness.begin();
        openness.term.0.set(will_be_long_at);
        for _ in 1..Term::PUSHES {
            openness.push();
            assert!(openness.is_open());
        }
        openness
    }

    #[test]
    fn it_ends_after_a_short_term() {
        let openness = at_the_end_of_a_term(Instant::now() + Duration::from_secs(3600));
        openness.push();
        assert!(!openness.is_open());
        openness.push();
        assert!(!openness.is_open());
    }

    #[test]
    fn it_goes_on_after_a_long_term() {
        let openness = at_the_end_of_a_term(Instant::now());
        openness.push();
        assert!(openness.is_open());
        assert_eq!(openness.left.get(), Term::PUSHES);
    }
}
