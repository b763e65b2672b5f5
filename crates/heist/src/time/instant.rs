//! Points in time.

use super::Duration;
use crate::reactor::timers::Clock;
use crate::runtime::context;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time;

/// A point in time: [`std::time::Instant`], but what it is *now* is said by the clock of the runtime, which
/// a test may have stopped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(time::Instant);

impl Instant {
    /// What the clock of the calling thread's runtime shows. Where there is none, and everywhere in a program
    /// that stops no clocks, the time of the system.
    ///
    /// ```
    /// use heist::time::Instant;
    ///
    /// let before = Instant::now();
    /// assert!(before <= Instant::now());
    /// ```
    #[inline]
    pub fn now() -> Instant {
        if Clock::was_any_stopped() {
            if let Some(instant) = context::instant() {
                return Instant(instant);
            }
        }
        Instant(time::Instant::now())
    }

    /// The same point in time.
    pub fn from_std(std: time::Instant) -> Instant {
        Instant(std)
    }

    /// The same point in time.
    pub fn into_std(self) -> time::Instant {
        self.0
    }

    /// How long after `earlier` it is; nothing if it is before.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// How long after `earlier` it is; `None` if it is before.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// As [`duration_since`](Self::duration_since).
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// How long ago it was; nothing if it is to come.
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// So much later; `None` if that is further away than can be said.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// So much earlier; `None` if that is further away than can be said.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl From<time::Instant> for Instant {
    fn from(std: time::Instant) -> Instant {
        Instant(std)
    }
}

impl From<Instant> for time::Instant {
    fn from(instant: Instant) -> time::Instant {
        instant.0
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, duration: Duration) -> Instant {
        Instant(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, duration: Duration) -> Instant {
        Instant(self.0 - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
