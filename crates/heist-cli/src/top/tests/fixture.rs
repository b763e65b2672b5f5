//! A program that never was, at any time of its life.

use std::time::Duration;

use crate::live::{
    Bucket, Histograms, RunningTask, Runtime, Snapshot, Stall, StallCause, Task, TaskState, Worker,
    WorkerState,
};
use crate::top::app::{App, Sort, Wish};

/// What `heist top` begins with.
pub fn wish() -> Wish {
    Wish {
        sort: Sort::Now,
        filter: String::new(),
        interval: Duration::from_secs(1),
        is_paused: false,
    }
}

/// Before anything has come.
pub fn empty() -> App {
    App::new("/run/heist/4242.sock".to_owned(), wish())
}

/// After two snapshots, a second apart.
pub fn app() -> App {
    let mut app = empty();
    app.receive(snapshot(121.0));
    app.receive(snapshot(122.0));
    app
}

/// The program's answer after this time.
pub fn snapshot(seconds: f64) -> Snapshot {
    let ns = (seconds * 1e9) as u64;
    let count = |per_second: f64| (seconds * per_second).round() as u64;
    Snapshot {
        version: 1,
        pid: 4242,
        program: "server".to_owned(),
        uptime_ns: ns,
        runtime: Runtime {
            id: 1,
            name: Some("main".to_owned()),
            num_workers: 4,
            alive_tasks: 1203,
            spawned: count(4000.0),
            inject_depth: 7,
            spares: 1,
            blocking_threads: 4,
            idle_blocking_threads: 1,
            blocking_queue_depth: 2,
            stalls: 2,
            longest_stall_ns: 180_000_000,
            ..Runtime::default()
        },
        workers: workers(&count),
        tasks: (0..12).map(|number| task(number, seconds)).collect(),
        tasks_matched: 1190,
        tasks_tracked: 1200,
        tasks_untracked: 3,
        histograms: Histograms {
            poll_time: histogram(4e6, 3, &count),
            scheduling_delay: histogram(4e5, 5, &count),
        },
        recent_stalls: vec![
            stall(17, Some("parser"), 0, 52, false),
            stall(17, Some("parser"), 0, 61, true),
            stall(20, None, 2, 180, false),
        ],
    }
}

fn workers(count: &impl Fn(f64) -> u64) -> Vec<Worker> {
    let running = |task, name: Option<&str>, place: &str| {
        let (name, spawned_at) = (name.map(str::to_owned), place.to_owned());
        Some(RunningTask { task, name, spawned_at })
    };
    let worker = |number: usize, state, busy: f64, polls, queue_depth, running| Worker {
        worker: number,
        is_spare: number == 4,
        seat: [Some(0), Some(1), None, Some(3), Some(2)][number],
        state,
        polls: count(polls),
        busy_ns: count(busy * 1e9),
        lifo_hits: count(polls / 10.0),
        steals: count(number as f64 * 20.0),
        stolen_tasks: count(number as f64 * 45.0),
        parks: count(200.0),
        queue_depth,
        running,
        ..Worker::default()
    };
    vec![
        worker(
            0,
            WorkerState::Busy,
            0.98,
            980_000.0,
            212,
            running(17, Some("parser"), "src/main.rs:40:9"),
        ),
        worker(1, WorkerState::Busy, 0.72, 183_000.0, 12, running(26, None, "src/session.rs:7:13")),
        worker(
            2,
            WorkerState::Blocked,
            0.25,
            3.0,
            0,
            running(20, None, "src/server/connection.rs:140:9"),
        ),
        worker(3, WorkerState::Parked, 0.0, 0.0, 0, None),
        worker(4, WorkerState::Idle, 0.031, 20.0, 0, None),
    ]
}

fn task(number: u64, seconds: f64) -> Task {
    let share = 0.6 / (number + 1) as f64;
    let names = [Some("parser"), None, Some("a session of a client with a very long name")];
    let places = ["src/main.rs:40:9", "src/server/connection.rs:140:9", "src/session.rs:7:13"];
    let states = [TaskState::Running, TaskState::Queued, TaskState::Waiting];
    let kind = number as usize % 3;
    Task {
        id: 17 + 3 * number,
        name: names[kind].map(str::to_owned),
        spawned_at: places[kind].to_owned(),
        state: states[kind],
        polls: (seconds * 1000.0 * (number + 1) as f64) as u64,
        busy_ns: (seconds * share * 1e9) as u64,
        longest_poll_ns: 61_000_000 >> number,
        delay_ns: (seconds * 1e6 * (number * 7 % 12 + 1) as f64) as u64,
        longest_delay_ns: 9_000_000 >> number,
        last_wake_ns: 1_500 << number,
        age_ns: ((seconds - number as f64) * 1e9) as u64,
    }
}

fn histogram(most: f64, peak: i32, count: &impl Fn(f64) -> u64) -> Vec<Bucket> {
    let bucket = |place: i32| Bucket {
        le_ns: (place < 20).then_some(1024 << place),
        count: count(most / 100.0 / 2f64.powi((place - peak).abs())),
    };
    (0..=20).map(bucket).collect()
}

fn stall(task: u64, name: Option<&str>, worker: usize, ms: u64, is_over: bool) -> Stall {
    let place = if name.is_some() { "src/main.rs:40:9" } else { "src/server/connection.rs:140:9" };
    let system_call = (!is_over && name.is_none()).then(|| "read".to_owned());
    Stall {
        ago_ns: 3_000_000_000,
        sentence: format!(
            "task {task} (spawned at {place}) kept worker {worker} (thread heist-worker) for {ms} ms; \
             3 tasks waited in its queues"
        ),
        task: Some(task),
        name: name.map(str::to_owned),
        spawned_at: Some(place.to_owned()),
        worker,
        duration_ns: ms * 1_000_000,
        is_over,
        cause: if system_call.is_some() { StallCause::Blocked } else { StallCause::Burning },
        system_call,
        ..Stall::default()
    }
}
