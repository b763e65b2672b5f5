//! System calls that blocked a worker while others waited, as sysmon saw them.

use super::super::finding::{Finding, Severity, Texts, plural, time};
use super::super::picture::{Picture, PlaceId, Poll};
use super::Detector;
use super::holders::Runs;
use super::top::Top;
use heist::trace::{Event, StallKind, StringId, TaskId};
use std::collections::BTreeMap;
use std::time::Duration;

/// One blocked poll may be bad luck: a lock whose holder has lost its core. Guessed.
const TIMES: u64 = 2;
/// Unless it is as long as this. Guessed: ten times what makes a stall.
const LONG: Duration = Duration::from_millis(100);
/// The system call that a thread waits for a lock in. It waits for a channel, a condition variable
/// or another thread in the same one.
const LOCK: &str = "futex";
/// The number of combinations of call and line that are distinguished.
const KEPT: usize = 256;

#[derive(Default)]
pub(super) struct Blocking {
    calls: BTreeMap<(PlaceId, Option<StringId>), Calls>,
    runs: Runs,
}

#[derive(Default)]
struct Calls {
    times: u64,
    total: Duration,
    longest: Duration,
    task: Option<TaskId>,
    /// What ran longest beside each of them, with the nanoseconds.
    beside: Top<(TaskId, PlaceId)>,
    longest_beside: Duration,
}

impl Blocking {
    fn add(&mut self, poll: &Poll, call: Option<StringId>, picture: &Picture) {
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
        let beside = call.and_then(|call| self.runs.longest_beside(poll, call, picture));
        if let Some((run, time)) = beside {
            calls.beside.add(run, time.as_nanos() as u64);
            calls.longest_beside = calls.longest_beside.max(time);
        }
    }
}

impl Detector for Blocking {
    fn event(&mut self, event: &Event, picture: &Picture) {
        self.runs.see(event, picture);
    }

    fn poll(&mut self, poll: &Poll, picture: &Picture) {
        self.runs.end_poll(poll, picture.now);
        match poll.stall {
            Some(StallKind::Blocked(call)) => self.add(poll, Some(call), picture),
            Some(StallKind::Waiting) => self.add(poll, None, picture),
            _ => {}
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let counted = |calls: &&Calls| calls.times >= TIMES || calls.longest >= LONG;
        let calls = self.calls.iter().filter(|(_, calls)| counted(calls));
        calls.map(|(&(place, call), calls)| finding(place, call, calls, picture, texts)).collect()
    }
}

fn finding(
    place: PlaceId,
    call: Option<StringId>,
    calls: &Calls,
    picture: &Picture,
    texts: &dyn Texts,
) -> Finding {
    let call = call.map(|call| texts.text(call));
    let mut sentence = format!(
        "A task blocked its worker in {} while others waited: {}, up to {}.",
        call.map_or("a system call that is not known".into(), |c| format!("the system call {c}")),
        plural(calls.times, "time"),
        time(calls.longest),
    );
    let is_lock = call.is_some_and(|call| call.starts_with(LOCK));
    let holder = calls.beside.first().filter(|_| is_lock).map(|((task, place), _)| {
        (picture.task_ref(task, place, texts), picture.line(place, texts))
    });
    if let Some((holder, line)) = &holder {
        let spawned = line.map_or(String::new(), |line| format!(" (spawned at {line})"));
        sentence += &format!(
            " The likely cause is a lock held across slow work: task {holder}{spawned} ran \
             meanwhile, for up to {}, and probably holds the lock.",
            time(calls.longest_beside)
        );
    }
    let advice = if holder.is_some() {
        "Hold a lock of std for short work only, never while sleeping, doing I/O or computing for \
         long: do that before or after, or in spawn_blocking. Where it has to be held, use \
         heist::sync::Mutex, which waits without a thread."
    } else {
        "Use heist's own time, net, fs and sync, which wait without a thread; wrap what cannot be \
         changed in spawn_blocking or block_in_place."
    };
    let finding = Finding::new("blocking-call", Severity::Problem, sentence, advice)
        .count("blocked polls", calls.times)
        .time("in all", calls.total)
        .time("longest", calls.longest)
        .line(picture.line(place, texts))
        .tasks(calls.task.map(|task| picture.task_ref(task, place, texts)));
    match holder {
        Some((holder, line)) => finding
            .time("longest run of the likely holder beside one", calls.longest_beside)
            .line(line)
            .tasks([holder]),
        None => finding,
    }
}
