//! Tasks that wake themselves in each poll and do nothing else, which keeps a worker busy for
//! nothing.

use super::super::finding::{Finding, Severity, Texts, grouped};
use super::super::picture::{Picture, PlaceId, Poll};
use super::top::Top;
use super::{Detector, share};
use heist::trace::{Event, EventKind, Lane, Outcome, TaskId};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

pub(super) const ID: &str = "self-wake";

/// The smallest number of such polls. Guessed: fewer cost less than a millisecond.
const TIMES: u64 = 5000;
/// They are this part of all polls. Guessed: beside polls of work, which are fewer and longer, one
/// such task alone has most of the polls.
const SHARE: f64 = 0.25;
/// A poll that wakes nobody else, spawns nothing and is shorter than this has done nothing.
/// Guessed: a poll that does nothing takes 50 ns, and 1 µs where it is not optimised.
const NOTHING: Duration = Duration::from_micros(2);
/// A task with this part of such polls is the only one worth naming. Guessed.
const MOST: f64 = 0.5;
const EXAMPLES: usize = 3;
/// The number of tasks whose lines are kept.
const KEPT: usize = 1024;

#[derive(Default)]
pub(super) struct SelfWake {
    /// Workers at a poll that is being cut short: the budget wakes the task, not the task itself.
    cut: HashSet<u16>,
    in_vain: Top<TaskId>,
    /// The lines of such tasks, which may have ended before the trace does.
    places: HashMap<TaskId, PlaceId>,
}

impl Detector for SelfWake {
    fn event(&mut self, event: &Event, _: &Picture) {
        if let (EventKind::BudgetExhausted { .. }, Lane::Worker(worker)) = (event.kind, event.lane)
        {
            self.cut.insert(worker);
        }
    }

    fn poll(&mut self, poll: &Poll, _: &Picture) {
        let was_cut = self.cut.remove(&poll.worker);
        let did_nothing = poll.wakes == 0 && poll.spawns == 0 && poll.jobs == 0;
        let goes_on = poll.outcome == Some(Outcome::Again) && !was_cut;
        if goes_on && did_nothing && poll.took < NOTHING {
            self.in_vain.add(poll.task, 1);
            let is_room = self.places.len() < KEPT || self.places.contains_key(&poll.task);
            if is_room && poll.place != PlaceId::UNKNOWN {
                self.places.insert(poll.task, poll.place);
            }
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let (times, polls) = (self.in_vain.total(), picture.polls());
        if times < TIMES || share(times, polls) < SHARE {
            return Vec::new();
        }
        let mut tasks = self.in_vain.largest(EXAMPLES);
        let is_one = tasks.first().is_some_and(|(_, own)| share(*own, times) >= MOST);
        tasks.truncate(if is_one { 1 } else { EXAMPLES });
        let who = if is_one { "A task wakes itself" } else { "Tasks wake themselves" };
        let sentence = format!(
            "{who} again and again without doing anything: {} polls that end by running again. \
             That keeps a worker busy for nothing.",
            grouped(times)
        );
        let advice = "Do not wake the task in its own poll: register its waker with what it waits \
                      for, or await a Notify, a channel or a timer instead of looking again \
                      (yield_now in a loop is the same). If each poll does a little work, do more \
                      of it before yielding.";
        let mut finding = Finding::new(ID, Severity::Warning, sentence, advice)
            .count("polls that only woke their own task", times)
            .share("of all polls", share(times, polls));
        for (task, _) in tasks {
            let place = self.places.get(&task).copied().unwrap_or(PlaceId::UNKNOWN);
            let task = picture.task_ref(task, place, texts);
            finding = finding.line(picture.line(place, texts)).tasks([task]);
        }
        vec![finding]
    }
}
