//! Points in time for timers.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The origin of all times, which all runtimes share, so that a timer can move between them.
pub(super) static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since the origin. Earlier times are clamped to the origin, and times after about 584
/// years to [`NEVER`](Self::NEVER).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(u64);

impl Time {
    pub(crate) const ORIGIN: Time = Time(0);
    /// A deadline that never passes.
    pub(crate) const NEVER: Time = Time(u64::MAX);

    #[inline]
    pub(crate) fn of(instant: Instant) -> Time {
        Time::between(*ORIGIN, instant)
    }

    /// The time of `instant`, counted from `origin`.
    #[inline]
    fn between(origin: Instant, instant: Instant) -> Time {
        Time::ORIGIN.plus(instant.saturating_duration_since(origin))
    }

    pub(crate) const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    pub(crate) const fn as_nanos(self) -> u64 {
        self.0
    }

    pub(crate) fn plus(self, duration: Duration) -> Time {
        Time(
            u64::try_from(duration.as_nanos())
                .map_or(u64::MAX, |nanos| self.0.saturating_add(nanos)),
        )
    }

    /// The duration until `later`, or zero if that is earlier.
    pub(crate) fn until(self, later: Time) -> Duration {
        Duration::from_nanos(later.0.saturating_sub(self.0))
    }
}

/// Milliseconds since the origin: the unit of a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Millis(pub(super) u64);

impl Millis {
    /// Protocol: the length of a millisecond.
    pub(super) const NANOS: u64 = 1_000_000;

    /// The first millisecond at which `deadline` has passed, so that a timer is never early.
    pub(super) const fn after(deadline: Time) -> Millis {
        Millis(deadline.0.div_ceil(Millis::NANOS))
    }

    /// The last millisecond that has passed at `now`.
    pub(super) const fn before(now: Time) -> Millis {
        Millis(now.0 / Millis::NANOS)
    }

    /// The time of this millisecond.
    pub(super) const fn time(self) -> Time {
        Time(self.0.saturating_mul(Millis::NANOS))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_is_the_nearest_inside() {
        let origin = Instant::now() + Duration::from_secs(100);
        assert_eq!(Time::between(origin, origin - Duration::from_secs(1)), Time::ORIGIN);
        assert_eq!(Time::between(origin, origin + Duration::from_nanos(7)), Time::from_nanos(7));
        let years = Duration::from_secs(600 * 365 * 24 * 3600);
        assert_eq!(Time::between(origin, origin + years), Time::NEVER);
        assert_eq!(Time::ORIGIN.plus(Duration::MAX), Time::NEVER);
        assert_eq!(Time::NEVER.plus(Duration::from_nanos(1)), Time::NEVER);
        assert_eq!(Time::NEVER.until(Time::ORIGIN), Duration::ZERO);
    }

    #[test]
    fn a_deadline_has_passed_at_its_millisecond_and_not_before() {
        for (nanos, millis) in [(0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2)] {
            let deadline = Time::from_nanos(nanos);
            assert_eq!(Millis::after(deadline), Millis(millis));
            assert!(Millis::after(deadline).time() >= deadline);
        }
        assert_eq!(Millis::before(Time::from_nanos(1_999_999)), Millis(1));
        assert_eq!(Millis::after(Time::NEVER).time(), Time::NEVER);
    }
}
