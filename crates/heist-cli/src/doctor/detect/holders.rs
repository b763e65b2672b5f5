//! What ran beside a blocked poll. If the poll waited for a lock, its holder is among these: a task
//! or a closure that was running all the while, whether it computed, slept or blocked itself.

use super::super::picture::{Picture, PlaceId, Poll};
use super::share_of_time;
use heist::trace::{Event, EventKind, Lane, StallKind, StringId, TaskId};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// Shorter runs hold no lock for long. Guessed: a tenth of what makes a stall.
const LONG: Duration = Duration::from_millis(1);
/// The number of ended runs that are kept. Guessed: stalls are examined when they end, and few runs
/// are long.
const KEPT: usize = 256;
/// A run that covers less of the blocked poll than this is no likely holder. Guessed: with three
/// waiters in a row, the last sees the first holder for a third of its poll.
const COVERED: f64 = 0.25;

/// The polls and closures that run now, and the long ones that ran lately.
#[derive(Default)]
pub(super) struct Runs {
    /// The polls in progress, by worker.
    polls: HashMap<u16, Run>,
    asides: HashMap<TaskId, Run>,
    ended: VecDeque<(Run, Duration)>,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    task: TaskId,
    /// The spawn location; unknown for a poll in progress.
    place: Option<PlaceId>,
    from: Duration,
    /// The system call that sysmon found it in.
    call: Option<StringId>,
}

impl Runs {
    pub(super) fn see(&mut self, event: &Event, picture: &Picture) {
        let from = event.at;
        match (event.kind, event.lane) {
            (EventKind::PollStart { task, .. }, Lane::Worker(worker)) => {
                self.polls.insert(worker, Run { task, place: None, from, call: None });
            }
            (EventKind::OffWorkerStart { task }, _) if self.asides.len() < KEPT => {
                let place = Some(picture.place_of(task));
                self.asides.insert(task, Run { task, place, from, call: None });
            }
            (EventKind::OffWorkerEnd { task, .. }, _) => {
                let run = self.asides.remove(&task);
                self.end(run, event.at);
            }
            (EventKind::Stall { worker, task, kind: StallKind::Blocked(call) }, _) => {
                let run = self.polls.get_mut(&worker).filter(|run| run.task == task);
                run.into_iter().for_each(|run| run.call = Some(call));
            }
            _ => {}
        }
    }

    /// A poll is over, or the trace ends in it.
    pub(super) fn end_poll(&mut self, poll: &Poll, now: Duration) {
        let run = self.polls.remove(&poll.worker);
        self.end(run.map(|run| Run { place: Some(poll.place), ..run }), now);
    }

    fn end(&mut self, run: Option<Run>, now: Duration) {
        if let Some(run) = run.filter(|run| now.saturating_sub(run.from) >= LONG) {
            self.ended.truncate(KEPT - 1);
            self.ended.push_front((run, now));
        }
    }

    /// What ran longest beside this poll, which was blocked in `call` and ends now, and for how
    /// long beside it. What was blocked in the same call waited as well.
    pub(super) fn longest_beside(
        &self,
        poll: &Poll,
        call: StringId,
        picture: &Picture,
    ) -> Option<((TaskId, PlaceId), Duration)> {
        let (start, now) = (picture.now.saturating_sub(poll.took), picture.now);
        let going_on = self.polls.values().chain(self.asides.values()).map(|run| (*run, now));
        let others = going_on.chain(self.ended.iter().copied());
        let others = others.filter(|(run, _)| run.task != poll.task && run.call != Some(call));
        let beside =
            others.map(|(run, until)| (run, until.min(now).saturating_sub(run.from.max(start))));
        let (run, beside) = beside.max_by_key(|(_, beside)| *beside)?;
        let place = run.place.unwrap_or_else(|| picture.place_of(run.task));
        let is_long = beside >= LONG && share_of_time(beside, poll.took) >= COVERED;
        is_long.then_some(((run.task, place), beside))
    }
}
