//! System calls that blocked a worker while others waited, as sysmon saw them.

use super::super::finding::{Finding, Severity, Texts, plural, time};
use super::super::picture::{Picture, PlaceId, Poll};
use super::Detector;
use heist::trace::{StallKind, StringId, TaskId};
use std::collections::BTreeMap;
use std::time::Duration;

/// One blocked poll may be bad luck: a lock whose holder has lost its core. Guessed.
const TIMES: u64 = 2;
/// Unless it is as long as this. Guessed: ten times what makes a stall.
const LONG: Duration = Duration::from_millis(100);
/// So many combinations of call and line are told apart.
const KEPT: usize = 256;

#[derive(Default)]
pub(super) struct Blocking {
    calls: BTreeMap<(PlaceId, Option<StringId>), Calls>,
}

#[derive(Default)]
struct Calls {
    times: u64,
    total: Duration,
    longest: Duration,
    task: Option<TaskId>,
}

impl Blocking {
    fn add(&mut self, poll: &Poll, call: Option<StringId>) {
        let key = (poll.place, call);
        if self.calls.len() >= KEPT && !self.calls.contains_key(&key) {
            return;
        }
        let calls = self.calls.entry(key).or_default();
        calls.times += 1;
        calls.total += poll.took;
        if poll.took >= calls.longest {
            (calls.longest, calls.task) = (poll.took, Some(poll.task));
        }
    }
}

impl Detector for Blocking {
    fn poll(&mut self, poll: &Poll, _: &Picture) {
        match poll.stall {
            Some(StallKind::Blocked(call)) => self.add(poll, Some(call)),
            Some(StallKind::Waiting) => self.add(poll, None),
            _ => {}
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let counted = |calls: &&Calls| calls.times >= TIMES || calls.longest >= LONG;
        let calls = self.calls.iter().filter(|(_, calls)| counted(calls));
        let finding = |(&(place, call), calls): (&(PlaceId, Option<StringId>), &Calls)| {
            let call = match call {
                Some(call) => format!("the system call {}", texts.text(call)),
                None => "a system call that is not known".to_owned(),
            };
            let sentence = format!(
                "A task blocked its worker in {call} while others waited: {}, up to {}.",
                plural(calls.times, "time"),
                time(calls.longest),
            );
            let advice = "Use heist's own time, net, fs and sync, which wait without a thread; wrap \
                          what cannot be changed in spawn_blocking or block_in_place.";
            Finding::new("blocking-call", Severity::Problem, sentence, advice)
                .count("blocked polls", calls.times)
                .time("in all", calls.total)
                .time("longest", calls.longest)
                .line(picture.line(place, texts))
                .tasks(calls.task.map(|task| picture.task_ref(task, place, texts)))
        };
        calls.map(finding).collect()
    }
}
