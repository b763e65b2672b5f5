//! What is known about one stall.

use crate::env::{Activity, Probe, SystemCall};
use crate::task::{self, Id};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// A task has kept its worker for longer than
/// [`Builder::stall_threshold`](crate::runtime::Builder::stall_threshold), while others waited to
/// be run. What [`Builder::on_stall`](crate::runtime::Builder::on_stall) is given.
///
/// Its `Display` is one sentence, for a log:
///
/// ```text
/// task "reader" (spawned at src/main.rs:10:5) has kept worker 1 (thread heist-worker) for 12 ms, blocked in futex; 3 tasks waited in its queues, 2 in the inject queue
/// ```
///
/// ```
/// use heist::runtime::{Builder, StallCause};
///
/// let mut builder = Builder::new_multi_thread();
/// builder.worker_threads(2).on_stall(|stall| {
///     eprintln!("{stall}");
///     if stall.cause() == StallCause::Burning && stall.duration().as_secs() >= 1 {
///         eprintln!("split the work of the task that is spawned at {:?}", stall.spawned_at());
///     }
/// });
/// let runtime = builder.build().unwrap();
/// # drop(runtime);
/// ```
#[derive(Debug, Clone)]
pub struct StallReport {
    /// `None` if what the worker is stuck in is no task.
    pub(crate) task: Option<StuckTask>,
    pub(crate) worker: usize,
    pub(crate) thread_name: Arc<str>,
    pub(crate) duration: Duration,
    pub(crate) is_over: bool,
    pub(crate) cause: StallCause,
    pub(crate) waiting: Waiting,
    pub(crate) lost_seat: bool,
}

/// Which task it is. Copies: the task itself may end, and be freed, at any time.
#[derive(Debug, Clone)]
pub(crate) struct StuckTask {
    id: Id,
    name: Option<Arc<str>>,
    spawned_at: &'static Location<'static>,
}

impl StuckTask {
    /// With its name, if it has one and has not been freed.
    pub(crate) fn new(id: Id, spawned_at: &'static Location<'static>) -> Self {
        StuckTask { id, name: task::name_of(id), spawned_at }
    }
}

impl StallReport {
    /// The task's id; `None` if the worker is stuck in something else, a callback of the builder
    /// for instance.
    pub fn task_id(&self) -> Option<Id> {
        self.task.as_ref().map(|task| task.id)
    }

    /// The task's name, if it was spawned with one; see [`task::Builder`].
    pub fn task_name(&self) -> Option<&str> {
        self.task.as_ref()?.name.as_deref()
    }

    /// Where the task was spawned.
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.task.as_ref().map(|task| task.spawned_at)
    }

    /// The worker that is stuck: a number as in
    /// [`RuntimeMetrics`](crate::runtime::RuntimeMetrics).
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// The name of the worker's thread.
    pub fn thread_name(&self) -> &str {
        &self.thread_name
    }

    /// For how long the worker has been in this poll: so far, or in all if it
    /// [is over](Self::is_over).
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Whether the worker has come back.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// What keeps the worker.
    pub fn cause(&self) -> StallCause {
        self.cause
    }

    /// How many tasks waited to be run meanwhile.
    pub fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// Whether the worker's seat was taken from it, for a spare worker that runs what waits, if one
    /// can be had ([`spare_shortage_count`](crate::runtime::RuntimeMetrics::spare_shortage_count)).
    pub fn lost_seat(&self) -> bool {
        self.lost_seat
    }
}

/// What keeps a worker in one poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StallCause {
    /// It waits for something, and leaves its core to others.
    Blocked {
        /// The system call that it waits in, where that is known.
        system_call: Option<SystemCall>,
    },
    /// It computes.
    Burning,
    /// The system does not tell. Only Linux does, with `/proc` in place.
    Unknown,
}

impl StallCause {
    /// For a thread that was found to be doing this.
    pub(crate) fn of(activity: Activity, thread: &Probe) -> Self {
        match activity {
            Activity::Blocked => StallCause::Blocked { system_call: thread.system_call() },
            Activity::Burning => StallCause::Burning,
            Activity::Unknown => StallCause::Unknown,
        }
    }
}

/// How many tasks waited to be run while a worker was stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Waiting {
    /// In the inject queue.
    pub injected: usize,
    /// In the queues of the worker that is stuck.
    pub queued: usize,
    /// In the queues of other workers.
    pub elsewhere: usize,
}

/// One sentence, on one line.
impl fmt::Display for StallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.task {
            None => f.write_str("something that is no task")?,
            Some(StuckTask { name: Some(name), spawned_at, .. }) => {
                write!(f, "task {name:?} (spawned at {spawned_at})")?;
            }
            Some(StuckTask { name: None, id, spawned_at }) => {
                write!(f, "task {id} (spawned at {spawned_at})")?;
            }
        }
        write!(
            f,
            " {} worker {} (thread {}) for {}, {}; {}",
            if self.is_over { "kept" } else { "has kept" },
            self.worker,
            self.thread_name.escape_debug(),
            Rounded(self.duration),
            self.cause,
            self.waiting
        )?;
        match (self.lost_seat, self.is_over) {
            (false, _) => Ok(()),
            (true, false) => f.write_str("; its seat is free for a spare worker"),
            (true, true) => f.write_str("; its seat was free for a spare worker"),
        }
    }
}

/// As it stands in the sentence of a [`StallReport`].
impl fmt::Display for StallCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StallCause::Blocked { system_call: Some(call) } => write!(f, "blocked in {call}"),
            StallCause::Blocked { system_call: None } => f.write_str("blocked"),
            StallCause::Burning => f.write_str("burning CPU"),
            StallCause::Unknown => f.write_str("for an unknown reason"),
        }
    }
}

/// As it stands in the sentence of a [`StallReport`]: what is 0 is left out.
impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = [
            (self.queued, "in its queues"),
            (self.injected, "in the inject queue"),
            (self.elsewhere, "in the queues of other workers"),
        ];
        let mut places = places.into_iter().filter(|(count, _)| *count > 0);
        match places.next() {
            None => return f.write_str("no task waited"),
            Some((1, place)) => write!(f, "1 task waited {place}")?,
            Some((count, place)) => write!(f, "{count} tasks waited {place}")?,
        }
        places.try_for_each(|(count, place)| write!(f, ", {count} {place}"))
    }
}

/// A duration as people say it.
struct Rounded(Duration);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            short if short < Duration::from_millis(1) => write!(f, "{} µs", short.as_micros()),
            long if long >= Duration::from_secs(10) => write!(f, "{} s", long.as_secs()),
            other => write!(f, "{} ms", other.as_millis()),
        }
    }
}

#[cfg(all(test, not(loom)))]
pub(super) mod tests;
