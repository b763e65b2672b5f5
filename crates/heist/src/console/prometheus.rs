//! Metrics in Prometheus' text format, with stable names.

use super::snapshot::{nanos, state_name};
use super::source::{Source, cut};
use crate::metrics::WorkerCounters;
use crate::scheduler::{Scheduler, WorkerState};
use crate::task::tracker::{Histogram, limit_of};
use std::fmt::{Display, Write};
use std::time::Duration;

pub(super) const TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

const STATES: [WorkerState; 4] =
    [WorkerState::Busy, WorkerState::Idle, WorkerState::Parked, WorkerState::Blocked];

pub(super) fn text(source: &Source) -> String {
    let identity = source.scheduler.identity();
    let runtime =
        identity.name.as_deref().map_or_else(|| identity.id.to_string(), |n| cut(n).into());
    let mut page = Page { text: String::new(), name: String::new(), runtime: escape(&runtime) };
    of_runtime(&mut page, source);
    of_workers(&mut page, &source.scheduler);
    if let Some(tracker) = &source.scheduler.config().tracker {
        page.gauge("tracked_tasks", "Tasks that are watched one by one.", tracker.count());
        let help = "How long polls of watched tasks took.";
        page.histogram("poll_duration_seconds", help, &tracker.poll_times);
        let help = "How long watched tasks waited from spawn or wake-up to the next poll.";
        page.histogram("scheduling_delay_seconds", help, &tracker.delays);
    }
    page.text
}

fn of_runtime(page: &mut Page, source: &Source) {
    let scheduler = &source.scheduler;
    let (ended, spawned) = (scheduler.ended(), scheduler.spawned());
    let blocking = &scheduler.blocking;
    let stalls = &scheduler.stalls;
    page.gauge("workers", "Workers, without spares.", scheduler.workers());
    page.gauge("alive_tasks", "Tasks that have not ended.", spawned.saturating_sub(ended));
    page.counter("spawned_tasks_total", "Tasks that were ever spawned.", spawned);
    page.gauge("inject_queue_depth", "Tasks in the inject queue.", scheduler.inject_depth());
    let help = "Spawns and wake-ups by threads that are no workers.";
    page.counter("remote_schedules_total", help, scheduler.remote_schedules());
    let help = "Polls cut short because their budget was used up.";
    page.counter("budget_forced_yields_total", help, scheduler.budget_forced_yields());
    page.counter("stalls_total", "Tasks that kept their worker for too long.", stalls.count());
    page.gauge("longest_stall_seconds", "The longest stall so far.", seconds(stalls.longest()));
    page.gauge("spare_workers", "Spare workers that run.", scheduler.num_spares());
    let help = "Stuck workers that no spare could be had for.";
    page.counter("spare_shortages_total", help, stalls.shortages());
    let help = "Threads for closures that block.";
    page.gauge("blocking_threads", help, blocking.num_blocking_threads());
    let help = "Threads for closures that block, with nothing to do.";
    page.gauge("idle_blocking_threads", help, blocking.num_idle_blocking_threads());
    let help = "Closures that wait for a thread.";
    page.gauge("blocking_queue_depth", help, blocking.blocking_queue_depth());
}

fn of_workers(page: &mut Page, scheduler: &Scheduler) {
    type Count = fn(&WorkerCounters) -> u64;
    let counts: [(&str, &str, Count); 15] = [
        ("polls_total", "Polls of tasks.", |c| c.polls()),
        ("local_schedules_total", "Tasks made runnable here.", |c| c.local_schedules()),
        ("lifo_hits_total", "Tasks run from the LIFO slot.", |c| c.lifo_hits.get()),
        ("injected_total", "Tasks taken from the inject queue.", |c| c.injected.get()),
        ("overflows_total", "How often the ring was full.", |c| c.overflows.get()),
        ("steals_total", "Thefts from other workers.", |c| c.steals.get()),
        ("stolen_tasks_total", "Tasks stolen from other workers.", |c| c.stolen.get()),
        ("failed_searches_total", "Searches that found nothing.", |c| c.failed_searches.get()),
        ("jobs_total", "Fork-join jobs taken from a queue and run.", |c| c.jobs.get()),
        ("stolen_jobs_total", "Those of them that were another's.", |c| c.stolen_jobs.get()),
        ("parks_total", "How often the worker went to sleep.", |c| c.parks_so_far()),
        ("wakeups_total", "How often the worker was woken.", |c| c.wakeups.get()),
        ("noops_total", "How often it woke up for nothing.", |c| c.noops.get()),
        ("budget_yields_total", "Polls cut short on this worker.", |c| c.budget_yields.get()),
        ("seat_losses_total", "How often it was stuck and lost its seat.", |c| c.seat_losses.get()),
    ];
    // Includes spares that have ended, because counters must not decrease.
    let workers = 0..scheduler.workers_ever();
    for (name, help, count) in counts {
        page.family("counter", &format!("worker_{name}"), help);
        for index in workers.clone() {
            page.of_worker(index, "", count(scheduler.counters_of(index)));
        }
    }
    page.family("counter", "worker_busy_seconds_total", "How long the worker was not asleep.");
    for index in workers.clone() {
        page.of_worker(index, "", seconds(scheduler.counters_of(index).busy_time()));
    }
    page.family("gauge", "worker_queue_depth", "Tasks in the worker's own queues.");
    for index in workers.clone() {
        page.of_worker(index, "", scheduler.worker_queue_depth(index) as u64);
    }
    page.family("gauge", "worker_job_queue_depth", "Fork-join jobs in the worker's own queue.");
    for index in workers.clone() {
        page.of_worker(index, "", scheduler.worker_job_depth(index) as u64);
    }
    page.family("gauge", "worker_state", "1 for the state that the worker is in, 0 for others.");
    for index in workers {
        let state = scheduler.worker_state(index, scheduler.worker_seat(index));
        for each in STATES {
            let label = format!(",state=\"{}\"", state_name(each));
            page.of_worker(index, &label, u64::from(each == state));
        }
    }
}

/// What is being written.
struct Page {
    text: String,
    /// The name of the metric family.
    name: String,
    /// The label of the runtime.
    runtime: String,
}

impl Page {
    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family("gauge", name, help);
        self.sample("", "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family("counter", name, help);
        self.sample("", "", value);
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.family("histogram", name, help);
        let mut so_far = 0;
        for (bucket, count) in histogram.counts().into_iter().enumerate() {
            so_far += count;
            let limit = match limit_of(bucket) {
                Some(nanos) => (nanos as f64 / 1e9).to_string(),
                None => "+Inf".into(),
            };
            self.sample("_bucket", &format!(",le=\"{limit}\""), so_far);
        }
        self.sample("_sum", "", histogram.sum() as f64 / 1e9);
        self.sample("_count", "", so_far);
    }

    /// Begins a metric family.
    fn family(&mut self, kind: &str, name: &str, help: &str) {
        self.name = format!("heist_{name}");
        let name = &self.name;
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn of_worker(&mut self, index: usize, labels: &str, value: impl Display) {
        self.sample("", &format!(",worker=\"{index}\"{labels}"), value);
    }

    /// Writes one line with additional labels.
    fn sample(&mut self, suffix: &str, labels: &str, value: impl Display) {
        let Page { text, name, runtime } = self;
        let _ = writeln!(text, "{name}{suffix}{{runtime=\"{runtime}\"{labels}}} {value}");
    }
}

/// A duration in seconds, Prometheus' base unit.
fn seconds(duration: Duration) -> f64 {
    nanos(duration) as f64 / 1e9
}

/// Escapes the value of a label.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
