//! How often a worker looks at the inject queue (W5, L4, F3), and at its ring beside the slot (W3).

use crate::env::Clock;
use crate::metrics::WorkerCounters;
use crate::tuning::{BACKLOG_INTERVAL, TICK_INTERVAL};
use std::sync::Arc;
use std::time::Duration;

/// After this many polls in a row from the LIFO slot the ring gets its turn, as the protocol says
/// (W3).
pub(super) const LIFO_STREAK: u32 = 3;

// The protocol's bounds of the interval (W5): one look in this time; every other tick at most; and
// at least, together with what may go first (two streaks and a pinned task in between), once in
// 127 ticks (L4).
const TARGET: Duration = Duration::from_micros(200);
const SHORTEST: u32 = 2;
const LONGEST: u32 = 127 - (2 * LIFO_STREAK + 1);

/// Counts ticks until the next look.
///
/// The interval follows the time that polls take, so that long polls do not keep those in the
/// inject queue waiting for long. It also ends when the worker has been once through its own ring:
/// tasks that come back again and again, by yielding or by spawning their successor, take turns
/// with those from outside. What is in the LIFO slot, and would be moved to the end of the ring by
/// a task from outside, may go first: it belongs to a task that was begun before.
pub(super) struct Pace {
    until_look: u32,
    interval: u32,
    /// Not if the user has set the interval.
    is_tuned: bool,
    ticks: u32,
    since: Clock,
    /// Where other threads can read the time of a poll.
    counters: Arc<WorkerCounters>,
}

impl Pace {
    /// With an interval that the user has set, or one that is found.
    pub(super) fn new(set: Option<u32>, counters: Arc<WorkerCounters>) -> Self {
        Pace {
            until_look: 0,
            interval: set.unwrap_or(TICK_INTERVAL),
            is_tuned: set.is_none(),
            ticks: 0,
            since: Clock::now(),
            counters,
        }
    }

    /// One tick; whether it is time to look. If it is, and something `may_go_first`, it still is in
    /// the next.
    #[inline]
    pub(super) fn tick(&mut self, may_go_first: impl FnOnce() -> bool) -> bool {
        self.ticks = self.ticks.saturating_add(1);
        if self.until_look > 0 {
            self.until_look -= 1;
            return false;
        }
        !(self.is_tuned && may_go_first())
    }

    /// Called after a look at the inject queue; the ring now holds `own` tasks. The clock is read
    /// rarely.
    pub(super) fn looked(&mut self, own: usize) {
        if self.is_tuned && self.ticks >= TICK_INTERVAL {
            let now = Clock::now();
            self.tune(now.since(self.since));
            self.rested(now);
        }
        let lap = u32::try_from(own).unwrap_or(u32::MAX).saturating_add(1);
        self.until_look = if self.is_tuned { self.interval.min(lap) } else { self.interval } - 1;
    }

    /// How many ticks there are between two looks at the reactor.
    pub(super) fn interval(&self) -> u32 {
        self.interval
    }

    /// A tick that runs a pinned task: it counts, and leaves a look that falls due to the next.
    pub(super) fn pass(&mut self) {
        self.ticks = self.ticks.saturating_add(1);
        self.until_look = self.until_look.saturating_sub(1);
    }

    /// A look has left something behind: the next one comes soon. Whatever waits there is not
    /// behind tasks that come back to the ring again and again.
    pub(super) fn backlog(&mut self) {
        if self.is_tuned {
            self.until_look = self.until_look.min(BACKLOG_INTERVAL - 1);
        }
    }

    /// The worker has slept: that time was no poll.
    pub(super) fn rested(&mut self, now: Clock) {
        self.ticks = 0;
        self.since = now;
    }

    fn tune(&mut self, elapsed: Duration) {
        let per_tick = (elapsed.as_nanos() / u128::from(self.ticks)).max(1);
        self.tell(per_tick);
        let fitting = u32::try_from(TARGET.as_nanos() / per_tick).unwrap_or(LONGEST);
        // Half-way to what would fit now: one odd sample does not decide.
        self.interval = u32::midpoint(self.interval, fitting.clamp(SHORTEST, LONGEST));
    }

    /// Half-way to what was measured now, too.
    fn tell(&self, per_tick: u128) {
        let now = u64::try_from(per_tick).unwrap_or(u64::MAX);
        let mean = &self.counters.mean_poll_time;
        mean.set(if mean.get() == 0 { now } else { mean.get().midpoint(now) });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn pace(set: Option<u32>) -> Pace {
        Pace::new(set, Arc::new(WorkerCounters::new(None)))
    }

    /// One tick of a worker with `own` tasks in its ring. Returns whether it looks.
    fn look_in_time(pace: &mut Pace, own: usize) -> bool {
        let is_time = pace.tick(|| false);
        if is_time {
            pace.looked(own);
        }
        is_time
    }

    /// W5: the interval follows the time of a poll, within its bounds.
    #[test]
    fn w5_the_interval_follows_the_polls() {
        let mut pace = pace(None);
        assert_eq!(pace.interval, 61);
        for (per_poll, interval) in [(10_000, 20), (1_000_000, 2), (10, LONGEST), (4_000, 50)] {
            for _ in 0..20 {
                pace.ticks = 64;
                pace.tune(Duration::from_nanos(64 * per_poll));
            }
            assert!(pace.interval.abs_diff(interval) <= 1, "{} for {per_poll} ns", pace.interval);
            assert!(
                (SHORTEST..=LONGEST).contains(&pace.interval),
                "{} for {per_poll} ns",
                pace.interval
            );
        }
    }

    /// M1: the mean poll time follows what is measured.
    #[test]
    fn m1_the_mean_poll_time_follows_the_polls() {
        let mut pace = pace(None);
        for (per_poll, mean) in [(500, 500), (700, 600), (600, 600)] {
            pace.ticks = 64;
            pace.tune(Duration::from_nanos(64 * per_poll));
            assert_eq!(pace.counters.mean_poll(), Duration::from_nanos(mean));
        }
    }

    /// W5: it is tuned by the clock, and by the time of polls alone: a rest is no poll.
    #[test]
    fn w5_rests_do_not_count() {
        let clock = crate::env::StoppedClock::stop();
        let mut pace = pace(None);
        for _ in 0..50 {
            for _ in 0..1000 {
                clock.advance(Duration::from_micros(10));
                look_in_time(&mut pace, 1000);
            }
            clock.advance(Duration::from_secs(1));
            pace.rested(Clock::now());
        }
        assert!(pace.interval.abs_diff(20) <= 1, "{}", pace.interval);
    }

    /// W5, L4: a set interval stays; one that is found ends with the ring too.
    #[test]
    fn l4_looks_come_in_time() {
        let looks = |set, own: usize| {
            let mut pace = pace(set);
            (0..1000).filter(|_| look_in_time(&mut pace, own)).count()
        };
        assert_eq!(looks(Some(10), 1000), 100);
        assert_eq!(looks(Some(10), 0), 100);
        assert_eq!(looks(None, 0), 1000);
        assert_eq!(looks(None, 3), 250);
        assert!(looks(None, 1000) >= 1000 / 127);
    }

    /// W3, L4: a look waits for what may go first, but not where the user has set when it comes.
    #[test]
    fn l4_a_look_that_waits_is_not_forgotten() {
        for (set, comes) in [(None, [false, false, true]), (Some(1), [true, true, true])] {
            let mut pace = pace(set);
            assert_eq!([true, true, false].map(|goes_first| pace.tick(|| goes_first)), comes);
        }
    }

    /// F3: what a look leaves behind is taken soon, unless the user has set when.
    #[test]
    fn f3_a_backlog_is_looked_at_soon() {
        let ticks_to_look = |set| {
            let mut pace = pace(set);
            assert!(look_in_time(&mut pace, 1000));
            pace.backlog();
            (1..).find(|_| look_in_time(&mut pace, 1000)).unwrap()
        };
        assert_eq!(ticks_to_look(None), BACKLOG_INTERVAL);
        assert_eq!(ticks_to_look(Some(50)), 50);
    }
}
