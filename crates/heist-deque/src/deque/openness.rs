//! Whether the owner lays out all that it pushes.

#[cfg(not(loom))]
use std::mem;
use std::time::Duration;
#[cfg(not(loom))]
use std::time::Instant;

/// An owner is open from when a thief has waited for its answer in vain until its pushes come so fast that its answers do, too.
///
/// What is laid out costs a push and a pop together some thirty nanoseconds more. Where pushes are on average two microseconds apart that does not show, and thieves find all
/// there is, with no need of the owner or the kernel. Where they come one upon the other it ends.
///
/// It is no matter how they lie within a round: a program that divides its work in two pushes many times at once, and then once or twice between leaves.
pub(super) struct Openness {
    /// So many more pushes until the next look at the clock; 0 if it is not open.
    left: u32,
    round: Round,
}

/// How many pushes a round has. To lay out so many costs the owner about what the barrier costs a thief; and a look at the clock about what one of them does. Guessed.
const ROUND: u32 = if cfg!(loom) { 2 } else { 64 };

/// It goes on after a round that has taken no less. Guessed: more than the exchanges themselves take, also if many thieves are at the same word.
const SLOW: Duration = Duration::from_micros(2 * ROUND as u64);

impl Openness {
    pub(super) fn new() -> Self {
        Openness { left: 0, round: Round::begin() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.left > 0
    }

    /// A thief has waited in vain.
    pub(super) fn begin(&mut self) {
        self.left = ROUND;
        self.round.end();
    }

    /// The owner pushes.
    pub(super) fn push(&mut self) {
        match self.left {
            0 => {}
            1 => {
                let has_taken = self.round.end();
                self.end_round(has_taken);
            }
            _ => self.left -= 1,
        }
    }

    fn end_round(&mut self, has_taken: Duration) {
        self.left = if has_taken >= SLOW { ROUND } else { 0 };
    }
}

/// When the last look at the clock was.
#[cfg(not(loom))]
struct Round(Instant);

#[cfg(not(loom))]
impl Round {
    fn begin() -> Self {
        Round(Instant::now())
    }

    /// How long it has taken; the next begins.
    fn end(&mut self) -> Duration {
        let now = Instant::now();
        now.saturating_duration_since(mem::replace(&mut self.0, now))
    }
}

/// In a model no time passes.
#[cfg(loom)]
struct Round;

#[cfg(loom)]
impl Round {
    fn begin() -> Self {
        Round
    }

    fn end(&mut self) -> Duration {
        Duration::ZERO
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// An owner that is open, as far as the end of a round.
    fn at_the_end_of_a_round() -> Openness {
        let mut openness = Openness::new();
        openness.push();
        assert!(!openness.is_open(), "nobody has waited in vain");
        openness.begin();
        for _ in 1..ROUND {
            openness.push();
            assert!(openness.is_open(), "how fast it is shows at the end of a round");
        }
        openness
    }

    #[test]
    fn it_ends_when_pushes_come_one_upon_the_other() {
        let mut openness = at_the_end_of_a_round();
        openness.end_round(SLOW - Duration::from_nanos(1));
        assert!(!openness.is_open());
    }

    #[test]
    fn it_goes_on_for_a_round_while_leaves_lie_between_them() {
        let mut openness = at_the_end_of_a_round();
        for _ in 0..3 {
            openness.end_round(SLOW);
            for _ in 1..ROUND {
                openness.push();
                assert!(openness.is_open());
            }
        }
    }

    #[test]
    fn the_clock_decides_at_the_end_of_a_round() {
        let (mut openness, now) = (at_the_end_of_a_round(), Instant::now());
        openness.round.0 = now - SLOW;
        openness.push();
        assert!(openness.is_open());
        assert!(openness.round.0 >= now, "the next has begun");
        // No clock can make this one slow.
        openness.round.0 = now + Duration::from_secs(3600);
        (0..ROUND).for_each(|_| openness.push());
        assert!(!openness.is_open());
    }

    #[test]
    fn a_round_begins_when_a_thief_has_waited_in_vain() {
        let (mut openness, now) = (at_the_end_of_a_round(), Instant::now());
        openness.round.0 = now - SLOW;
        openness.begin();
        assert!(openness.round.0 >= now);
        assert_eq!(openness.left, ROUND);
    }
}
