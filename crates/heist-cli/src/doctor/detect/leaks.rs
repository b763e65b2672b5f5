//! Tasks that pile up: spawned again and again at the same line, polled once, never woken, never
//! done.

use super::super::finding::{Finding, Severity, Texts, plural};
use super::super::picture::{Picture, Place, PlaceId};
use super::{Detector, share};

/// The smallest number of tasks. Guessed.
const TASKS: u64 = 500;
/// The largest fraction of them that ended or were woken. Guessed.
const MOVED: f64 = 0.05;
/// They were spawned all the time, rather than all at once, as a server's listeners are. Guessed.
const STEADY: f64 = 0.6;

pub(super) struct Leaks;

impl Detector for Leaks {
    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let is_leak = |id: PlaceId, place: &Place| {
            id != PlaceId::UNKNOWN
                && place.spawned >= TASKS
                // A backlog is none.
                && share(place.common_polls, place.spawned) >= 1.0 - MOVED
                && share(place.done.max(place.woken), place.spawned) <= MOVED
                && place.spawns.steadiness(picture.now) >= STEADY
        };
        let finding = |(id, place): (PlaceId, &Place)| {
            let sentence = format!(
                "{} spawned at one line are all still waiting: polled once, not woken since, and \
                 there are ever more of them.",
                plural(place.spawned, "task")
            );
            let advice = "See what they wait for: a sender that is kept and never used, a lock, a \
                          oneshot whose other end was forgotten. Give them a timeout, or abort them.";
            Finding::new("task-leak", Severity::Problem, sentence, advice)
                .count("spawned", place.spawned)
                .count("ended", place.done)
                .count("woken", place.woken)
                .line(picture.line(id, texts))
                .tasks(place.examples.iter().map(|task| picture.task_ref(*task, id, texts)))
        };
        picture.places().filter(|(id, place)| is_leak(*id, place)).map(finding).collect()
    }
}
