//! A snapshot as JSON. `README.md` describes its structure.

mod tasks;

use super::http::{Refusal, Status, refuse};
use super::json::Json;
use super::source::{Source, cut};
use crate::env::Clock;
use crate::scheduler::{RuntimeFlavor, WorkerState};
use crate::stall::{StallCause, StallReport};
use crate::task;
use std::time::Duration;

const VERSION: u64 = 1;
/// The default and maximal numbers of tasks. Guessed; a task takes about 300 bytes.
const TASKS: usize = 100;
const MAX_TASKS: usize = 4096;

/// The parameters of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) tasks: usize,
    pub(super) sort: Sort,
    pub(super) filter: String,
}

/// The order of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Busy,
    Polls,
    Delay,
    Id,
}

impl Query {
    pub(super) fn from_parameters(parameters: &[(String, String)]) -> Result<Self, Refusal> {
        let bad = |sentence: String| refuse(Status::BadRequest, sentence);
        let mut query = Query { tasks: TASKS, sort: Sort::Busy, filter: String::new() };
        for (name, value) in parameters {
            match name.as_str() {
                "tasks" => {
                    let number = value.parse::<usize>();
                    let number = number.map_err(|_| bad(format!("tasks={value}: not a number")))?;
                    query.tasks = number.min(MAX_TASKS);
                }
                "sort" => {
                    query.sort = match value.as_str() {
                        "busy" => Sort::Busy,
                        "polls" => Sort::Polls,
                        "delay" => Sort::Delay,
                        "id" => Sort::Id,
                        _ => {
                            return Err(bad(format!("sort={value}: not busy, polls, delay or id")));
                        }
                    };
                }
                "filter" => query.filter.clone_from(value),
                _ => return Err(bad(format!("{name}: there are tasks, sort and filter"))),
            }
        }
        Ok(query)
    }
}

pub(super) fn text(source: &Source, query: &Query) -> String {
    let now = Clock::now();
    let mut json = Json::default();
    json.object(|json| {
        json.key("version").number(VERSION);
        json.key("pid").number(std::process::id().into());
        json.key("program").text(&source.program);
        json.key("uptime_ns").number(nanos(now.since(source.since)));
        json.key("runtime").object(|json| runtime(json, source));
        let workers = 0..source.scheduler.workers_and_spares();
        json.key("workers").array(workers, |json, index| {
            json.object(|json| worker(json, source, index));
        });
        if let Some(tracker) = &source.scheduler.config().tracker {
            tasks::write(json, &source.scheduler, tracker, query);
        }
        json.key("recent_stalls").array(source.stalls.all(), |json, (at, report)| {
            json.object(|json| stall(json, now.since(at), &report));
        });
    });
    json.into_text()
}

fn runtime(json: &mut Json, source: &Source) {
    let scheduler = &source.scheduler;
    let identity = scheduler.identity();
    let ended = scheduler.ended();
    let spawned = scheduler.spawned();
    let flavor = match scheduler.flavor() {
        RuntimeFlavor::MultiThread => "multi_thread",
        RuntimeFlavor::CurrentThread => "current_thread",
    };
    json.key("id").number(identity.id.number());
    json.key("name").maybe(identity.name.as_deref(), |json, name| json.text(&cut(name)));
    json.key("flavor").text(flavor);
    json.key("num_workers").number(scheduler.workers() as u64);
    json.key("alive_tasks").number(spawned.saturating_sub(ended));
    json.key("spawned").number(spawned);
    json.key("inject_depth").number(scheduler.inject_depth() as u64);
    json.key("remote_schedules").number(scheduler.remote_schedules());
    json.key("budget_yields").number(scheduler.budget_forced_yields());
    json.key("spares").number(scheduler.num_spares() as u64);
    json.key("spare_shortages").number(scheduler.stalls.shortages());
    let blocking = &scheduler.blocking;
    json.key("blocking_threads").number(blocking.num_blocking_threads() as u64);
    json.key("idle_blocking_threads").number(blocking.num_idle_blocking_threads() as u64);
    json.key("blocking_queue_depth").number(blocking.blocking_queue_depth() as u64);
    json.key("stalls").number(scheduler.stalls.count());
    json.key("longest_stall_ns").number(nanos(scheduler.stalls.longest()));
    json.key("is_recording").boolean(scheduler.recorder().is_some());
}

fn worker(json: &mut Json, source: &Source, index: usize) {
    let scheduler = &source.scheduler;
    let counters = scheduler.counters_of(index);
    let seat = scheduler.worker_seat(index);
    let state = scheduler.worker_state(index, seat);
    json.key("worker").number(index as u64);
    json.key("is_spare").boolean(index >= scheduler.workers());
    json.key("seat").maybe(seat, |json, seat| json.number(seat as u64));
    json.key("state").text(state_name(state));
    json.key("polls").number(counters.polls());
    json.key("mean_poll_ns").number(nanos(counters.mean_poll()));
    json.key("busy_ns").number(nanos(counters.busy_time()));
    json.key("local_schedules").number(counters.local_schedules());
    json.key("lifo_hits").number(counters.lifo_hits.get());
    json.key("injected").number(counters.injected.get());
    json.key("overflows").number(counters.overflows.get());
    json.key("steals").number(counters.steals.get());
    json.key("stolen_tasks").number(counters.stolen.get());
    json.key("failed_searches").number(counters.failed_searches.get());
    json.key("jobs").number(counters.jobs.get());
    json.key("stolen_jobs").number(counters.stolen_jobs.get());
    json.key("parks").number(counters.parks_so_far());
    json.key("wakeups").number(counters.wakeups.get());
    json.key("noops").number(counters.noops.get());
    json.key("budget_yields").number(counters.budget_yields.get());
    json.key("seat_losses").number(counters.seat_losses.get());
    json.key("queue_depth").number(scheduler.worker_queue_depth(index) as u64);
    json.key("job_queue_depth").number(scheduler.worker_job_depth(index) as u64);
    let is_at_it = matches!(state, WorkerState::Busy | WorkerState::Blocked);
    let running = scheduler.worker_task(index).filter(|_| is_at_it);
    json.key("running").maybe(running, |json, (id, spawned_at)| {
        json.object(|json| {
            json.key("task").number(id.number().get());
            json.key("name").maybe(task::name_of(id), |json, name| json.text(&cut(&name)));
            json.key("spawned_at").text(&cut(&spawned_at.to_string()));
        });
    });
}

pub(super) fn state_name(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Busy => "busy",
        WorkerState::Idle => "idle",
        WorkerState::Parked => "parked",
        WorkerState::Blocked => "blocked",
    }
}

fn stall(json: &mut Json, ago: Duration, report: &StallReport) {
    json.key("ago_ns").number(nanos(ago));
    json.key("sentence").text(&report.to_string());
    json.key("task").maybe(report.task_id(), |json, id| json.number(id.number().get()));
    json.key("name").maybe(report.task_name(), |json, name| json.text(&cut(name)));
    let spawned_at = report.spawned_at().map(ToString::to_string);
    json.key("spawned_at").maybe(spawned_at, |json, place| json.text(&cut(&place)));
    json.key("worker").number(report.worker() as u64);
    json.key("thread").text(&cut(report.thread_name()));
    json.key("duration_ns").number(nanos(report.duration()));
    json.key("is_over").boolean(report.is_over());
    let (cause, call) = match report.cause() {
        StallCause::Blocked { system_call } => ("blocked", system_call),
        StallCause::Burning => ("burning", None),
        StallCause::Unknown => ("unknown", None),
    };
    json.key("cause").text(cause);
    json.key("system_call").maybe(call, |json, call| json.text(&call.to_string()));
    let waiting = report.waiting();
    json.key("waiting_injected").number(waiting.injected as u64);
    json.key("waiting_queued").number(waiting.queued as u64);
    json.key("waiting_elsewhere").number(waiting.elsewhere as u64);
    json.key("lost_seat").boolean(report.lost_seat());
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
