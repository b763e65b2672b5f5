//! Events in eight bytes, as in the recorder's buffers and in files.
//!
//! The six lowest bits are the tag, which determines the meaning of the rest; `FORMAT.md` has the
//! table. A reader may start at any word. An event of two words has a tag for each, so that a
//! second word without its first can be recognized.
//!
//! Times are separate words, because most events have none. [`Word::time`] is the exact time of the
//! next event. [`Word::mark`] is the time at its position. Events between two of these happened
//! between them.

use super::event::{
    EventKind, OffWorker, Outcome, PollSource, Resource, StallKind, StringId, TaskId,
};

const TAG_BITS: u32 = 6;
const TASK_BITS: u32 = 52;
const SOURCE_SHIFT: u32 = TAG_BITS + TASK_BITS;
const OUTCOME_SHIFT: u32 = SOURCE_SHIFT + 3;

/// The largest task number that fits.
pub(crate) const MAX_TASK: u64 = (1 << TASK_BITS) - 1;
/// The largest time that fits: nine years of nanoseconds.
pub(crate) const MAX_NANOS: u64 = u64::MAX >> TAG_BITS;

/// The largest number of rounds, and of failed searches, of an [`EventKind::IdleRounds`].
pub(crate) const MAX_ROUNDS: u32 = (1 << ROUND_BITS) - 1;
/// The largest of its times.
pub(crate) const MAX_ROUND_NANOS: u64 = (1 << ROUND_TIME_BITS) - 1;
const ROUND_BITS: u32 = 21;
const ROUND_TIME_BITS: u32 = 29;
/// Stands for no seat.
const NO_SEAT: u16 = u16::MAX;

const _: () = assert!(OUTCOME_SHIFT + 3 == u64::BITS);
const _: () = assert!(TAG_BITS + 2 * ROUND_BITS + u16::BITS == u64::BITS);
const _: () = assert!(TAG_BITS + 2 * ROUND_TIME_BITS == u64::BITS);

/// 0 is not a tag, so memory that was never written is not an event.
mod tag {
    pub(super) const TIME: u64 = 1;
    pub(super) const MARK: u64 = 2;
    pub(super) const POLLED: u64 = 3;
    pub(super) const POLL_START: u64 = 4;
    pub(super) const POLL_END: u64 = 5;
    pub(super) const SPAWN: u64 = 6;
    pub(super) const SPAWNED_AT: u64 = 7;
    /// The second word of `SPAWNED_AT`.
    pub(super) const LOCATION: u64 = 8;
    pub(super) const WAKE: u64 = 9;
    pub(super) const STEAL: u64 = 10;
    pub(super) const INJECT_BATCH: u64 = 11;
    pub(super) const OVERFLOW: u64 = 12;
    pub(super) const SEARCH_FAILED: u64 = 13;
    pub(super) const PARK: u64 = 14;
    pub(super) const UNPARK: u64 = 15;
    pub(super) const WAKE_WORKER: u64 = 16;
    pub(super) const SEAT_ROBBED: u64 = 17;
    pub(super) const SEAT_TAKEN: u64 = 18;
    pub(super) const SEAT_LEFT: u64 = 19;
    pub(super) const STALL: u64 = 20;
    /// The second word of `STALL`.
    pub(super) const STALL_TASK: u64 = 21;
    pub(super) const SPARE_SHORTAGE: u64 = 22;
    pub(super) const BUDGET_EXHAUSTED: u64 = 23;
    pub(super) const JOB_START: u64 = 24;
    pub(super) const JOB_END: u64 = 25;
    pub(super) const TIMERS_FIRED: u64 = 26;
    pub(super) const IO_HARVEST: u64 = 27;
    pub(super) const CPU_TIME: u64 = 28;
    pub(super) const OFF_WORKER_SPAWN: u64 = 29;
    pub(super) const OFF_WORKER_START: u64 = 30;
    pub(super) const OFF_WORKER_END: u64 = 31;
    pub(super) const DUMPED: u64 = 32;
    pub(super) const IDLE_ROUNDS: u64 = 33;
    /// The second word of `IDLE_ROUNDS`.
    pub(super) const ROUND_TIMES: u64 = 34;
}

/// Eight bytes of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

/// The meaning of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    /// The exact time of the next event, in nanoseconds.
    Time(u64),
    /// The time at this position.
    Mark(u64),
    /// An event.
    Event(EventKind),
    /// A poll in which nothing else was recorded, from its start to its end.
    Polled { task: TaskId, source: PollSource, outcome: Outcome },
    /// A [`EventKind::SpawnedAt`] whose [`Item::Location`] is the next word.
    SpawnedAt { task: TaskId },
    /// A [`StringId`] in a file, and the recorder's own value in a buffer.
    Location(u64),
    /// A [`EventKind::Stall`] whose [`Item::StallTask`] is the next word.
    Stall { worker: u16, kind: StallKind },
    /// The rest of it.
    StallTask(TaskId),
    /// A [`EventKind::IdleRounds`] whose [`Item::RoundTimes`] is the next word.
    IdleRounds { rounds: u32, searches: u32, seat: Option<u16> },
    /// The rest of it.
    RoundTimes { nanos: u64, awake_nanos: u64 },
}

/// The words of one event. Only some events have a second word.
pub(crate) type Words = (Word, Option<Word>);

impl Word {
    #[inline(always)]
    const fn new(tag: u64, payload: u64) -> Self {
        Word(payload << TAG_BITS | tag)
    }

    #[inline(always)]
    const fn payload(self) -> u64 {
        self.0 >> TAG_BITS
    }

    /// The exact time of the next event, in nanoseconds since the recorder's start.
    #[inline(always)]
    pub(crate) const fn time(nanos: u64) -> Self {
        Word::new(tag::TIME, nanos)
    }

    /// The time at this position, in nanoseconds since the recorder's start.
    #[inline(always)]
    pub(crate) const fn mark(nanos: u64) -> Self {
        Word::new(tag::MARK, nanos)
    }

    /// A whole poll in which nothing else was recorded. A poll with other events has a
    /// [`EventKind::PollStart`] and a [`EventKind::PollEnd`] instead.
    #[inline(always)]
    pub(crate) const fn polled(task: TaskId, source: PollSource, outcome: Outcome) -> Self {
        let bits = source_bits(source) << SOURCE_SHIFT | outcome_bits(outcome) << OUTCOME_SHIFT;
        Word(Word::of_task(tag::POLLED, task).0 | bits)
    }

    /// A poll, to be recorded as [begun](Self::begun), or as [ended](Self::ended) in one word.
    #[inline(always)]
    pub(crate) const fn poll(task: TaskId, source: PollSource) -> Self {
        // Not masked, because no process spawns that many tasks, and this runs for each poll.
        debug_assert!(task.0 <= MAX_TASK);
        Word(task.0 << TAG_BITS | source_bits(source) << SOURCE_SHIFT | tag::POLLED)
    }

    /// The beginning of this [`poll`](Self::poll).
    #[inline(always)]
    pub(crate) const fn begun(self) -> Self {
        Word(self.0 ^ tag::POLLED ^ tag::POLL_START)
    }

    /// The whole of this [`poll`](Self::poll), in which nothing else was recorded.
    #[inline(always)]
    pub(crate) const fn ended(self, outcome: Outcome) -> Self {
        Word(self.0 | outcome_bits(outcome) << OUTCOME_SHIFT)
    }

    /// The first word of [`EventKind::SpawnedAt`].
    #[inline(always)]
    pub(crate) const fn spawned_at(task: TaskId) -> Self {
        Word::of_task(tag::SPAWNED_AT, task)
    }

    /// The second word of [`EventKind::SpawnedAt`]; 58 bits of `location` are kept.
    #[inline(always)]
    pub(crate) const fn location(location: u64) -> Self {
        Word::new(tag::LOCATION, location)
    }

    #[inline(always)]
    const fn of_task(tag: u64, task: TaskId) -> Self {
        Word::new(tag, task.0 & MAX_TASK)
    }

    pub(crate) const fn task(self) -> TaskId {
        TaskId(self.payload() & MAX_TASK)
    }

    /// The words of an event. The compiler removes the arms that a caller does not need.
    #[inline(always)]
    pub(crate) const fn of(kind: EventKind) -> Words {
        let one = match kind {
            EventKind::Spawn { task } => Word::of_task(tag::SPAWN, task),
            EventKind::SpawnedAt { task, location } => {
                return (Word::spawned_at(task), Some(Word::location(location.0 as u64)));
            }
            EventKind::PollStart { task, source } => {
                Word::poll(TaskId(task.0 & MAX_TASK), source).begun()
            }
            EventKind::PollEnd { task, outcome } => {
                Word(Word::of_task(tag::POLL_END, task).0 | outcome_bits(outcome) << OUTCOME_SHIFT)
            }
            EventKind::Wake { task } => Word::of_task(tag::WAKE, task),
            EventKind::Steal { victim, tasks } => {
                Word::new(tag::STEAL, victim as u64 | (tasks as u64) << 16)
            }
            EventKind::InjectBatch { tasks } => Word::new(tag::INJECT_BATCH, tasks as u64),
            EventKind::Overflow { tasks } => Word::new(tag::OVERFLOW, tasks as u64),
            EventKind::SearchFailed => Word::new(tag::SEARCH_FAILED, 0),
            EventKind::Park => Word::new(tag::PARK, 0),
            EventKind::Unpark { by_itself } => Word::new(tag::UNPARK, by_itself as u64),
            EventKind::WakeWorker { worker } => Word::new(tag::WAKE_WORKER, worker as u64),
            EventKind::SeatRobbed { seat, from } => {
                Word::new(tag::SEAT_ROBBED, seat as u64 | (from as u64) << 16)
            }
            EventKind::SeatTaken { seat } => Word::new(tag::SEAT_TAKEN, seat as u64),
            EventKind::SeatLeft { seat } => Word::new(tag::SEAT_LEFT, seat as u64),
            EventKind::Stall { worker, task, kind } => {
                let first = Word::new(tag::STALL, worker as u64 | stall_bits(kind) << 16);
                return (first, Some(Word::of_task(tag::STALL_TASK, task)));
            }
            EventKind::SpareShortage => Word::new(tag::SPARE_SHORTAGE, 0),
            EventKind::BudgetExhausted { task, resource } => {
                let bits = resource_bits(resource) << SOURCE_SHIFT;
                Word(Word::of_task(tag::BUDGET_EXHAUSTED, task).0 | bits)
            }
            EventKind::JobStart { is_stolen } => Word::new(tag::JOB_START, is_stolen as u64),
            EventKind::JobEnd => Word::new(tag::JOB_END, 0),
            EventKind::TimersFired { timers } => Word::new(tag::TIMERS_FIRED, timers as u64),
            EventKind::IoHarvest { events } => Word::new(tag::IO_HARVEST, events as u64),
            EventKind::CpuTime { nanos } => Word::new(tag::CPU_TIME, nanos),
            EventKind::OffWorkerSpawn { task, by } => {
                Word(Word::of_task(tag::OFF_WORKER_SPAWN, task).0 | (by as u64) << SOURCE_SHIFT)
            }
            EventKind::OffWorkerStart { task } => Word::of_task(tag::OFF_WORKER_START, task),
            EventKind::OffWorkerEnd { task, outcome } => Word(
                Word::of_task(tag::OFF_WORKER_END, task).0 | outcome_bits(outcome) << OUTCOME_SHIFT,
            ),
            EventKind::Dumped => Word::new(tag::DUMPED, 0),
            EventKind::IdleRounds { rounds, searches, seat, nanos, awake_nanos } => {
                let times = Word::new(tag::ROUND_TIMES, nanos | awake_nanos << ROUND_TIME_BITS);
                return (Word::idle_rounds(rounds, searches, seat), Some(times));
            }
        };
        (one, None)
    }

    /// Decodes the word. Returns `None` if no version of this crate writes it.
    pub(crate) fn item(self) -> Option<Item> {
        let payload = self.payload();
        let (low, high) = (payload as u16, (payload >> 16) as u16);
        let task = self.task();
        let count = payload as u32;
        let event = match self.0 & ((1 << TAG_BITS) - 1) {
            tag::TIME => return Some(Item::Time(payload)),
            tag::MARK => return Some(Item::Mark(payload)),
            tag::POLLED => {
                let (source, outcome) = (self.source()?, self.outcome()?);
                return Some(Item::Polled { task, source, outcome });
            }
            tag::POLL_START => EventKind::PollStart { task, source: self.source()? },
            tag::POLL_END => EventKind::PollEnd { task, outcome: self.outcome()? },
            tag::SPAWN => EventKind::Spawn { task },
            tag::SPAWNED_AT => return Some(Item::SpawnedAt { task }),
            tag::LOCATION => return Some(Item::Location(payload)),
            tag::WAKE => EventKind::Wake { task },
            tag::STEAL => EventKind::Steal { victim: low, tasks: (payload >> 16) as u32 },
            tag::INJECT_BATCH => EventKind::InjectBatch { tasks: count },
            tag::OVERFLOW => EventKind::Overflow { tasks: count },
            tag::SEARCH_FAILED => EventKind::SearchFailed,
            tag::PARK => EventKind::Park,
            tag::UNPARK => EventKind::Unpark { by_itself: payload & 1 == 1 },
            tag::WAKE_WORKER => EventKind::WakeWorker { worker: low },
            tag::SEAT_ROBBED => EventKind::SeatRobbed { seat: low, from: high },
            tag::SEAT_TAKEN => EventKind::SeatTaken { seat: low },
            tag::SEAT_LEFT => EventKind::SeatLeft { seat: low },
            tag::STALL => {
                return Some(Item::Stall { worker: low, kind: stall_kind(payload >> 16)? });
            }
            tag::STALL_TASK => return Some(Item::StallTask(task)),
            tag::SPARE_SHORTAGE => EventKind::SpareShortage,
            tag::BUDGET_EXHAUSTED => {
                EventKind::BudgetExhausted { task, resource: self.resource()? }
            }
            tag::JOB_START => EventKind::JobStart { is_stolen: payload & 1 == 1 },
            tag::JOB_END => EventKind::JobEnd,
            tag::TIMERS_FIRED => EventKind::TimersFired { timers: count },
            tag::IO_HARVEST => EventKind::IoHarvest { events: count },
            tag::CPU_TIME => EventKind::CpuTime { nanos: payload },
            tag::OFF_WORKER_SPAWN => EventKind::OffWorkerSpawn { task, by: self.by()? },
            tag::OFF_WORKER_START => EventKind::OffWorkerStart { task },
            tag::OFF_WORKER_END => EventKind::OffWorkerEnd { task, outcome: self.outcome()? },
            tag::DUMPED => EventKind::Dumped,
            tag::IDLE_ROUNDS => return Some(self.idle_rounds_item()),
            tag::ROUND_TIMES => {
                let (nanos, awake_nanos) = (payload & MAX_ROUND_NANOS, payload >> ROUND_TIME_BITS);
                return Some(Item::RoundTimes { nanos, awake_nanos });
            }
            _ => return None,
        };
        Some(Item::Event(event))
    }

    /// The first word of [`EventKind::IdleRounds`].
    const fn idle_rounds(rounds: u32, searches: u32, seat: Option<u16>) -> Self {
        let seat = match seat {
            Some(seat) => seat,
            None => NO_SEAT,
        };
        let counts = rounds as u64 | (searches as u64) << ROUND_BITS;
        Word::new(tag::IDLE_ROUNDS, counts | (seat as u64) << (2 * ROUND_BITS))
    }

    fn idle_rounds_item(self) -> Item {
        let payload = self.payload();
        let count = |counts: u64| counts as u32 & MAX_ROUNDS;
        let seat = (payload >> (2 * ROUND_BITS)) as u16;
        Item::IdleRounds {
            rounds: count(payload),
            searches: count(payload >> ROUND_BITS),
            seat: (seat != NO_SEAT).then_some(seat),
        }
    }

    fn source(self) -> Option<PollSource> {
        Some(match self.0 >> SOURCE_SHIFT & 7 {
            0 => PollSource::LifoSlot,
            1 => PollSource::Ring,
            2 => PollSource::Inject,
            3 => PollSource::Stolen,
            4 => PollSource::Pinned,
            _ => return None,
        })
    }

    fn by(self) -> Option<OffWorker> {
        let by = self.0 >> SOURCE_SHIFT & 7;
        [OffWorker::Closure, OffWorker::LocalSet].into_iter().find(|known| *known as u64 == by)
    }

    fn resource(self) -> Option<Resource> {
        Some(match self.0 >> SOURCE_SHIFT & 7 {
            0 => Resource::Other,
            1 => Resource::Timer,
            2 => Resource::LateInterval,
            3 => Resource::Io,
            4 => Resource::Task,
            _ => return None,
        })
    }

    fn outcome(self) -> Option<Outcome> {
        Some(match self.0 >> OUTCOME_SHIFT {
            0 => Outcome::Done,
            1 => Outcome::Waits,
            2 => Outcome::Again,
            _ => return None,
        })
    }
}

#[inline(always)]
const fn source_bits(source: PollSource) -> u64 {
    match source {
        PollSource::LifoSlot => 0,
        PollSource::Ring => 1,
        PollSource::Inject => 2,
        PollSource::Stolen => 3,
        PollSource::Pinned => 4,
    }
}

#[inline(always)]
const fn outcome_bits(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Waits => 1,
        Outcome::Again => 2,
    }
}

const fn resource_bits(resource: Resource) -> u64 {
    match resource {
        Resource::Other => 0,
        Resource::Timer => 1,
        Resource::LateInterval => 2,
        Resource::Io => 3,
        Resource::Task => 4,
    }
}

/// Three bits for the kind, then 32 for the name of a system call.
const fn stall_bits(kind: StallKind) -> u64 {
    match kind {
        StallKind::Burning => 0,
        StallKind::Blocked(call) => 1 | (call.0 as u64) << 3,
        StallKind::Waiting => 2,
        StallKind::Unknown => 3,
    }
}

fn stall_kind(bits: u64) -> Option<StallKind> {
    Some(match bits & 7 {
        0 => StallKind::Burning,
        1 => StallKind::Blocked(StringId((bits >> 3) as u32)),
        2 => StallKind::Waiting,
        3 => StallKind::Unknown,
        _ => return None,
    })
}

#[cfg(all(test, not(loom)))]
mod tests;
