//! A task waited while a worker slept, which was not woken.

use super::super::finding::{Finding, Severity, Texts, plural, time};
use super::super::picture::{Picture, PlaceId, Poll};
use super::{Detector, share, share_of_time};
use heist::trace::{PollSource, TaskId};
use std::time::Duration;

/// The shortest wait that counts. Guessed: longer than a poll that handles a whole channel of small
/// messages.
const WAIT: Duration = Duration::from_millis(2);
/// The smallest number of such waits. Guessed.
const TIMES: u64 = 20;
/// The smallest fraction of all polls that began after such a wait. Guessed.
const SHARE: f64 = 0.05;
/// The fraction of the wait in which a worker slept.
const BESIDE_IDLE: f64 = 0.9;

#[derive(Default)]
pub(super) struct IdleBesideWork {
    times: u64,
    /// The number of them that were in the LIFO slot.
    in_slot: u64,
    polls: u64,
    total: Duration,
    longest: Duration,
    task: Option<(TaskId, PlaceId)>,
}

impl Detector for IdleBesideWork {
    fn poll(&mut self, poll: &Poll, _: &Picture) {
        // What is pinned can only wait for its worker: that is another finding.
        if poll.source == PollSource::Pinned {
            return;
        }
        self.polls += 1;
        let Some(wait) = poll.wait.filter(|wait| wait.took >= WAIT) else { return };
        if share_of_time(wait.beside_idle, wait.took) < BESIDE_IDLE {
            return;
        }
        self.times += 1;
        self.in_slot += u64::from(poll.source == PollSource::LifoSlot);
        self.total += wait.took;
        if wait.took >= self.longest {
            (self.longest, self.task) = (wait.took, Some((poll.task, poll.place)));
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        if self.times < TIMES || share(self.times, self.polls) < SHARE {
            return Vec::new();
        }
        let sentence = format!(
            "Work waited beside workers that slept: {}, up to {}.",
            plural(self.times, "time"),
            time(self.longest)
        );
        let advice = "A task that is woken last goes to the LIFO slot of its waker's worker, and \
                      nobody is woken for it: await soon after waking, or yield_now. A stall \
                      threshold (Builder::stall_threshold) lets sysmon rescue what waits there.";
        let (task, place) = self.task.unwrap_or((TaskId(0), PlaceId::UNKNOWN));
        vec![
            Finding::new("idle-beside-work", Severity::Problem, sentence, advice)
                .count("waits of 2 ms or more beside an idle worker", self.times)
                .count("of these in a LIFO slot", self.in_slot)
                .share("of all polls", share(self.times, self.polls))
                .time("longest", self.longest)
                .time("in all", self.total)
                .line(picture.line(place, texts))
                .tasks([picture.task_ref(task, place, texts)]),
        ]
    }
}
