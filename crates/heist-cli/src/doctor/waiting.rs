//! Tasks that wait, and programs that do nothing else.
//!
//! Two tasks that wait for each other's lock and a task whose waker was lost look like the tasks of
//! a server without requests: they were polled, and nobody has woken them since. The trace does not
//! tell what a task waits for. So this is information and no finding.

use super::finding::{Finding, TaskRef, Texts, plural, time};
use super::picture::{Picture, PlaceId, TaskState};
use heist::trace::TaskId;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Tasks that have waited less are not worth telling. Guessed: shorter than a user's patience,
/// longer than most requests.
const LONG: Duration = Duration::from_millis(100);
/// The number of lines that are reported, and of tasks of each.
const LINES: usize = 5;
const EXAMPLES: usize = 3;
/// A program is idle if tasks ran for less of the time than this. Guessed.
const AT_WORK: f64 = 0.01;
/// A program also counts as idle if no task ran for this long at the end, or for this part of the
/// time. Guessed.
const QUIET: Duration = Duration::from_secs(1);
const QUIET_SHARE: f64 = 0.5;

/// The findings in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Verdict {
    /// Something was found.
    Sick,
    /// Nothing was found in a program that hardly did anything but wait.
    Idle,
    /// Nothing was found.
    Healthy,
}

/// The waiting tasks of one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Waiting {
    /// The line that spawned them, if the trace has it.
    pub spawned_at: Option<String>,
    /// How many there are.
    pub tasks: u64,
    /// How long the first of them has waited at the end of the trace.
    pub longest_nanoseconds: u64,
    /// Those that have waited longest.
    pub examples: Vec<TaskRef>,
}

impl Verdict {
    pub(super) fn of(findings: &[Finding], picture: &Picture) -> Verdict {
        if !findings.is_empty() {
            return Verdict::Sick;
        }
        let all = picture.now.saturating_sub(picture.since).as_secs_f64();
        let quiet = picture.clocks.nobody_busy();
        let is_idle = picture.clocks.somebody_busy().as_secs_f64() < all * AT_WORK;
        if is_idle || quiet >= QUIET || quiet.as_secs_f64() > all * QUIET_SHARE {
            Verdict::Idle
        } else {
            Verdict::Healthy
        }
    }
}

/// The tasks that have waited longest, by line.
pub(super) fn of(picture: &Picture, texts: &dyn Texts) -> Vec<Waiting> {
    let mut places: BTreeMap<PlaceId, Vec<(Duration, TaskId)>> = BTreeMap::new();
    for (id, task) in picture.tasks() {
        if let Some(waits) = waits(task, picture).filter(|waits| *waits >= LONG) {
            places.entry(task.place).or_default().push((waits, id));
        }
    }
    let mut all: Vec<_> = places.into_iter().collect();
    all.iter_mut().for_each(|(_, tasks)| tasks.sort_by_key(|(waits, id)| (Reverse(*waits), *id)));
    all.sort_by_key(|(_, tasks)| Reverse(tasks[0].0));
    all.truncate(LINES);
    let waiting = |(place, tasks): (PlaceId, Vec<(Duration, TaskId)>)| {
        let examples = tasks.iter().take(EXAMPLES);
        Waiting {
            spawned_at: picture.line(place, texts).map(str::to_owned),
            tasks: tasks.len() as u64,
            longest_nanoseconds: tasks[0].0.as_nanos() as u64,
            examples: examples.map(|(_, id)| picture.task_ref(*id, place, texts)).collect(),
        }
    };
    all.into_iter().map(waiting).collect()
}

/// How long the task has waited to be woken, if it does.
fn waits(task: &TaskState, picture: &Picture) -> Option<Duration> {
    // Of events of two lanes, the wake-up may seem to come before the end of the poll.
    let since = task.waits.filter(|_| task.runnable.is_none())?;
    // Its wake-up may have been overwritten, in the record of another worker.
    if since < picture.since {
        return None;
    }
    Some(picture.now.saturating_sub(since))
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = time(Duration::from_nanos(self.longest_nanoseconds));
        let spawned = self.spawned_at.as_deref().unwrap_or("a line that the trace does not have");
        let examples: Vec<_> = self.examples.iter().map(ToString::to_string).collect();
        let more = if self.tasks as usize > examples.len() { ", …" } else { "" };
        let for_so_long = if self.tasks == 1 { "for" } else { "for up to" };
        write!(
            f,
            "{} {for_so_long} {longest}, spawned at {spawned}: {}{more}",
            plural(self.tasks, "task"),
            examples.join(", "),
        )
    }
}
