//! Inject pressure: tiny tasks that come through the shared queue, one by one from threads outside
//! or in heaps from a worker whose ring is full. What it takes to hand them over is more than what
//! they do.

use super::super::finding::{Finding, Severity, Texts, plural, time};
use super::super::picture::{Picture, PlaceId, Poll};
use super::top::Top;
use super::{Detector, share, tiny};
use heist::trace::{Event, EventKind, Lane};
use std::time::Duration;

pub(super) const ID: &str = "inject-pressure";

/// The smallest number of tasks that came that way. Guessed.
const TASKS: u64 = 5000;
/// Their smallest fraction of all polls. Guessed.
const SHARE: f64 = 0.5;
/// Polls that take longer are worth the way. Of the order of a hand-over and a wake-up:
/// `spawn_remote_idle` takes 0.3 µs a task.
const TINY: Duration = Duration::from_micros(1);

#[derive(Default)]
pub(super) struct Pressure {
    injected: u64,
    batches: u64,
    overflowed: u64,
    from_outside: u64,
    polls_at: Top<PlaceId>,
}

impl Detector for Pressure {
    fn event(&mut self, event: &Event, _: &Picture) {
        match event.kind {
            EventKind::InjectBatch { tasks } => {
                self.injected += u64::from(tasks);
                self.batches += 1;
            }
            EventKind::Overflow { tasks } => self.overflowed += u64::from(tasks),
            EventKind::Spawn { .. } | EventKind::Wake { .. } if event.lane == Lane::Outside => {
                self.from_outside += 1;
            }
            _ => {}
        }
    }

    fn poll(&mut self, poll: &Poll, _: &Picture) {
        self.polls_at.add(poll.place, 1);
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let of_polls = share(self.injected, picture.polls());
        let place = self.polls_at.first().map_or(PlaceId::UNKNOWN, |(place, _)| place);
        let typical = picture.place(place).lengths.typical();
        if self.injected < TASKS || of_polls < SHARE || typical > TINY {
            return Vec::new();
        }
        let is_from_rings = self.overflowed > self.from_outside;
        if is_from_rings && !tiny::places(picture).is_empty() {
            // The rings are full of small tasks, not of tasks from outside.
            return Vec::new();
        }
        let (cause, advice) = if is_from_rings {
            let advice = "Spawn fewer and larger tasks, or let the spawning task await now and then: \
                          a worker's ring holds 256 tasks.";
            ("workers whose rings were full", advice)
        } else {
            let advice = "Spawn from inside of the runtime (one task that spawns the others goes \
                          through the queue once), or hand over more with each task.";
            ("threads outside of the runtime", advice)
        };
        let sentence = format!(
            "{} of {} each came through the shared queue, from {cause}.",
            plural(self.injected, "task"),
            time(typical),
        );
        let examples = &picture.place(place).examples;
        vec![
            Finding::new(ID, Severity::Warning, sentence, advice)
                .count("tasks through the inject queue", self.injected)
                .share("of all polls", of_polls.min(1.0))
                .count("batches", self.batches)
                .count("from threads outside", self.from_outside)
                .count("from full rings", self.overflowed)
                .time("typical poll", typical)
                .line(picture.line(place, texts))
                .tasks(examples.iter().map(|task| picture.task_ref(*task, place, texts))),
        ]
    }
}
