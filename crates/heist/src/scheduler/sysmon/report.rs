//! What is reported about stalls, and when.

use super::Sysmon;
use crate::env::{Activity, Clock};
use crate::scheduler::shared::Shared;
use crate::stall::{StallCause, StallReport, StuckTask, Waiting};
use std::time::Duration;

/// What is known about a worker that is stuck.
pub(super) fn new(shared: &Shared, seat: usize, worker: usize, activity: Activity) -> StallReport {
    let remote = &shared.remotes[worker];
    let probe = remote.probe();
    let in_rings: usize = shared.remotes.active().map(|remote| remote.stealer.len()).sum();
    let queued = remote.stealer.len();
    let has_slot = usize::from(remote.own.lifo.has_task());
    StallReport {
        task: remote.own.running.get().map(|(id, spawned_at)| StuckTask::new(id, spawned_at)),
        worker: seat,
        thread_name: probe
            .as_ref()
            .map_or_else(|| "<unknown>".into(), |probe| probe.name().clone()),
        duration: Duration::ZERO,
        is_over: false,
        cause: probe.map_or(StallCause::Unknown, |probe| StallCause::of(activity, &probe)),
        waiting: Waiting {
            injected: shared.inject.len(),
            queued: queued + has_slot,
            elsewhere: in_rings.saturating_sub(queued),
        },
        lost_seat: false,
    }
}

impl Sysmon {
    /// Polls that were reported and have ended are reported once more.
    pub(super) fn end_stalls(&mut self, now: Clock) {
        for (worker, watch) in self.watches.iter_mut().enumerate() {
            if watch.report.is_none() || watch.goes_on(&self.scheduler.remotes[worker]) {
                continue;
            }
            let duration = watch.duration(now);
            let ended = std::mem::take(watch);
            if let Some(report) = ended.report.filter(|_| ended.is_reported) {
                let report = StallReport { duration, is_over: true, ..report };
                tell(&self.scheduler, &report);
            }
        }
    }

    /// Whether a poll that was reported has ended since. The worker may have come back and parked
    /// between two looks.
    pub(super) fn has_stall_ended(&self) -> bool {
        let has_ended =
            |worker: usize| !self.watches[worker].goes_on(&self.scheduler.remotes[worker]);
        (0..self.watches.len()).any(|worker| self.watches[worker].is_reported && has_ended(worker))
    }

    /// Polls that keep others waiting, or have cost their workers their seats, are reported when
    /// they have lasted long enough.
    pub(super) fn report_stalls(&mut self, now: Clock, threshold: Duration) {
        for (worker, watch) in self.watches.iter_mut().enumerate() {
            let duration = watch.duration(now);
            let Some(report) = watch.report.as_mut().filter(|_| duration >= threshold) else {
                continue;
            };
            report.duration = duration;
            if std::mem::replace(&mut watch.is_reported, true) {
                self.scheduler.stalls.lasted(duration);
            } else {
                self.scheduler.stalls.began();
                self.scheduler.record_stall(worker, report);
                tell(&self.scheduler, report);
            }
        }
    }

    /// When the next poll has to be reported, if one has.
    pub(super) fn next_report(&self, now: Clock) -> Option<Duration> {
        let threshold = self.threshold?;
        let due = self.watches.iter().filter(|watch| watch.report.is_some() && !watch.is_reported);
        due.map(|watch| threshold.saturating_sub(watch.duration(now))).min()
    }
}

fn tell(shared: &Shared, report: &StallReport) {
    shared.stalls.lasted(report.duration);
    shared.config.stall.report(report);
}
