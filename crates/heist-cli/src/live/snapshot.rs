//! What a console says, as types. Times are nanoseconds, counts are since the runtime began.

use super::{Endpoint, LiveError};
use serde::Deserialize;

/// The version that is understood here.
const VERSION: u64 = 1;

pub(super) fn parse(endpoint: &Endpoint, text: &str) -> Result<Snapshot, LiveError> {
    #[derive(Deserialize)]
    struct Head {
        version: u64,
    }

    let strange = |why| LiveError::NotUnderstood { endpoint: endpoint.clone(), why };
    let parsed = serde_json::from_str::<Head>(text);
    let head = parsed.map_err(|error| strange(format!("it is no snapshot ({error})")))?;
    if head.version != VERSION {
        let found = head.version;
        return Err(strange(format!("it is of version {found}, and {VERSION} is known here")));
    }
    serde_json::from_str(text).map_err(|error| strange(error.to_string()))
}

/// All that a console tells at one moment.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Snapshot {
    /// The version of the format.
    pub version: u64,
    /// The id of the process.
    pub pid: u32,
    /// The program's name.
    pub program: String,
    /// The time since the runtime began.
    pub uptime_ns: u64,
    /// The numbers of the whole runtime.
    pub runtime: Runtime,
    /// Base workers first, then spare ones.
    pub workers: Vec<Worker>,
    /// The tasks that were requested.
    pub tasks: Vec<Task>,
    /// Tasks that the filter lets through, of which `tasks` has the first.
    pub tasks_matched: u64,
    /// Alive tasks that are watched one by one.
    pub tasks_tracked: u64,
    /// Alive tasks that are not, as there were too many.
    pub tasks_untracked: u64,
    /// Histograms of tracked tasks.
    pub histograms: Histograms,
    /// The newest last.
    pub recent_stalls: Vec<Stall>,
}

/// The numbers of the whole runtime.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[allow(missing_docs, reason = "as in heist::runtime::RuntimeMetrics")]
pub struct Runtime {
    pub id: u64,
    pub name: Option<String>,
    pub flavor: String,
    pub num_workers: usize,
    pub alive_tasks: u64,
    pub spawned: u64,
    pub inject_depth: u64,
    pub remote_schedules: u64,
    pub budget_yields: u64,
    pub spares: u64,
    pub spare_shortages: u64,
    pub blocking_threads: u64,
    pub idle_blocking_threads: u64,
    pub blocking_queue_depth: u64,
    pub stalls: u64,
    pub longest_stall_ns: u64,
    /// Whether a trace can be requested.
    pub is_recording: bool,
}

/// The numbers of one worker.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[allow(missing_docs, reason = "as in heist::runtime::RuntimeMetrics")]
pub struct Worker {
    pub worker: usize,
    pub is_spare: bool,
    pub seat: Option<usize>,
    pub state: WorkerState,
    pub polls: u64,
    pub mean_poll_ns: u64,
    pub busy_ns: u64,
    pub local_schedules: u64,
    pub lifo_hits: u64,
    pub injected: u64,
    pub overflows: u64,
    pub steals: u64,
    pub stolen_tasks: u64,
    pub failed_searches: u64,
    pub jobs: u64,
    pub stolen_jobs: u64,
    pub parks: u64,
    pub wakeups: u64,
    pub noops: u64,
    pub budget_yields: u64,
    pub seat_losses: u64,
    pub queue_depth: u64,
    pub job_queue_depth: u64,
    pub running: Option<RunningTask>,
}

/// What a worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It runs a task or a job.
    Busy,
    /// It looks for something to run.
    Idle,
    /// It sleeps, or has no thread.
    #[default]
    Parked,
    /// It is in the middle of something, without a seat.
    Blocked,
    /// A state that is not known here.
    #[serde(other)]
    Other,
}

/// The task that a worker runs.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct RunningTask {
    /// Its id.
    pub task: u64,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// `file:line:column`.
    pub spawned_at: String,
}

/// The numbers of one task.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Task {
    /// Unlike that of any other task of the process.
    pub id: u64,
    /// If it has one.
    pub name: Option<String>,
    /// `file:line:column`.
    pub spawned_at: String,
    /// What it does.
    pub state: TaskState,
    /// How often it was polled.
    pub polls: u64,
    /// How long its polls took, up to now.
    pub busy_ns: u64,
    /// The longest of them.
    pub longest_poll_ns: u64,
    /// The total time from wake-ups to the polls that followed.
    pub delay_ns: u64,
    /// The longest of them.
    pub longest_delay_ns: u64,
    /// How long ago it was woken last, or spawned if it never was.
    pub last_wake_ns: u64,
    /// How long ago it was spawned.
    pub age_ns: u64,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It is polled.
    Running,
    /// It could run.
    Queued,
    /// It waits to be woken.
    #[default]
    Waiting,
    /// A state that is not known here.
    #[serde(other)]
    Other,
}

/// How many took how long.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Histograms {
    /// Polls.
    pub poll_time: Vec<Bucket>,
    /// Times from a wake-up to the poll that followed.
    pub scheduling_delay: Vec<Bucket>,
}

/// Times from those of the bucket before up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct Bucket {
    /// The limit; none for the last bucket.
    pub le_ns: Option<u64>,
    /// How many, in this bucket alone.
    pub count: u64,
}

/// A task kept its worker for too long.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Stall {
    /// How long ago it was reported.
    pub ago_ns: u64,
    /// The report, for people.
    pub sentence: String,
    /// The task; `None` if it was no task.
    pub task: Option<u64>,
    /// The task's name, if it has one.
    pub name: Option<String>,
    /// Where the task was spawned.
    pub spawned_at: Option<String>,
    /// The worker.
    pub worker: usize,
    /// Its thread.
    pub thread: String,
    /// The duration so far, or in total.
    pub duration_ns: u64,
    /// Whether the worker has returned from the poll.
    pub is_over: bool,
    /// What kept the worker.
    pub cause: StallCause,
    /// The system call that blocked it, if known.
    pub system_call: Option<String>,
    /// Tasks that waited in the inject queue.
    pub waiting_injected: u64,
    /// Tasks that waited in the worker's own queues.
    pub waiting_queued: u64,
    /// Tasks that waited in the queues of others.
    pub waiting_elsewhere: u64,
    /// Whether a spare worker got its seat.
    pub lost_seat: bool,
}

/// What keeps a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StallCause {
    /// It waits.
    Blocked,
    /// It computes.
    Burning,
    /// Not known.
    #[default]
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the README of the console is what is parsed here.
    #[test]
    fn the_example_is_understood() {
        let readme = include_str!("../../../heist/src/console/README.md");
        let (_, rest) = readme.split_once("```json\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let endpoint = Endpoint::at_path("/none");
        let snapshot = parse(&endpoint, example).unwrap();
        assert_eq!((snapshot.pid, snapshot.tasks_untracked), (4242, 1));
        assert_eq!(snapshot.workers[0].state, WorkerState::Busy);
        assert_eq!(snapshot.tasks[1].state, TaskState::Waiting);
        assert_eq!(snapshot.histograms.poll_time[2].le_ns, None);
        assert_eq!(snapshot.recent_stalls[0].cause, StallCause::Burning);
    }

    #[test]
    fn other_versions_and_other_things_are_told() {
        let endpoint = Endpoint::at_path("/none");
        let why = |text: &str| parse(&endpoint, text).unwrap_err().to_string();
        assert!(why(r#"{"version":2}"#).contains("version 2, and 1 is known"));
        assert!(why("hello").contains("no snapshot"));
        assert!(why(r#"{"version":1}"#).contains("missing field"));
    }
}
