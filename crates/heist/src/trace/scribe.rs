//! The scribe, which records the events of one worker: it decides when to read the clock, and what
//! to omit because it was recorded before. See `README.md`.

use super::buffer::{Copied, EventBuffer};
use super::event::{EventKind, OffWorker, Outcome, PollSource, TaskId};
use super::word::Word;
use crate::env::{Clock, cpu_time};
use crate::metrics::Counter;
use std::panic::Location;

#[cfg(all(test, not(loom)))]
mod tests;

mod rounds;

use rounds::Rounds;

/// The number of words between two times. Chosen by `yield_many`; see the README.
const BATCH: u64 = 512;
/// The number of marks between two polls that record where their task was spawned, even if polls
/// are too short to be timed. Guessed: that is one reading of the clock per 8192 words, and a
/// buffer holds several.
const SAMPLE: u64 = 16;
/// The reciprocal of the fraction of time that recording may take. Chosen by `yield_many`.
const SHARE: u64 = 24;
/// The cost of a word, and of a reading of the clock with its words, in nanoseconds. Measured
/// roughly.
const COST_OF_WORD: u64 = 3;
const COST_OF_READING: u64 = 75;
/// The allowance, in readings, with which each poll is timed. Guessed.
const ENOUGH: u64 = 128 * COST_OF_READING;
/// The maximal allowance in nanoseconds: after a long event polls are timed for a while, but not
/// forever. Guessed.
const MOST: u64 = 1_000_000;
/// The shortest interval between two readings of the thread's CPU time in nanoseconds, because that
/// is a system call. Guessed.
const CPU_PACE: u64 = 1_000_000;
/// How often a copy is retried if something was written meanwhile, so that a poll that has just
/// ended is included.
const TRIES: usize = 3;
/// The number of tasks whose spawn locations are remembered as recorded. Guessed.
const TOLD: usize = 256;

/// The record of one worker. One thread at a time writes: the one that runs the worker, or the
/// holder of the lock around it. The fields that each poll needs share one cache line.
#[repr(C, align(128))]
pub(crate) struct Scribe {
    /// The word of the current poll without its outcome, if it has not been recorded, or 0.
    pending: Counter,
    /// The position at which the clock is read next, or 0 while every poll is timed.
    next_reading: Counter,
    buffer: EventBuffer,
    /// The last reading of the clock, and its position.
    last_reading: Counter,
    read_at: Counter,
    /// When the thread's CPU time is read next.
    next_cpu_time: Counter,
    /// The time that may be spent on reading the clock, in nanoseconds.
    allowance: Counter,
    /// The time between two words while nothing was timed.
    nanos_per_word: Counter,
    /// When the current poll's future returned; see [`returned`](Self::returned).
    returned_at: Counter,
    /// Idle rounds that were not written yet.
    rounds: Rounds,
    is_exact: bool,
    start: Clock,
    /// The tasks whose spawn locations were recorded last, each at the index given by its number.
    told: Box<[Counter]>,
    /// The position from which on they must be recorded again, because the old ones may be
    /// overwritten soon.
    told_until: Counter,
}

/// A poll in progress.
#[derive(Clone, Copy)]
#[must_use = "it comes to its end"]
pub(crate) struct Begun(Word);

/// Events that happen for every task.
impl Scribe {
    /// Creates a scribe with a buffer of `words` words. Times count from `start`; if `is_exact`,
    /// every event has one.
    pub(super) fn new(capacity: usize, start: Clock, is_exact: bool) -> Self {
        Scribe {
            pending: Counter::default(),
            next_reading: Counter::default(),
            buffer: EventBuffer::new(capacity),
            last_reading: Counter::default(),
            read_at: Counter::default(),
            next_cpu_time: never(),
            allowance: Counter::default(),
            nanos_per_word: Counter::default(),
            returned_at: Counter::default(),
            rounds: Rounds::new(),
            is_exact,
            start,
            told: (0..TOLD).map(|_| Counter::default()).collect(),
            told_until: Counter::default(),
        }
    }

    /// Never written to or read: it only stands for timed polls.
    pub(crate) fn mute() -> Self {
        Scribe::new(0, Clock::now(), true)
    }

    /// Records the thread's CPU time too. Not for scribes that several threads use.
    pub(super) fn with_cpu_times(self) -> Self {
        self.next_cpu_time.set(0);
        self
    }

    /// Starts a poll. The returned value must be passed to [`end_poll`](Self::end_poll).
    #[inline(always)]
    pub(crate) fn begin_poll(
        &self,
        task: u64,
        source: PollSource,
        spawned_at: &'static Location<'static>,
    ) -> Begun {
        if self.is_precise() {
            self.write_rounds();
        }
        if self.is_precise() {
            let poll = Word::poll(TaskId(task), source);
            self.begin_timed(poll, spawned_at);
            return Begun(poll);
        }
        self.begin_untimed_poll(task, source)
    }

    /// Starts a poll, unless polls are being timed.
    #[inline(always)]
    pub(crate) fn begin_untimed_poll(&self, task: u64, source: PollSource) -> Begun {
        let poll = Word::poll(TaskId(task), source);
        self.pending.set(poll.0);
        Begun(poll)
    }

    /// Ends a poll.
    #[inline(always)]
    pub(crate) fn end_poll(&self, begun: Begun, outcome: Outcome) {
        if self.pending.get() == 0 {
            return self.end_begun(begun.0, outcome);
        }
        self.pending.set(0);
        let position = self.buffer.push(begun.0.ended(outcome).0);
        if position >= self.next_reading.get() {
            self.mark();
        }
    }

    /// Records the spawn of a task.
    pub(crate) fn spawned(&self, task: u64, at: &'static Location<'static>) {
        self.note(EventKind::Spawn { task: TaskId(task) });
        self.tell(task, at);
    }

    /// Records the spawn of a task that no worker will run.
    pub(super) fn spawned_off_worker(
        &self,
        task: u64,
        by: OffWorker,
        at: &'static Location<'static>,
    ) {
        self.record(EventKind::OffWorkerSpawn { task: TaskId(task), by });
        self.tell(task, at);
    }

    /// Records a frequent event, for which the clock is read only while each poll is timed.
    pub(crate) fn note(&self, kind: EventKind) {
        if self.is_precise() {
            self.write_rounds();
        }
        if self.is_precise() {
            return self.record(kind);
        }
        self.begin_pending();
        self.write(kind);
        if self.buffer.position() >= self.next_reading.get() {
            self.mark();
        }
    }

    /// Records an event with the current time.
    pub(crate) fn record(&self, kind: EventKind) {
        self.begin_pending();
        self.write_rounds();
        let now = self.read_clock();
        self.write_at(now, kind);
    }

    /// The future of the current poll has returned, and another thread may get the task next.
    #[cold]
    pub(crate) fn returned(&self) {
        self.returned_at.set(self.nanos());
    }

    /// Whether every poll is being timed. Also true while rounds are kept.
    #[inline(always)]
    pub(crate) fn is_precise(&self) -> bool {
        self.next_reading.get() == 0
    }

    /// Records the beginning of the current poll, before events within it.
    #[inline(always)]
    pub(crate) fn begin_pending(&self) {
        let pending = self.pending.get();
        if pending != 0 {
            self.pending.set(0);
            self.buffer.push(Word(pending).begun().0);
        }
    }

    /// Starts a timed poll.
    #[cold]
    #[inline(never)]
    fn begin_timed(&self, poll: Word, spawned_at: &'static Location<'static>) {
        self.tell_now_and_then(poll.task().0, spawned_at);
        let now = self.read_clock();
        self.buffer.push(Word::time(now).0);
        self.buffer.push(poll.begun().0);
    }

    #[inline(never)]
    fn end_begun(&self, begun: Word, outcome: Outcome) {
        self.write_rounds();
        let end = EventKind::PollEnd { task: begun.task(), outcome };
        if !self.is_precise() {
            self.write(end);
            if self.buffer.position() >= self.next_reading.get() {
                self.mark();
            }
            return;
        }
        let now = self.read_clock();
        // Another thread may have continued the task before this reading, unless it has ended.
        let is_late = self.is_exact && outcome != Outcome::Done;
        let at = if is_late { self.returned_at.get() } else { now };
        self.write_at(at, end);
    }
}

fn never() -> Counter {
    let never = Counter::default();
    never.set(u64::MAX);
    never
}

/// Writing.
impl Scribe {
    #[inline(always)]
    fn write(&self, kind: EventKind) {
        let (first, second) = Word::of(kind);
        self.buffer.push(first.0);
        if let Some(second) = second {
            self.buffer.push(second.0);
        }
    }

    #[inline(always)]
    fn write_at(&self, nanos: u64, kind: EventKind) {
        self.buffer.push(Word::time(nanos).0);
        self.write(kind);
    }

    #[cold]
    #[inline(never)]
    fn tell_cpu_time(&self, now: u64) {
        self.next_cpu_time.set(now + CPU_PACE);
        // Without a time, because the end of a poll comes next, which may be older than this
        // reading.
        self.write(EventKind::CpuTime { nanos: cpu_time() });
    }

    /// Writes the current time.
    #[cold]
    #[inline(never)]
    fn mark(&self) {
        let before = self.last_reading.get();
        let now = self.read_clock();
        self.nanos_per_word.set((now - before) / BATCH);
        let position = self.buffer.push(Word::mark(now).0);
        if position / BATCH % SAMPLE == 0 {
            // The next poll takes the path of timed polls only once, because there is no allowance
            // for more.
            self.next_reading.set(0);
        }
    }

    /// Records where a task was spawned.
    fn tell(&self, task: u64, spawned_at: &'static Location<'static>) {
        let location = std::ptr::from_ref(spawned_at).expose_provenance() as u64;
        self.buffer.push(Word::spawned_at(TaskId(task)).0);
        self.buffer.push(Word::location(location).0);
    }

    /// Records where a task was spawned, unless that was recorded recently.
    fn tell_now_and_then(&self, task: u64, spawned_at: &'static Location<'static>) {
        let position = self.buffer.position();
        if position >= self.told_until.get() {
            self.told.iter().for_each(|told| told.set(0));
            self.told_until.set(position + self.buffer.capacity() as u64 / 4);
        }
        let told = &self.told[task as usize % TOLD];
        if told.get() != task {
            told.set(task);
            self.tell(task, spawned_at);
        }
    }
}

/// For readers.
impl Scribe {
    /// The words written and those that are kept: idle rounds, or the beginning of the current
    /// poll.
    pub(super) fn copy(&self) -> Copied {
        let (mut copied, mut pending, mut end, mut draft): (Copied, _, _, _) = Default::default();
        for _ in 0..TRIES {
            copied = self.buffer.copy();
            pending = self.pending.get();
            draft = self.rounds.draft();
            end = copied.lost + copied.words.len() as u64;
            if self.buffer.position() == end && draft.is_some() {
                break;
            }
        }
        // The draft comes next if its position is that of the next word.
        if let Some((position, words)) = draft {
            if position == end {
                copied.words.extend(words);
            }
        }
        // If more has been written since, it is the beginning of another poll.
        if pending != 0 && self.buffer.position() == end {
            // Earlier polls were no longer than others, so this one is as old as possible.
            let since = self.words_since_reading() * self.nanos_per_word.get();
            let estimate = self.last_reading.get() + since;
            copied.words.push(Word::mark(estimate.min(self.nanos())).0);
            copied.words.push(Word(pending).begun().0);
        }
        copied
    }
}

/// When to read the clock.
impl Scribe {
    /// Nanoseconds since the start of the recorder.
    pub(super) fn nanos(&self) -> u64 {
        u64::try_from(Clock::now().since(self.start).as_nanos()).unwrap_or(u64::MAX)
    }

    /// The number of words since the last reading of the clock.
    fn words_since_reading(&self) -> u64 {
        // A reader may see one before the other.
        self.buffer.position().saturating_sub(self.read_at.get())
    }

    /// Adds allowance for the time since the last reading, and subtracts the cost of what was
    /// recorded since.
    fn earn(&self, now: u64) {
        let earned = now.saturating_sub(self.last_reading.get()) / SHARE;
        let spent = self.words_since_reading() * COST_OF_WORD + COST_OF_READING;
        let allowance = (self.allowance.get() + earned).saturating_sub(spent).min(MOST);
        self.last_reading.set(now);
        self.read_at.set(self.buffer.position());
        self.allowance.set(allowance);
    }

    /// Reads the clock for the next words, and decides whether to time each poll from now on.
    fn read_clock(&self) -> u64 {
        let now = self.nanos();
        let least = if self.is_precise() { 1 } else { ENOUGH };
        self.earn(now);
        let is_precise = self.is_exact || self.allowance.get() >= least;
        if now >= self.next_cpu_time.get() {
            self.tell_cpu_time(now);
        }
        let position = self.buffer.position();
        self.read_at.set(position);
        self.next_reading.set(if is_precise { 0 } else { position + BATCH });
        now
    }
}
