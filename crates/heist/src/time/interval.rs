//! Again and again.

use super::{Duration, FAR, Instant, Sleep, after};
use crate::trace::Resource;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// So late a tick may come without counting as missed.
const TOLERANCE: Duration = Duration::from_millis(5);

/// Ticks now, and then every `period`.
///
/// What becomes of ticks that nobody waited for is up to
/// [`set_missed_tick_behavior`](Interval::set_missed_tick_behavior).
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
/// If `period` is zero, if the calling thread is in no runtime, or in one without
/// [`enable_time`](crate::runtime::Builder::enable_time).
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    Interval::new(Instant::now(), period, "time::interval")
}

/// Ticks at `start`, and then every `period`.
///
/// # Panics
/// As [`interval`].
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval::new(start, period, "time::interval_at")
}

/// What happens after a tick that came too late, because nobody waited for it: when the next one comes.
///
/// With a period of 100 ms, and the task away from 110 to 320:
///
/// | | ticks at |
/// |---|---|
/// | `Burst` | 0, 100, 320 (that of 200), 320 (that of 300), 400, 500 |
/// | `Delay` | 0, 100, 320, 420, 520 |
/// | `Skip` | 0, 100, 320, 400, 500 |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// As if nothing had happened: at once, until all ticks are caught up with.
    #[default]
    Burst,
    /// A period later. All ticks are late from then on.
    Delay,
    /// When the next one would have been anyway. Those in between are left out.
    Skip,
}

impl MissedTickBehavior {
    /// When the next tick is, after the one that was due at `due` and came at `now`.
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            MissedTickBehavior::Burst => due + period,
            MissedTickBehavior::Delay => now + period,
            MissedTickBehavior::Skip => now + (period - remainder(now - due, period)),
        }
    }
}

/// What is left of `time` when as many periods as fit are taken off.
fn remainder(time: Duration, period: Duration) -> Duration {
    const SECOND: u128 = 1_000_000_000;
    let nanos = time.as_nanos() % period.as_nanos();
    // Less than a period, which is a Duration: both parts fit.
    Duration::new((nanos / SECOND) as u64, (nanos % SECOND) as u32)
}

/// Ticks; see [`interval`].
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

    /// Waits for the next tick, and returns when it was due. Nothing is lost if this is dropped before.
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// As [`tick`](Self::tick), for a poll.
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

    /// The next tick is a period from now.
    pub fn reset(&mut self) {
        self.reset_after(self.period);
    }

    /// The next tick is now.
    pub fn reset_immediately(&mut self) {
        self.reset_at(Instant::now());
    }

    /// The next tick is after so long.
    pub fn reset_after(&mut self, after_: Duration) {
        self.reset_at(after(after_));
    }

    /// The next tick is at `deadline`.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
    }

    /// What happens after ticks that came too late.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed_tick_behavior
    }

    /// Says what happens after ticks that came too late; [`MissedTickBehavior::Burst`] unless said otherwise.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// How long it is from one tick to the next.
    pub fn period(&self) -> Duration {
        self.period
    }
}
