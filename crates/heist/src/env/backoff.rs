//! Waiting awake before a sleep.

use super::Clock;
use crate::tuning::{SPIN_TIME, SPINS_PER_LOOK, SPINS_SKIPPED};
use std::cell::Cell;
use std::hint;

/// Decides how long a thread waits awake before it sleeps.
///
/// A wake-up that comes within [`SPIN_TIME`] costs no system call. Spinning in vain keeps a core
/// busy, possibly the one on which the waker would run. So after a wait in vain the next ones sleep
/// at once, twice as many each time, until one is tried awake again.
#[derive(Default)]
pub(crate) struct Backoff {
    /// When the wait began that goes on awake.
    begun: Cell<Option<Clock>>,
    /// Number of waits from now on that sleep at once.
    skips_left: Cell<u32>,
    /// Number of waits that were skipped after the last one in vain; 0 after one that paid.
    skips: Cell<u32>,
}

impl Backoff {
    /// Waits awake until it `is_over`. Returns `false` if it is time to sleep.
    pub(crate) fn wait(&self, is_over: impl Fn() -> bool) -> bool {
        while !is_over() {
            if !self.pause(&is_over) {
                return false;
            }
        }
        self.succeed();
        true
    }

    /// Spins for a moment, unless it `is_over` sooner, between two looks at what other threads
    /// write. Returns `false` instead if it is time to sleep.
    pub(crate) fn pause(&self, is_over: impl Fn() -> bool) -> bool {
        match self.begun.get() {
            Some(begun) if Clock::now().since(begun) >= SPIN_TIME => {
                let skips = (2 * self.skips.get() + 1).min(SPINS_SKIPPED);
                self.skips.set(skips);
                self.skips_left.set(skips);
                self.begun.set(None);
                return false;
            }
            Some(_) => {}
            None => {
                if let Some(left) = self.skips_left.get().checked_sub(1) {
                    self.skips_left.set(left);
                    return false;
                }
                self.begun.set(Some(Clock::now()));
            }
        }
        for _ in 0..SPINS_PER_LOOK {
            if is_over() {
                break;
            }
            hint::spin_loop();
        }
        true
    }

    /// Ends the current wait: what it was for has come while the thread was awake.
    pub(crate) fn succeed(&self) {
        if self.begun.take().is_some() {
            self.skips.set(0);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::env::StoppedClock;
    use std::time::Duration;

    /// Waits for something that is over after this many checks, which are 100 ns apart. Returns
    /// whether it came while the thread was awake, and the number of checks; after a pause there
    /// is one more.
    fn wait(clock: &StoppedClock, backoff: &Backoff, checks: u32) -> (bool, u32) {
        let checked = Cell::new(0);
        let has_come = backoff.wait(|| {
            checked.set(checked.get() + 1);
            clock.advance(Duration::from_nanos(100));
            checked.get() >= checks
        });
        (has_come, checked.get())
    }

    /// One that is never over. Returns whether the thread was awake for a while.
    fn wait_in_vain(clock: &StoppedClock, backoff: &Backoff) -> bool {
        let (has_come, checks) = wait(clock, backoff, u32::MAX);
        assert!(!has_come);
        checks > 1
    }

    #[test]
    fn a_thread_waits_awake_as_long_as_that_pays() {
        let (clock, backoff) = (StoppedClock::stop(), Backoff::default());
        assert!((0..100).all(|_| wait(&clock, &backoff, 5) == (true, 6)));
        // In vain: now more and more waits sleep at once.
        for skips in [1, 3, 7, 15, 31, 63, 63] {
            assert!(wait_in_vain(&clock, &backoff));
            assert!((0..skips).all(|_| !wait_in_vain(&clock, &backoff)));
        }
        // The next one that pays ends that.
        assert!(wait_in_vain(&clock, &backoff));
        assert!((0..63).all(|_| wait(&clock, &backoff, 5) == (false, 1)));
        assert!((0..100).all(|_| wait(&clock, &backoff, 5) == (true, 6)));
        // Earlier waits in vain are forgotten.
        assert!(wait_in_vain(&clock, &backoff));
        assert_eq!(wait(&clock, &backoff, 5), (false, 1));
        assert_eq!(wait(&clock, &backoff, 5), (true, 6));
    }

    /// A wait that is over at once does not count as one that paid.
    #[test]
    fn what_is_over_at_once_changes_nothing() {
        let (clock, backoff) = (StoppedClock::stop(), Backoff::default());
        assert!(wait_in_vain(&clock, &backoff));
        assert!((0..100).all(|_| wait(&clock, &backoff, 1) == (true, 1)));
        assert_eq!(wait(&clock, &backoff, 5), (false, 1));
        assert_eq!(wait(&clock, &backoff, 5), (true, 6));
    }
}
