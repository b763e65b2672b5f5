//! Clocks that run while something is the case.

use super::lane::Doing;
use std::time::Duration;

/// A gap of this length in which no worker had work is a pause, and does not count. Guessed: longer
/// than the gaps between requests of a server under load.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
pub(in crate::doctor) struct Clocks {
    now: Duration,
    idle: usize,
    searching: usize,
    busy: usize,
    /// The number of workers on a seat or in a poll.
    present: usize,
    somebody_idle: Duration,
    abandoned: Duration,
    somebody_busy: Duration,
    pauses: Duration,
    nobody_busy_since: Option<Duration>,
}

impl Clocks {
    /// All of them look for work in the beginning.
    pub(super) fn new(seats: usize) -> Self {
        Clocks { searching: seats, present: seats, ..Clocks::default() }
    }

    pub(super) fn reset(&mut self) {
        let Clocks { now, idle, searching, busy, present, .. } = *self;
        let nobody_busy_since = (busy == 0).then_some(now);
        let clocks = Clocks { now, idle, searching, busy, present, ..Clocks::default() };
        *self = Clocks { nobody_busy_since, ..clocks };
    }

    pub(super) fn advance(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.now);
        self.now = now;
        if self.idle > 0 && self.searching == 0 {
            self.somebody_idle += passed;
        }
        if self.busy > 0 {
            self.somebody_busy += passed;
        }
        if self.present == 0 {
            self.abandoned += passed;
        }
    }

    /// A worker does something else now.
    pub(super) fn change(&mut self, before: Doing, after: Doing) {
        if before == after {
            return;
        }
        let add = |count: &mut usize, which| {
            *count += usize::from(after == which);
            *count -= usize::from(before == which);
        };
        add(&mut self.busy, Doing::Work);
        add(&mut self.idle, Doing::Nothing);
        add(&mut self.searching, Doing::Search);
        self.present += usize::from(before == Doing::Away);
        self.present -= usize::from(after == Doing::Away);
        match (self.busy, self.nobody_busy_since) {
            (0, None) => self.nobody_busy_since = Some(self.now),
            (1.., Some(since)) => {
                self.pauses += pause(self.now - since);
                self.nobody_busy_since = None;
            }
            _ => {}
        }
    }

    /// How long at least one worker slept on its seat, and neither it nor any other was on the way
    /// to work: a searcher wakes the next one if there is more than it can do.
    pub(super) fn somebody_idle(&self) -> Duration {
        self.somebody_idle
    }

    /// How long there was nobody at all: a runtime without threads of its own, and nobody in
    /// `block_on`.
    pub(super) fn abandoned(&self) -> Duration {
        self.abandoned
    }

    /// How long at least one worker was in a poll or a job.
    pub(in crate::doctor) fn somebody_busy(&self) -> Duration {
        self.somebody_busy
    }

    /// How long no worker has been in a poll or a job.
    pub(in crate::doctor) fn nobody_busy(&self) -> Duration {
        self.nobody_busy_since.map_or(Duration::ZERO, |since| self.now - since)
    }

    pub(super) fn pauses(&self) -> Duration {
        self.pauses + self.nobody_busy_since.map_or(Duration::ZERO, |since| pause(self.now - since))
    }
}

fn pause(length: Duration) -> Duration {
    if length >= PAUSE { length } else { Duration::ZERO }
}
