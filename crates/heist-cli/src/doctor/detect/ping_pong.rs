//! Two tasks that wake each other in turns, so that only one of them can run at any time, and keep
//! their worker from others.

use super::super::finding::{Finding, Severity, Texts, grouped};
use super::super::picture::{Picture, PlaceId, Poll};
use super::top::Top;
use super::{Detector, share, share_of_time};
use heist::trace::{PollSource, TaskId};
use std::collections::HashMap;
use std::time::Duration;

pub(super) const ID: &str = "lifo-ping-pong";

/// The smallest number of exchanges. Guessed: fewer cost less than a millisecond.
const TIMES: u64 = 5000;
/// The smallest fraction of all polls that belong to one conversation. Guessed.
const SHARE: f64 = 0.5;
/// The smallest fraction of a worker's time. An occasional conversation does no harm. Guessed.
const BUSY: f64 = 0.5;
/// Longer polls have work to do. Guessed.
const SHORT_EXCHANGE: Duration = Duration::from_micros(10);

#[derive(Default)]
pub(super) struct PingPong {
    /// The last two tasks of each worker.
    last: HashMap<u16, [Option<TaskId>; 2]>,
    pairs: Top<(TaskId, TaskId)>,
    places: HashMap<TaskId, PlaceId>,
    from_slot: u64,
}

/// The number of tasks whose locations are kept.
const KEPT: usize = 1024;

impl Detector for PingPong {
    fn poll(&mut self, poll: &Poll, _: &Picture) {
        let last = self.last.entry(poll.worker).or_default();
        let [before, previous] = *last;
        *last = [previous, Some(poll.task)];
        // The worker takes every fourth from its ring, which is empty but for them.
        let is_local = matches!(poll.source, PollSource::LifoSlot | PollSource::Ring);
        let Some(other) = previous.filter(|other| *other != poll.task) else { return };
        if before != Some(poll.task) || !is_local || !poll.was_woken {
            return;
        }
        self.pairs.add((poll.task.min(other), poll.task.max(other)), 1);
        self.from_slot += u64::from(poll.source == PollSource::LifoSlot);
        if self.places.len() < KEPT || self.places.contains_key(&poll.task) {
            self.places.insert(poll.task, poll.place);
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let Some(((one, other), times)) = self.pairs.first() else { return Vec::new() };
        let is_from_slot = self.from_slot * 2 >= self.pairs.total();
        let busy = share_of_time(picture.clocks.somebody_busy(), picture.work_time());
        let is_much = times >= TIMES && share(times, picture.polls()) >= SHARE;
        let place = |task| self.places.get(&task).copied().unwrap_or(PlaceId::UNKNOWN);
        let typical = [one, other].map(|task| picture.place(place(task)).lengths.typical());
        let typical = typical.into_iter().max().unwrap_or_default();
        if !is_from_slot || !is_much || busy < BUSY || typical > SHORT_EXCHANGE {
            return Vec::new();
        }
        let sentence = format!(
            "Two tasks wake each other by turns: {} exchanges, and never can both of them run.",
            grouped(times)
        );
        let advice = "Send more with each message (batches, a channel with room for several), or \
                      make one task of the two: a call is cheaper than a wake-up.";
        let tasks = [one, other].map(|task| picture.task_ref(task, place(task), texts));
        vec![
            Finding::new(ID, Severity::Warning, sentence, advice)
                .count("exchanges", times)
                .share("of all polls", share(times, picture.polls()))
                .share(
                    "of such polls from the LIFO slot",
                    share(self.from_slot, self.pairs.total()),
                )
                .time("typical poll", typical)
                .line(picture.line(place(one), texts))
                .line(picture.line(place(other), texts))
                .tasks(tasks),
        ]
    }
}
