//! An examination: events go in, findings come out.

use super::detect::{self, Detector};
use super::finding::{Finding, Texts};
use super::picture::{Over, Picture};
use super::waiting::{self, Verdict, Waiting};
use heist::trace::{Event, EventKind, Lane, PollSource, TaskId};
use serde::Serialize;
use std::time::Duration;

/// Looks at events, one after the other; its memory does not grow with their number.
pub struct Exam {
    picture: Picture,
    detectors: Vec<Box<dyn Detector>>,
    /// The workers whose records begin later than the trace, and have not begun.
    late: Vec<Start>,
    /// All records are complete from here on.
    from: Duration,
    is_complete: bool,
}

/// Where the record of a lane begins whose older events were overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The lane of the record.
    pub lane: Lane,
    /// When its first event was.
    pub at: Duration,
    /// The task whose poll went on then, if one did.
    pub in_poll: Option<TaskId>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The findings in one word.
    pub verdict: Verdict,
    /// What is wrong, the worst first; empty if nothing is.
    pub findings: Vec<Finding>,
    /// The tasks that have waited longest, by the line that spawns them. That is no fault by
    /// itself.
    pub waiting: Vec<Waiting>,
    /// What the findings rest on.
    pub basis: Basis,
}

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Basis {
    /// Events.
    pub events: u64,
    /// Polls.
    pub polls: u64,
    /// Workers, spares included.
    pub workers: usize,
    /// Seconds from the first event to the last.
    pub seconds: f64,
    /// Seconds since the records of all workers are complete: older events of some may have been
    /// overwritten. What compares workers with each other rests on this part.
    pub common_seconds: f64,
    /// Seconds at the end in which no worker was in a poll or job.
    pub quiet_seconds: f64,
    /// The share of the time in which at least one worker was in a poll or job.
    pub somebody_busy: f64,
    /// The share of its time that each worker was in polls or jobs, as far as its own record goes
    /// back. Pauses in which no worker had anything to do are left out.
    pub busy: Vec<f64>,
    /// The share of their time in which workers were ready to run, and had no core.
    pub without_core: f64,
}

impl Exam {
    /// Starts an examination of a runtime. `late` contains the lanes whose older events were
    /// overwritten. Each worker is judged by its own record; comparisons begin where the last
    /// record begins.
    pub fn new(seats: usize, late: impl IntoIterator<Item = Start>) -> Self {
        let late: Vec<Start> = late.into_iter().collect();
        let from = late.iter().map(|start| start.at).max().unwrap_or_default();
        let picture = Picture::new(seats, from);
        Exam { picture, detectors: detect::all(), late, from, is_complete: false }
    }

    /// Takes the next event; they come in the order of time.
    pub fn see(&mut self, event: &Event) {
        if !self.late.is_empty() {
            self.start_lane(event.lane);
        }
        if !self.is_complete && event.at >= self.from {
            self.is_complete = true;
            self.picture.start_at(event.at);
        }
        self.take(event);
    }

    /// The lane's first event comes next. A poll in progress began before it, at an unknown time.
    fn start_lane(&mut self, lane: Lane) {
        let Some(index) = self.late.iter().position(|start| start.lane == lane) else { return };
        let Start { at, in_poll, .. } = self.late.swap_remove(index);
        if let Lane::Worker(worker) = lane {
            self.picture.start_lane(worker, at);
        }
        if let Some(task) = in_poll {
            let kind = EventKind::PollStart { task, source: PollSource::Ring };
            self.take(&Event { at, is_exact: true, lane, kind });
        }
    }

    fn take(&mut self, event: &Event) {
        let over = self.picture.see(event);
        for detector in &mut self.detectors {
            detector.event(event, &self.picture);
        }
        for detector in &mut self.detectors {
            match &over {
                Some(Over::Poll(poll)) => detector.poll(poll, &self.picture),
                Some(Over::Wait(closure)) => detector.closure(closure, &self.picture),
                None => {}
            }
        }
    }

    /// Ends the examination and returns the diagnosis.
    pub fn conclude(mut self, texts: &dyn Texts) -> Diagnosis {
        let open = self.picture.end();
        let picture = &self.picture;
        for detector in &mut self.detectors {
            open.iter().for_each(|poll| detector.poll(poll, picture));
            picture.waiting_closures().for_each(|closure| detector.closure(&closure, picture));
        }
        let found = self.detectors.iter().flat_map(|detector| detector.findings(picture, texts));
        let mut findings: Vec<_> = found.collect();
        detect::leave_out_what_others_explain(&mut findings);
        // Stable: within a severity, in the order of the detectors.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let verdict = Verdict::of(&findings, picture);
        let waiting = waiting::of(picture, texts);
        Diagnosis { verdict, findings, waiting, basis: Basis::of(picture) }
    }
}

impl Basis {
    fn of(picture: &Picture) -> Basis {
        let length = |since: Duration| picture.now.saturating_sub(since).as_secs_f64();
        let common = length(picture.since);
        let share = |time: Duration| if common > 0.0 { time.as_secs_f64() / common } else { 0.0 };
        let workers = picture.lanes.len();
        let without_core: Duration = picture.lanes.iter().map(|lane| lane.without_core).sum();
        Basis {
            events: picture.events,
            polls: picture.polls(),
            workers,
            seconds: picture.start.map_or(0.0, length),
            common_seconds: common,
            quiet_seconds: picture.clocks.nobody_busy().as_secs_f64(),
            somebody_busy: share(picture.clocks.somebody_busy()),
            busy: picture.lanes.iter().map(|lane| picture.busy_share(lane)).collect(),
            without_core: share(without_core) / picture.seats.max(1) as f64,
        }
    }
}
