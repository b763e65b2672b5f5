//! The tasks of a snapshot: those that were requested.

use super::{Query, Sort};
use crate::console::json::Json;
use crate::console::source::cut;
use crate::scheduler::Scheduler;
use crate::task::tracker::{Histogram, Stats, TaskState, Tracker, View, limit_of};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

pub(super) fn write(json: &mut Json, scheduler: &Scheduler, tracker: &Tracker, query: &Query) {
    let Chosen { tasks, matched, tracked } = choose(tracker, query);
    json.key("tasks").array(tasks, |json, task| json.object(|json| write_task(json, &task)));
    json.key("tasks_matched").number(matched);
    json.key("tasks_tracked").number(tracked);
    let alive = scheduler.spawned().saturating_sub(scheduler.ended());
    // A task leaves the table slightly before it counts as ended, so a small difference does not
    // mean that the table was full.
    let untracked = if tracker.was_full() { alive.saturating_sub(tracked) } else { 0 };
    json.key("tasks_untracked").number(untracked);
    json.key("histograms").object(|json| {
        json.key("poll_time");
        write_histogram(json, &tracker.poll_times);
        json.key("scheduling_delay");
        write_histogram(json, &tracker.delays);
    });
}

struct Chosen {
    /// In the requested order.
    tasks: Vec<Task>,
    /// The number of tasks that match.
    matched: u64,
    /// The number of tasks.
    tracked: u64,
}

/// A task, ordered by rank and then by smaller id.
struct Task {
    rank: u64,
    stats: Arc<Stats>,
    view: View,
}

impl Task {
    fn order(&self) -> (u64, Reverse<u64>) {
        (self.rank, Reverse(self.stats.id.number().get()))
    }
}

impl PartialEq for Task {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Task {}

impl PartialOrd for Task {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Task {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// Keeps at most the requested number of tasks.
fn choose(tracker: &Tracker, query: &Query) -> Chosen {
    let now = tracker.now();
    // The lowest rank is on top.
    let mut best = BinaryHeap::new();
    let (mut matched, mut tracked) = (0, 0);
    tracker.for_each(|stats| {
        tracked += 1;
        if !is_wanted(&stats, &query.filter) {
            return;
        }
        matched += 1;
        let view = stats.view(now);
        let rank = match query.sort {
            Sort::Busy => view.busy,
            Sort::Polls => view.polls,
            Sort::Delay => view.delay,
            Sort::Id => 0,
        };
        best.push(Reverse(Task { rank, stats, view }));
        if best.len() > query.tasks {
            best.pop();
        }
    });
    // The highest rank comes first.
    let tasks = best.into_sorted_vec().into_iter().map(|Reverse(task)| task).collect();
    Chosen { tasks, matched, tracked }
}

fn is_wanted(stats: &Stats, filter: &str) -> bool {
    filter.is_empty()
        || stats.name.as_ref().is_some_and(|name| name.contains(filter))
        || stats.spawned_at.to_string().contains(filter)
}

fn write_task(json: &mut Json, task: &Task) {
    let Task { stats, view, .. } = task;
    let state = match view.state {
        TaskState::Running => "running",
        TaskState::Queued => "queued",
        TaskState::Waiting => "waiting",
    };
    json.key("id").number(stats.id.number().get());
    json.key("name").maybe(stats.name.as_deref(), |json, name| json.text(&cut(name)));
    json.key("spawned_at").text(&cut(&stats.spawned_at.to_string()));
    json.key("state").text(state);
    json.key("polls").number(view.polls);
    json.key("busy_ns").number(view.busy);
    json.key("longest_poll_ns").number(view.longest_poll);
    json.key("delay_ns").number(view.delay);
    json.key("longest_delay_ns").number(view.longest_delay);
    json.key("last_wake_ns").number(view.last_wake);
    json.key("age_ns").number(view.age);
}

fn write_histogram(json: &mut Json, histogram: &Histogram) {
    json.array(histogram.counts().into_iter().enumerate(), |json, (bucket, count)| {
        json.object(|json| {
            json.key("le_ns").maybe(limit_of(bucket), |json, nanos| json.number(nanos));
            json.key("count").number(count);
        });
    });
}
