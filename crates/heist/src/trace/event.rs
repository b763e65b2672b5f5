//! Events, as a reader gets them.

use std::fmt;
use std::time::Duration;

/// An event of a trace.
///
/// # Examples
///
/// ```
/// use heist::trace::{Config, Event, Trace};
///
/// let rt = heist::runtime::Builder::new_multi_thread().trace(Config::new()).build()?;
/// rt.block_on(rt.spawn(async {}))?;
/// let mut bytes = Vec::new();
/// rt.handle().dump_trace_to(&mut bytes)?;
/// let trace = Trace::from_bytes(bytes)?;
/// let events: Result<Vec<Event>, _> = trace.events()?.collect();
/// let times: Vec<_> = events?.into_iter().map(|event| event.at).collect();
/// assert!(times.is_sorted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The time since the recorder started. It never decreases within a lane.
    pub at: Duration,
    /// Whether the clock was read for this event. Otherwise the event happened between the exact
    /// events before and after it in its lane, and `at` is interpolated.
    pub is_exact: bool,
    /// The worker or thread that caused the event.
    pub lane: Lane,
    /// What happened.
    pub kind: EventKind,
}

/// The origin of an event: a worker, or the threads outside.
///
/// # Examples
///
/// ```
/// use heist::trace::Lane;
///
/// let mut lanes = [Lane::Outside, Lane::Worker(1), Lane::Worker(0)];
/// lanes.sort();
/// assert_eq!(lanes, [Lane::Worker(0), Lane::Worker(1), Lane::Outside]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// A worker or spare, with an index as in [`RuntimeMetrics`](crate::runtime::RuntimeMetrics).
    Worker(u16),
    /// A thread that is not a worker of this runtime.
    Outside,
}

/// A task, by the number of its [`Id`](crate::task::Id).
///
/// # Examples
///
/// ```
/// use heist::trace::TaskId;
///
/// assert_eq!(TaskId(7).to_string(), "7");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u64);

/// A text of the trace, such as a source location or a name; see
/// [`Trace::text`](super::Trace::text).
///
/// # Examples
///
/// ```
/// use heist::trace::{Header, Trace, Writer};
///
/// let header = Header {
///     started: std::time::SystemTime::now(),
///     program: "example".to_owned(),
///     pid: 1,
///     workers: 1,
///     seats: 1,
/// };
/// let mut writer = Writer::new(Vec::new(), &header)?;
/// let id = writer.string("src/main.rs:3:5")?;
/// assert_eq!(writer.string("src/main.rs:3:5")?, id);
/// let trace = Trace::from_bytes(writer.finish()?)?;
/// assert_eq!(trace.text(id), "src/main.rs:3:5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringId(pub u32);

/// The kind of an event, with its details.
///
/// # Examples
///
/// ```
/// use heist::trace::EventKind;
///
/// /// Whether a worker begins to run something.
/// fn begins_to_run(kind: &EventKind) -> bool {
///     matches!(kind, EventKind::PollStart { .. } | EventKind::JobStart { .. })
/// }
/// assert!(begins_to_run(&EventKind::JobStart { is_stolen: true }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A task was spawned.
    Spawn {
        /// The new task.
        task: TaskId,
    },
    /// Where a task was spawned. This follows the spawn, and is repeated from time to time, because
    /// the oldest events are overwritten.
    SpawnedAt {
        /// The task.
        task: TaskId,
        /// `file:line:column`.
        location: StringId,
    },
    /// A poll begins.
    PollStart {
        /// The task.
        task: TaskId,
        /// Where the worker got it.
        source: PollSource,
    },
    /// The poll has ended.
    PollEnd {
        /// The task.
        task: TaskId,
        /// Its result.
        outcome: Outcome,
    },
    /// A waiting task was woken.
    Wake {
        /// The task that was woken.
        task: TaskId,
    },
    /// Tasks were stolen.
    Steal {
        /// The worker that lost them.
        victim: u16,
        /// The number of tasks.
        tasks: u32,
    },
    /// Tasks were taken from the inject queue.
    InjectBatch {
        /// The number of tasks.
        tasks: u32,
    },
    /// The worker's queue was full, and tasks were moved to the inject queue.
    Overflow {
        /// The number of tasks.
        tasks: u32,
    },
    /// A search that found nothing.
    SearchFailed,
    /// The worker goes to sleep.
    Park,
    /// The worker wakes up.
    Unpark {
        /// No other thread woke it, but a timer, an I/O event or a timeout.
        by_itself: bool,
    },
    /// A sleeping worker was woken.
    WakeWorker {
        /// The worker that was woken.
        worker: u16,
    },
    /// Sysmon has taken the seat of a stuck worker.
    SeatRobbed {
        /// The seat.
        seat: u16,
        /// The worker that lost it.
        from: u16,
    },
    /// The lane's worker takes a seat.
    SeatTaken {
        /// The seat.
        seat: u16,
    },
    /// The lane's worker leaves its seat to another worker.
    SeatLeft {
        /// The seat.
        seat: u16,
    },
    /// A worker was found stuck.
    Stall {
        /// The stuck worker.
        worker: u16,
        /// The task in which it is stuck, or 0 for none.
        task: TaskId,
        /// What keeps it.
        kind: StallKind,
    },
    /// There was no spare worker for a seat.
    SpareShortage,
    /// A poll was cut short because its budget was used up.
    BudgetExhausted {
        /// The task.
        task: TaskId,
        /// The operation that found no budget left.
        resource: Resource,
    },
    /// A fork-join job begins.
    JobStart {
        /// Whether it was taken from another worker, or from outside.
        is_stolen: bool,
    },
    /// The job has ended.
    JobEnd,
    /// Timers have fired.
    TimersFired {
        /// The number of timers.
        timers: u32,
    },
    /// The CPU time of the worker's thread, recorded from time to time. It distinguishes a worker
    /// that computes from one that waits for a core. A worker may change its thread.
    CpuTime {
        /// The CPU time since the thread started.
        nanos: u64,
    },
    /// The poller returned I/O events.
    IoHarvest {
        /// The number of events, at least one.
        events: u32,
    },
    /// A task was spawned that no worker runs.
    OffWorkerSpawn {
        /// The new task.
        task: TaskId,
        /// What runs it instead.
        by: OffWorker,
    },
    /// A task that no worker runs starts, on any thread; one lane may contain several of them.
    OffWorkerStart {
        /// The task.
        task: TaskId,
    },
    /// A task that no worker runs has run.
    OffWorkerEnd {
        /// The task.
        task: TaskId,
        /// Its result.
        outcome: Outcome,
    },
    /// The trace was written: the last event.
    Dumped,
    /// The worker repeatedly woke up, found nothing and slept again, and did nothing else. This
    /// event replaces as many `Unpark`, `SearchFailed` and `Park` events, and its time is that of
    /// the first `Unpark`. The lane's next event follows after `nanos` at the earliest; until then
    /// the worker sleeps again.
    ///
    /// A spare worker does not sleep: it takes a seat, searches and leaves again. Then this stands
    /// for `SeatTaken`, `SearchFailed` and `SeatLeft`.
    IdleRounds {
        /// The number of rounds, at least one.
        rounds: u32,
        /// The number of rounds in which a search failed.
        searches: u32,
        /// The seat that a spare worker took each time; `None` if the worker slept on its own.
        seat: Option<u16>,
        /// The time from the start of the first round to the end of the last.
        nanos: u64,
        /// The part of that time in which the worker was awake.
        awake_nanos: u64,
    },
}

/// What runs a task that no worker runs.
///
/// # Examples
///
/// ```
/// use heist::trace::OffWorker;
///
/// /// What a report calls it.
/// fn name(by: OffWorker) -> &'static str {
///     match by {
///         OffWorker::Closure => "blocking closure",
///         OffWorker::LocalSet => "local task",
///         _ => "other",
///     }
/// }
/// assert_eq!(name(OffWorker::Closure), "blocking closure");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum OffWorker {
    /// A blocking thread.
    Closure,
    /// The task or thread that polls its [`LocalSet`](crate::task::LocalSet).
    LocalSet,
}

/// Where a worker got a task.
///
/// # Examples
///
/// ```
/// use heist::trace::PollSource;
///
/// /// Whether the worker had the task in a queue of its own.
/// fn is_own(source: PollSource) -> bool {
///     matches!(source, PollSource::LifoSlot | PollSource::Ring | PollSource::Pinned)
/// }
/// assert!(is_own(PollSource::Ring) && !is_own(PollSource::Stolen));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PollSource {
    /// Its LIFO slot.
    LifoSlot,
    /// Its own queue.
    Ring,
    /// The inject queue.
    Inject,
    /// Another worker.
    Stolen,
    /// Its queue of pinned tasks.
    Pinned,
}

/// The result of a poll.
///
/// # Examples
///
/// ```
/// use heist::trace::{EventKind, Outcome};
///
/// /// Whether a task ends with this event.
/// fn ends_task(kind: EventKind) -> bool {
///     matches!(kind, EventKind::PollEnd { outcome: Outcome::Done, .. })
/// }
/// assert!(!ends_task(EventKind::JobStart { is_stolen: false }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The task has ended.
    Done,
    /// The task waits.
    Waits,
    /// The task was woken while it ran, and will run again.
    Again,
}

/// The kind of operation for which a poll had no budget left.
///
/// The operations that used up the budget are usually of the same kind, because the task is in a
/// loop.
///
/// # Examples
///
/// ```
/// use heist::trace::Resource;
///
/// assert_eq!(Resource::default(), Resource::Other);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Resource {
    /// Any other operation, or the trace does not tell.
    #[default]
    Other,
    /// A timer.
    Timer,
    /// An [`Interval`](crate::time::Interval) that catches up on missed ticks
    /// ([`MissedTickBehavior::Burst`](crate::time::MissedTickBehavior::Burst)).
    LateInterval,
    /// A socket, a pipe or another file descriptor.
    Io,
    /// The output of a task: a [`JoinHandle`](crate::task::JoinHandle) or a
    /// [`JoinSet`](crate::task::JoinSet).
    Task,
}

/// What keeps a stuck worker.
///
/// # Examples
///
/// ```
/// use heist::trace::StallKind;
///
/// /// What a report advises.
/// fn advice(kind: StallKind) -> &'static str {
///     match kind {
///         StallKind::Burning => "spawn a job",
///         StallKind::Blocked(_) | StallKind::Waiting => "call spawn_blocking",
///         _ => "look at the task",
///     }
/// }
/// assert_eq!(advice(StallKind::Burning), "spawn a job");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StallKind {
    /// It uses CPU time.
    Burning,
    /// It waits in the system call with this name.
    Blocked(StringId),
    /// It waits in an unknown system call.
    Waiting,
    /// Not known.
    Unknown,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lane::Worker(number) => write!(f, "worker {number}"),
            Lane::Outside => f.write_str("outside"),
        }
    }
}
