//! `interval`: ticks with a fixed period.

use super::{Duration, FAR, Instant, Sleep};
use crate::trace::Resource;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A tick that is at most this late does not count as missed.
const TOLERANCE: Duration = Duration::from_millis(5);

/// Creates an interval that ticks immediately, and then once every `period`.
///
/// [`set_missed_tick_behavior`](Interval::set_missed_tick_behavior) determines what happens after a
/// tick that was missed because no task waited for it.
///
/// # Examples
///
/// ```
/// use heist::time::{Duration, interval};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut interval = interval(Duration::from_millis(2));
/// let first = interval.tick().await;
/// let second = interval.tick().await;
/// assert_eq!(second - first, Duration::from_millis(2));
/// # }
/// ```
///
/// # Panics
///
/// Panics if `period` is zero, if the calling thread is in no runtime, or if its runtime has no
/// timers; see [`enable_time`](crate::runtime::Builder::enable_time).
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    Interval::new(Instant::now(), period, "time::interval")
}

/// Creates an interval that ticks at `start`, and then once every `period`; see [`interval`].
///
/// # Examples
///
/// ```
/// use heist::time::{Duration, Instant, interval_at};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let start = Instant::now() + Duration::from_millis(3);
/// let mut interval = interval_at(start, Duration::from_millis(2));
/// assert_eq!(interval.tick().await, start);
/// # }
/// ```
///
/// # Panics
///
/// Panics like [`interval`].
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval::new(start, period, "time::interval_at")
}

/// Determines when an [`Interval`] ticks after a tick that came too late.
///
/// For example, with a period of 100 ms and a task that is busy from 110 ms to 320 ms:
///
/// | | ticks at |
/// |---|---|
/// | `Burst` | 0, 100, 320 (due at 200), 320 (due at 300), 400, 500 |
/// | `Delay` | 0, 100, 320, 420, 520 |
/// | `Skip` | 0, 100, 320, 400, 500 |
///
/// # Examples
///
/// ```
/// use heist::time::{Duration, MissedTickBehavior, interval};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut interval = interval(Duration::from_millis(100));
/// assert_eq!(interval.missed_tick_behavior(), MissedTickBehavior::Burst);
/// interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
/// assert_eq!(interval.missed_tick_behavior(), MissedTickBehavior::Skip);
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// Ticks immediately until the missed ticks are made up for, then on schedule.
    #[default]
    Burst,
    /// Ticks one period after the late tick, so that all later ticks are delayed.
    Delay,
    /// Ticks at the next time on schedule, and omits the missed ticks.
    Skip,
}

impl MissedTickBehavior {
    /// The time of the next tick after one that was due at `due` and came at `now`.
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            MissedTickBehavior::Burst => due + period,
            MissedTickBehavior::Delay => now + period,
            MissedTickBehavior::Skip => now + (period - remainder(now - due, period)),
        }
    }
}

/// The remainder of `time` divided by `period`.
fn remainder(time: Duration, period: Duration) -> Duration {
    const SECOND: u128 = 1_000_000_000;
    let nanos = time.as_nanos() % period.as_nanos();
    // The remainder is less than `period`, which is a Duration, so both parts fit.
    Duration::new((nanos / SECOND) as u64, (nanos % SECOND) as u32)
}

/// Ticks with a fixed period; created by [`interval`] and [`interval_at`].
///
/// # Examples
///
/// ```
/// use heist::time::{Duration, MissedTickBehavior, interval};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut interval = interval(Duration::from_millis(1));
/// interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
/// for _ in 0..3 {
///     interval.tick().await;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Interval {
    delay: Pin<Box<Sleep>>,
    period: Duration,
    missed_tick_behavior: MissedTickBehavior,
}

impl Interval {
    #[track_caller]
    fn new(start: Instant, period: Duration, api: &str) -> Interval {
        assert!(!period.is_zero(), "{api}: `period` must be non-zero: ticks need time in between");
        Interval {
            delay: Box::pin(Sleep::new(start, api)),
            period: period.min(FAR),
            missed_tick_behavior: MissedTickBehavior::default(),
        }
    }

    /// Waits for the next tick and returns the time at which it was due.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: if the future is dropped before it completes, no tick is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::time::{Duration, interval};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = interval(Duration::from_millis(1));
    /// let first = interval.tick().await;
    /// assert_eq!(interval.tick().await, first + Duration::from_millis(1));
    /// # }
    /// ```
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// Polls for the next tick; the basis of [`tick`](Self::tick).
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        let due = self.delay.deadline();
        let behavior = self.missed_tick_behavior;
        let resource = || match behavior {
            MissedTickBehavior::Burst if Instant::now() > due + TOLERANCE => Resource::LateInterval,
            _ => Resource::Timer,
        };
        ready!(self.delay.as_mut().poll_with(cx, resource));
        let now = Instant::now();
        let next = if now > due + TOLERANCE {
            self.missed_tick_behavior.next(due, now, self.period)
        } else {
            due + self.period
        };
        self.delay.as_mut().reset_unpolled(next);
        Poll::Ready(due)
    }

    /// Resets the interval, so that the next tick is one period from now.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::time::{Duration, Instant, interval};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = interval(Duration::from_millis(3));
    /// interval.tick().await;
    /// let now = Instant::now();
    /// interval.reset();
    /// assert!(interval.tick().await >= now + Duration::from_millis(3));
    /// # }
    /// ```
    pub fn reset(&mut self) {
        self.reset_after(self.period);
    }

    /// Resets the interval, so that the next tick is now.
    pub fn reset_immediately(&mut self) {
        self.reset_at(Instant::now());
    }

    /// Resets the interval, so that the next tick is `after` from now.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::time::{Duration, interval};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut interval = interval(Duration::from_secs(60));
    /// let first = interval.tick().await;
    /// interval.reset_after(Duration::from_millis(2));
    /// assert!(interval.tick().await < first + Duration::from_secs(60));
    /// # }
    /// ```
    pub fn reset_after(&mut self, after: Duration) {
        self.reset_at(super::after(after));
    }

    /// Resets the interval, so that the next tick is at `deadline`.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
    }

    /// Returns what happens after ticks that came too late.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed_tick_behavior
    }

    /// Sets what happens after ticks that came too late. The default is
    /// [`MissedTickBehavior::Burst`].
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// Returns the period.
    pub fn period(&self) -> Duration {
        self.period
    }
}
