//! A plain table in place of a live view: for scripts, and where there is no terminal.

use std::error::Error;
use std::fmt::Write;
use std::io::{self, Write as _};
use std::thread;

use super::app::{App, Wish};
use super::query;
use super::rates::{Picture, Quantile, Which, Window};
use super::units::{count, grouped, percent, time};
use super::words::{cause, clean, task_state, worker_state};
use crate::live::{Endpoint, Worker};
use crate::style::unless_nobody_reads;

/// Reads twice, for rates, and prints what it has found.
pub fn print(endpoint: &Endpoint, wish: Wish, tasks: usize) -> Result<(), Box<dyn Error>> {
    let query = query(&wish, tasks.max(1));
    let interval = wish.interval;
    let mut app = App::new(endpoint.to_string(), wish);
    app.receive(endpoint.snapshot(&query)?);
    thread::sleep(interval);
    app.receive(endpoint.snapshot(&query)?);
    unless_nobody_reads(io::stdout().write_all(text(&app, tasks).as_bytes()))?;
    Ok(())
}

/// All of it.
pub fn text(app: &App, tasks: usize) -> String {
    let Some(picture) = &app.picture else { return String::new() };
    let mut out = summary(picture);
    out.push('\n');
    out.push_str(&workers(picture));
    out.push('\n');
    out.push_str(&task_table(app, tasks));
    out.push('\n');
    for (which, name) in [(Which::PollTime, "poll time"), (Which::Delay, "delay")] {
        writeln!(out, "{name:<9}  {}", quantiles(picture, which)).expect(STRING);
    }
    let stalls = picture.stalls();
    if !stalls.is_empty() {
        out.push('\n');
    }
    for stall in stalls {
        let ago = if stall.is_over { time(stall.ago_ns) + " ago" } else { "now".to_owned() };
        let (cause, sentence) = (cause(stall), clean(&stall.sentence));
        writeln!(out, "stall {ago}, {cause}: {sentence}").expect(STRING);
    }
    out
}

const STRING: &str = "a String takes everything";

fn summary(picture: &Picture) -> String {
    let (now, runtime) = (&picture.now, &picture.now.runtime);
    let totals = picture.totals().unwrap_or_default();
    let busy_blocking = runtime.blocking_threads.saturating_sub(runtime.idle_blocking_threads);
    format!(
        "{}, pid {}, up {}, {} workers, {} busy\n\
         tasks {}, spawns {}/s, polls {}/s, steals {}/s, injected {}, stalls {}, \
         blocking threads {busy_blocking} of {} busy, {} waiting, spares {}\n",
        clean(&now.program),
        now.pid,
        time(now.uptime_ns),
        runtime.num_workers,
        percent(totals.busy),
        grouped(runtime.alive_tasks),
        count(totals.spawned),
        count(totals.polls),
        count(totals.steals),
        runtime.inject_depth,
        runtime.stalls,
        runtime.blocking_threads,
        runtime.blocking_queue_depth,
        runtime.spares,
    )
}

fn workers(picture: &Picture) -> String {
    let head =
        ["worker", "seat", "state", "busy", "polls/s", "steals/s", "stolen/s", "queue", "runs"];
    let row = |worker: &Worker| {
        let rates = picture.worker(worker).unwrap_or_default();
        let spare = if worker.is_spare { "+" } else { "" };
        let runs = match &worker.running {
            Some(it) => it.name.clone().unwrap_or_else(|| format!("task {}", it.task)),
            None => "-".to_owned(),
        };
        vec![
            format!("{spare}{}", worker.worker),
            worker.seat.map_or_else(|| "-".to_owned(), |seat| seat.to_string()),
            worker_state(worker.state).to_owned(),
            percent(rates.busy),
            count(rates.polls),
            count(rates.steals),
            count(rates.stolen_tasks),
            (worker.queue_depth + worker.job_queue_depth).to_string(),
            runs,
        ]
    };
    table(&head, picture.now.workers.iter().map(row).collect())
}

fn task_table(app: &App, tasks: usize) -> String {
    let head = [
        "task",
        "state",
        "now",
        "busy",
        "polls",
        "polls/s",
        "longest",
        "delay",
        "age",
        "name",
        "spawned at",
    ];
    let row = |(task, rates): super::app::Row<'_>| {
        let unknown = || "-".to_owned();
        vec![
            task.id.to_string(),
            task_state(task.state).to_owned(),
            rates.map_or_else(unknown, |it| percent(it.busy)),
            time(task.busy_ns),
            task.polls.to_string(),
            rates.map_or_else(unknown, |it| count(it.polls)),
            time(task.longest_poll_ns),
            time(task.delay_ns),
            time(task.age_ns),
            task.name.clone().unwrap_or_else(unknown),
            task.spawned_at.clone(),
        ]
    };
    table(&head, app.tasks().into_iter().take(tasks).map(row).collect())
}

fn quantiles(picture: &Picture, which: Which) -> String {
    let buckets = picture.histogram(which, Window::All);
    let part =
        |(name, share): (&str, f64)| Some(format!("{name} {}", Quantile::of(&buckets, share)?));
    let parts: Vec<_> = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)]
        .into_iter()
        .filter_map(part)
        .collect();
    if parts.is_empty() { "nothing yet".to_owned() } else { parts.join("  ") }
}

/// Columns as wide as their content, two spaces between them.
fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let head: Vec<String> = head.iter().map(|&title| title.to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head)
        .chain(rows)
        .map(|row| row.iter().map(|it| clean(it)).collect())
        .collect();
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end()).expect(STRING);
    }
    out
}
