//! What is recorded, in the words that a reader gets.

use std::fmt;
use std::time::Duration;

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, since the recorder began. Within a lane it never goes back.
    pub at: Duration,
    /// Whether the clock was read for this event. If not, it happened between the exact events of
    /// its lane before and after it, and `at` is a guess between those.
    pub is_exact: bool,
    /// Who did it.
    pub lane: Lane,
    /// What it was.
    pub kind: EventKind,
}

/// Who did what an event tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// A worker, spares included: numbers as in [`RuntimeMetrics`](crate::runtime::RuntimeMetrics).
    Worker(u16),
    /// A thread that is no worker of this runtime.
    Outside,
}

/// A task, by the number of its [`Id`](crate::task::Id).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u64);

/// A text of the trace: a source line, a name. The reader knows them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringId(pub u32);

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A task was spawned.
    Spawn {
        /// The new task.
        task: TaskId,
    },
    /// Where a task was spawned: beside its spawn, and again now and then, since the oldest events
    /// are overwritten.
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
        /// Where the worker had it from.
        source: PollSource,
    },
    /// The poll has ended.
    PollEnd {
        /// The task.
        task: TaskId,
        /// What became of it.
        outcome: Outcome,
    },
    /// A task that waited was woken.
    Wake {
        /// The task that was woken.
        task: TaskId,
    },
    /// Tasks were stolen.
    Steal {
        /// The worker that lost them.
        victim: u16,
        /// How many.
        tasks: u32,
    },
    /// Tasks were taken from the inject queue.
    InjectBatch {
        /// How many.
        tasks: u32,
    },
    /// The worker's ring was full: tasks went to the inject queue.
    Overflow {
        /// How many.
        tasks: u32,
    },
    /// A search that found nothing.
    SearchFailed,
    /// The worker goes to sleep.
    Park,
    /// It has slept.
    Unpark {
        /// Nobody woke it: a timer, an I/O event or the end of its nap did.
        by_itself: bool,
    },
    /// A sleeping worker was woken.
    WakeWorker {
        /// Which.
        worker: u16,
    },
    /// A seat was taken from a worker that is stuck.
    SeatLent {
        /// The seat.
        seat: u16,
        /// The worker that lost it.
        from: u16,
    },
    /// The lane's worker sits down on a seat.
    SeatTaken {
        /// The seat.
        seat: u16,
    },
    /// The lane's worker leaves its seat to another.
    SeatLeft {
        /// The seat.
        seat: u16,
    },
    /// A worker was found stuck.
    Stall {
        /// Which.
        worker: u16,
        /// In which task; 0 if in none.
        task: TaskId,
        /// What keeps it.
        kind: StallKind,
    },
    /// There was no spare worker for a seat.
    SpareShortage,
    /// A poll was cut short for want of budget.
    BudgetExhausted {
        /// The task.
        task: TaskId,
        /// The operation that found no budget left.
        resource: Resource,
    },
    /// A fork-join job begins.
    JobStart {
        /// Taken from another worker, or from outside.
        is_stolen: bool,
    },
    /// The job has ended.
    JobEnd,
    /// Timers have fired.
    TimersFired {
        /// How many.
        timers: u32,
    },
    /// How much CPU time the worker's thread has used so far: now and then, so that a worker that
    /// works can be told from one that waits for a core. A worker may change its thread.
    CpuTime {
        /// Since the thread began.
        nanos: u64,
    },
    /// The poller was asked for events.
    IoHarvest {
        /// How many there were; harvests without events are not recorded.
        events: u32,
    },
    /// A task was spawned that no worker runs.
    SpawnAside {
        /// The new task.
        task: TaskId,
        /// Who does.
        aside: Aside,
    },
    /// It begins to run, on whatever thread: events of several may stand in one lane.
    AsideStart {
        /// The task.
        task: TaskId,
    },
    /// It has run.
    AsideEnd {
        /// The task.
        task: TaskId,
        /// What became of it.
        outcome: Outcome,
    },
    /// The record was copied: the last event of a trace.
    Dumped,
    /// Rounds without work: again and again the worker was woken, searched, found nothing and slept
    /// again, and did nothing else. This event stands for that many `Unpark`, `SearchFailed` and
    /// `Park`, and its time is that of the first `Unpark`. The lane's next event follows after
    /// `nanos` at the earliest; until then the worker sleeps again.
    ///
    /// A spare worker does not sleep: it takes a seat, searches and leaves again. Then this stands
    /// for `SeatTaken`, `SearchFailed` and `SeatLeft`.
    IdleRounds {
        /// How many; at least one.
        rounds: u32,
        /// In how many of them a search has failed.
        searches: u32,
        /// The seat that a spare worker took each time; `None` if the worker slept on its own.
        seat: Option<u16>,
        /// From the beginning of the first to the end of the last.
        nanos: u64,
        /// How much of that the worker was awake.
        awake_nanos: u64,
    },
}

/// Who runs a task that no worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Aside {
    /// A thread for closures that may block.
    Closure,
    /// Who awaits its [`LocalSet`](crate::task::LocalSet).
    LocalSet,
}

/// Where a worker had a task from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PollSource {
    /// Its LIFO slot.
    LifoSlot,
    /// Its own ring.
    Ring,
    /// The inject queue.
    Inject,
    /// Another worker.
    Stolen,
    /// Tasks that are pinned to it.
    Pinned,
}

/// What became of a task that was polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It has ended.
    Done,
    /// It waits.
    Waits,
    /// It was woken while it ran, and is to run again.
    Again,
}

/// The kind of operation for which a poll had no budget left. The operations that used up the
/// budget are usually of the same kind, since the task is in a loop.
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
    /// The end of a task: a [`JoinHandle`](crate::task::JoinHandle) or a
    /// [`JoinSet`](crate::task::JoinSet).
    Task,
}

/// What keeps a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StallKind {
    /// It uses CPU time.
    Burning,
    /// It waits in the system call of this name.
    Blocked(StringId),
    /// It waits; for what is not known.
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
