//! Whether the owner lays out all that it pushes.

use std::cell::Cell;
#[cfg(not(loom))]
use std::time::{Duration, Instant};

/// An owner is open from when a thief has waited for its answer in vain until its pushes come so fast that its answers do, too.
///
/// What is laid out costs a push and a pop together some fifty nanoseconds more. Where most of them come after a pause that does not show, and thieves find all there
/// is, with no need of the owner or the kernel. Where they come one upon the other it ends.
pub(super) struct Openness {
    /// For so many more pushes that come one upon the other; 0 if it is not open.
    left: Cell<u32>,
    last: LastPush,
}

/// It ends after so many without a pause. More than there are between two leaves, as a rule; to lay out so many costs the owner about what the barrier costs a thief. Guessed.
const MOST: u32 = if cfg!(loom) { 1 } else { 64 };

/// So many a pause makes up for: a program that divides its work in two pushes twice between two leaves, on average, with one pause.
const PER_PAUSE: u32 = 2;

impl Openness {
    pub(super) fn new() -> Self {
        Openness { left: Cell::new(0), last: LastPush::new() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.left.get() > 0
    }

    /// A thief has waited in vain.
    pub(super) fn begin(&self) {
        self.left.set(MOST);
    }

    /// The owner pushes.
    pub(super) fn push(&self) {
        if self.is_open() {
            self.count(self.last.was_long_ago());
        }
    }

    fn count(&self, is_after_pause: bool) {
        let left = self.left.get();
        self.left.set(if is_after_pause { (left + PER_PAUSE).min(MOST) } else { left - 1 });
    }
}

/// When an open owner pushed last.
#[cfg(not(loom))]
struct LastPush(Cell<Instant>);

#[cfg(not(loom))]
impl LastPush {
    /// Beside that it does not show what two or three pushes cost that are laid out. Guessed.
    const PAUSE: Duration = Duration::from_micros(2);

    fn new() -> Self {
        LastPush(Cell::new(Instant::now()))
    }

    /// It pushes now.
    fn was_long_ago(&self) -> bool {
        let now = Instant::now();
        now.duration_since(self.0.replace(now)) >= Self::PAUSE
    }
}

/// In a model no time passes.
#[cfg(loom)]
struct LastPush;

#[cfg(loom)]
impl LastPush {
    fn new() -> Self {
        LastPush
    }

    fn was_long_ago(&self) -> bool {
        false
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many pushes out of 10 000 come before it ends, of which every `burst`th comes after a pause.
    fn lasts(burst: u32) -> Option<u32> {
        let openness = Openness::new();
        openness.push();
        assert!(!openness.is_open(), "nobody has waited in vain");
        openness.begin();
        (1..10_000).find(|push| {
            openness.count(push % burst == 0);
            !openness.is_open()
        })
    }

    #[test]
    fn it_ends_when_pushes_come_one_upon_the_other() {
        assert_eq!(lasts(u32::MAX), Some(MOST));
        assert!(lasts(8).is_some(), "also if they do in bursts");
    }

    #[test]
    fn it_goes_on_while_leaves_lie_between_them() {
        assert_eq!(lasts(1), None);
        assert_eq!(lasts(2), None);
    }
}
