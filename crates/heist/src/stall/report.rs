//! The report about one stall.

use crate::env::{Activity, Probe, SystemCall};
use crate::task::{self, Id};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// A report that a task has kept its worker for longer than
/// [`Builder::stall_threshold`](crate::runtime::Builder::stall_threshold) while others waited to
/// run.
///
/// [`Builder::on_stall`](crate::runtime::Builder::on_stall) receives it. `Display` gives one
/// sentence for a log:
///
/// ```text
/// task "reader" (spawned at src/main.rs:10:5) has kept worker 1 (thread heist-worker) for 12 ms, blocked in futex; 3 tasks waited in its queues, 2 in the inject queue
/// ```
///
/// # Examples
///
/// ```
/// use heist::runtime::{Builder, StallCause};
///
/// let rt = Builder::new_multi_thread()
///     .on_stall(|stall| {
///         eprintln!("{stall}");
///         if stall.cause() == StallCause::Burning && stall.duration().as_secs() >= 1 {
///             eprintln!("split the work of the task spawned at {:?}", stall.spawned_at());
///         }
///     })
///     .build()
///     .unwrap();
/// assert_eq!(rt.metrics().stall_count(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct StallReport {
    /// `None` if the worker is stuck in something else than a task.
    pub(crate) task: Option<StuckTask>,
    pub(crate) worker: usize,
    pub(crate) thread_name: Arc<str>,
    pub(crate) duration: Duration,
    pub(crate) is_over: bool,
    pub(crate) cause: StallCause,
    pub(crate) waiting: Waiting,
    pub(crate) lost_seat: bool,
}

/// Which task it is. These are copies, because the task may end and be freed at any time.
#[derive(Debug, Clone)]
pub(crate) struct StuckTask {
    id: Id,
    name: Option<Arc<str>>,
    spawned_at: &'static Location<'static>,
}

impl StuckTask {
    /// Looks up the task's name, which is known if the task has one and has not been freed.
    pub(crate) fn new(id: Id, spawned_at: &'static Location<'static>) -> Self {
        StuckTask { id, name: task::name_of(id), spawned_at }
    }
}

impl StallReport {
    /// Returns the id of the task, or `None` if the worker is stuck in something else, such as a
    /// callback of the builder.
    pub fn task_id(&self) -> Option<Id> {
        self.task.as_ref().map(|task| task.id)
    }

    /// Returns the name of the task, if it was spawned with one; see [`task::Builder`].
    pub fn task_name(&self) -> Option<&str> {
        self.task.as_ref()?.name.as_deref()
    }

    /// Returns where the task was spawned.
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.task.as_ref().map(|task| task.spawned_at)
    }

    /// Returns the index of the stuck worker, as in
    /// [`RuntimeMetrics`](crate::runtime::RuntimeMetrics).
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Returns the name of the worker's thread.
    pub fn thread_name(&self) -> &str {
        &self.thread_name
    }

    /// Returns how long the worker has been in this poll: so far, or in total if it [is
    /// over](Self::is_over).
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Returns whether the worker has returned from the poll.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns what keeps the worker.
    pub fn cause(&self) -> StallCause {
        self.cause
    }

    /// Returns how many tasks waited to run meanwhile.
    pub fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// Returns whether the worker has lost its seat to a spare worker, which runs the tasks that
    /// wait.
    ///
    /// There may be no spare worker to take it; see
    /// [`spare_shortage_count`](crate::runtime::RuntimeMetrics::spare_shortage_count).
    pub fn lost_seat(&self) -> bool {
        self.lost_seat
    }
}

/// What keeps a worker in one poll.
///
/// # Examples
///
/// ```
/// use heist::runtime::{StallCause, StallReport};
///
/// fn advice(report: &StallReport) -> &'static str {
///     match report.cause() {
///         StallCause::Blocked { .. } => "use spawn_blocking",
///         StallCause::Burning => "use join or yield_now",
///         _ => "look at the trace",
///     }
/// }
/// # let _ = advice;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StallCause {
    /// It waits for something and does not use its core.
    Blocked {
        /// The system call in which it waits, if known.
        system_call: Option<SystemCall>,
    },
    /// It computes.
    Burning,
    /// The system does not tell. On Linux this requires `/proc`; other systems are not supported.
    Unknown,
}

impl StallCause {
    /// The cause that corresponds to the activity of `thread`.
    pub(crate) fn of(activity: Activity, thread: &Probe) -> Self {
        match activity {
            Activity::Blocked => StallCause::Blocked { system_call: thread.system_call() },
            Activity::Burning => StallCause::Burning,
            Activity::Unknown => StallCause::Unknown,
        }
    }
}

/// The number of tasks that waited to run while a worker was stuck.
///
/// # Examples
///
/// ```
/// use heist::runtime::StallReport;
///
/// fn total(report: &StallReport) -> usize {
///     let waiting = report.waiting();
///     waiting.injected + waiting.queued + waiting.elsewhere
/// }
/// # let _ = total;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Waiting {
    /// Tasks in the inject queue.
    pub injected: usize,
    /// Tasks in the queues of the stuck worker.
    pub queued: usize,
    /// Tasks in the queues of other workers.
    pub elsewhere: usize,
}

/// Formats the report as one sentence on one line.
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

/// Formats the cause as in the sentence of a [`StallReport`].
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

/// Formats the numbers as in the sentence of a [`StallReport`], without those that are 0.
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

/// A duration in a unit that suits its size.
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
