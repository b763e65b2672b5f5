//! What sysmon remembers of a worker.

use crate::env::{Activity, Clock, Usage};
use crate::scheduler::remotes::Remote;
use crate::stall::StallReport;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[derive(Default)]
pub(super) struct Watch {
    tick: u32,
    /// When the tick was seen for the first time.
    since: Option<Clock>,
    /// The CPU time that its thread had used, and when that was read.
    usage: Option<(Usage, Clock)>,
    /// The lengths of its ring at the last look and at the one before.
    queued: [usize; 2],
    /// The bottom of its deque at the last look. Thieves do not change it.
    jobs_end: u64,
    /// When the bottom was first seen there.
    jobs_since: Option<Clock>,
    /// The report about this poll, if it is a stall or may become one.
    pub(super) report: Option<StallReport>,
    /// Whether the report was made.
    pub(super) is_reported: bool,
}

impl Watch {
    /// Whether the worker has been in one poll since the last look.
    pub(super) fn is_stuck(&mut self, remote: &Remote, now: Clock) -> bool {
        let tick = remote.own.tick.load(Ordering::Relaxed);
        let is_stuck = tick % 2 == 0 && self.since.is_some() && tick == self.tick;
        if !is_stuck {
            *self = Watch { tick, since: Some(now), ..Watch::default() };
        }
        self.queued = [remote.stealer.len(), self.queued[0]];
        let end = remote.jobs.mark().position();
        if !is_stuck || end != self.jobs_end {
            (self.jobs_end, self.jobs_since) = (end, Some(now));
        }
        is_stuck
    }

    /// Whether it is still in the poll that it was in at the last look.
    pub(super) fn goes_on(&self, remote: &Remote) -> bool {
        remote.own.is_stuck_since(self.tick)
    }

    pub(super) fn tick(&self) -> u32 {
        self.tick
    }

    /// For how long it has been in this poll, at least.
    pub(super) fn duration(&self, now: Clock) -> Duration {
        self.since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Whether it has tasks that nobody takes.
    pub(super) fn is_left_alone(&self) -> bool {
        let [now, before] = self.queued;
        now > 0 && now >= before
    }

    /// How long it has neither pushed nor popped a job, at least, nor begun another poll or job.
    pub(super) fn leaves_jobs_for(&self, now: Clock) -> Duration {
        self.jobs_since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// The activity of its thread since the last call; in the first call, at this moment.
    pub(super) fn activity(&mut self, remote: &Remote, now: Clock) -> Activity {
        let Some(usage) = remote.probe().and_then(|probe| probe.sample()) else {
            return Activity::Unknown;
        };
        match self.usage.replace((usage, now)) {
            Some((earlier, then)) => usage.since(&earlier, now.since(then)),
            None => usage.activity(),
        }
    }
}
