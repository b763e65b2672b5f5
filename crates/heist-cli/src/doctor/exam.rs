//! An examination: events go in, findings come out.

use super::detect::{self, Detector};
use super::finding::{Finding, Texts};
use super::picture::{Over, Picture};
use heist::trace::Event;
use serde::Serialize;
use std::time::Duration;

/// Looks at events, one after the other; its memory does not grow with their number.
pub struct Exam {
    picture: Picture,
    detectors: Vec<Box<dyn Detector>>,
    /// Counting begins here.
    from: Duration,
    has_begun: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What is wrong, the worst first; empty if nothing is.
    pub findings: Vec<Finding>,
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
    /// Seconds from the first event that counts to the last.
    pub seconds: f64,
    /// The share of its seconds that each worker was in polls or jobs.
    pub busy: Vec<f64>,
    /// The share of their time in which workers were ready to run, and had no core.
    pub without_core: f64,
}

impl Exam {
    /// Of a runtime with so many seats. What happened before `from` is not counted: then some of
    /// the events have been overwritten already, and others not.
    pub fn new(seats: usize, from: Duration) -> Self {
        let picture = Picture::new(seats);
        Exam { picture, detectors: detect::all(), from, has_begun: false }
    }

    /// Takes the next event; they come in the order of time.
    pub fn see(&mut self, event: &Event) {
        if !self.has_begun && event.at >= self.from {
            self.has_begun = true;
            self.picture.start_at(event.at);
        }
        let over = self.picture.see(event);
        if !self.has_begun {
            return;
        }
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

    /// What it comes to.
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
        Diagnosis { findings, basis: Basis::of(picture) }
    }
}

impl Basis {
    fn of(picture: &Picture) -> Basis {
        let seconds = picture.now.saturating_sub(picture.since).as_secs_f64();
        let share = |time: Duration| if seconds > 0.0 { time.as_secs_f64() / seconds } else { 0.0 };
        let workers = picture.lanes.len();
        let without_core: Duration = picture.lanes.iter().map(|lane| lane.without_core).sum();
        Basis {
            events: picture.events,
            polls: picture.polls(),
            workers,
            seconds,
            busy: picture.lanes.iter().map(|lane| share(lane.busy)).collect(),
            without_core: share(without_core) / picture.seats.max(1) as f64,
        }
    }
}
