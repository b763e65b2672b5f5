//! `Instant`: points in time on the runtime's clock.

use super::Duration;
use crate::reactor::timers::Clock;
use crate::runtime::context;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time;

/// A point in time, like [`std::time::Instant`], but read from the clock of the runtime, which a
/// test may have stopped.
///
/// # Examples
///
/// ```
/// use heist::time::{Duration, Instant, sleep};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let before = Instant::now();
/// sleep(Duration::from_millis(2)).await;
/// assert!(before.elapsed() >= Duration::from_millis(2));
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(time::Instant);

impl Instant {
    /// Returns the current time on the clock of the calling thread's runtime.
    ///
    /// Outside of runtimes, and in programs that stop no clocks, that is the system's monotonic
    /// clock.
    ///
    /// # Examples
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

    /// Converts a [`std::time::Instant`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::time::Instant;
    ///
    /// let now = std::time::Instant::now();
    /// assert_eq!(Instant::from_std(now).into_std(), now);
    /// ```
    pub fn from_std(std: time::Instant) -> Instant {
        Instant(std)
    }

    /// Converts into a [`std::time::Instant`].
    pub fn into_std(self) -> time::Instant {
        self.0
    }

    /// Returns the time that has passed since `earlier`, or zero if `earlier` is later.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::time::{Duration, Instant};
    ///
    /// let start = Instant::now();
    /// let end = start + Duration::from_secs(2);
    /// assert_eq!(end.duration_since(start), Duration::from_secs(2));
    /// assert_eq!(start.duration_since(end), Duration::ZERO);
    /// ```
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// Returns the time that has passed since `earlier`, or `None` if `earlier` is later.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// Returns the time that has passed since `earlier`, or zero if `earlier` is later, like
    /// [`duration_since`](Self::duration_since).
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// Returns the time that has passed since this instant, or zero if it is in the future.
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// Returns the instant `duration` later, or `None` if it cannot be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// Returns the instant `duration` earlier, or `None` if it cannot be represented.
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
