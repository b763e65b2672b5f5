//! Who writes down what one worker does: when the clock is read, and what is left out because it was
//! said before. Told in `README.md`.

use super::event::{Aside, EventKind, Outcome, PollSource, TaskId};
use super::ring::{Copied, Ring};
use super::word::Word;
use crate::env::{Clock, cpu_time};
use crate::metrics::Counter;
use std::panic::Location;

#[cfg(all(test, not(loom)))]
mod tests;

mod rounds;

use rounds::Rounds;

/// After so many words without a time comes one. Chosen by `yield_many`; see the README.
const BATCH: u64 = 512;
/// Once in so many marks the next poll tells where its task was spawned, even where polls are too
/// short to be timed.
/// Guessed: a clock reading in 8192 words costs nothing, and a ring holds several.
const SAMPLE: u64 = 16;
/// Recording may take one of so many parts of the time. As above.
const SHARE: u64 = 24;
/// What a word costs, and a reading of the clock with what is written beside it, in nanoseconds. Measured, roughly.
const COST_OF_WORD: u64 = 3;
const COST_OF_READING: u64 = 75;
/// With credit for so many readings polls are timed one by one. Guessed.
const ENOUGH: u64 = 128 * COST_OF_READING;
/// More credit than this is not given, in nanoseconds: after something that took long polls are timed for a
/// while, not for ever. Guessed.
const MOST: u64 = 1_000_000;
/// The thread's CPU time is asked for at most so often, in nanoseconds: it takes a call of the kernel. Guessed.
const CPU_PACE: u64 = 1_000_000;
/// So often a copy is made anew if something was written meanwhile: a poll that ended just then is in it.
const TRIES: usize = 3;
/// Of how many tasks it is remembered that their spawn location was told. Guessed.
const TOLD: usize = 256;

/// The record of one worker. One thread at a time writes: the one that runs the worker, or whoever has the lock
/// around it. What each poll needs is in one cache line, which is nobody else's.
#[repr(C, align(128))]
pub(crate) struct Scribe {
    /// The poll that goes on and has not been recorded, but for its outcome; else 0.
    pending: Counter,
    /// At this position it is time to read the clock; 0 while every poll is timed.
    next_reading: Counter,
    ring: Ring,
    /// When the clock was read last, and at which position.
    last_reading: Counter,
    read_at: Counter,
    /// When the thread's CPU time is asked for next.
    next_cpu_time: Counter,
    /// How long the clock may be read, in nanoseconds.
    credit: Counter,
    /// How long it took from word to word when nothing was timed.
    nanos_per_word: Counter,
    /// When the poll that goes on has returned to its task; see [`returned`](Self::returned).
    returned_at: Counter,
    /// Rounds without work that are not written yet.
    rounds: Rounds,
    is_exact: bool,
    start: Clock,
    /// The tasks whose spawn location was told last, each in the place that its number says.
    told: Box<[Counter]>,
    /// From this position on it has to be told again: what was told may be overwritten soon.
    told_until: Counter,
}

/// A poll that goes on.
#[derive(Clone, Copy)]
#[must_use = "it comes to its end"]
pub(crate) struct Begun(Word);

/// For what happens with every task.
impl Scribe {
    /// For so many words. Times are those since `start`; if it `is_exact` every event has one.
    pub(super) fn new(capacity: usize, start: Clock, is_exact: bool) -> Self {
        Scribe {
            pending: Counter::default(),
            next_reading: Counter::default(),
            ring: Ring::new(capacity),
            last_reading: Counter::default(),
            read_at: Counter::default(),
            next_cpu_time: never(),
            credit: Counter::default(),
            nanos_per_word: Counter::default(),
            returned_at: Counter::default(),
            rounds: Rounds::new(),
            is_exact,
            start,
            told: (0..TOLD).map(|_| Counter::default()).collect(),
            told_until: Counter::default(),
        }
    }

    /// Nobody writes to it, and nothing is read: it is there to say that polls are timed.
    pub(crate) fn mute() -> Self {
        Scribe::new(0, Clock::now(), true)
    }

    /// Tells how much CPU time its thread has used, too. Not for what many threads write to.
    pub(super) fn with_cpu_times(self) -> Self {
        self.next_cpu_time.set(0);
        self
    }

    /// A poll begins. What is returned is to [end](Self::end_poll) it.
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

    /// The same, unless polls are timed at the moment.
    #[inline(always)]
    pub(crate) fn begin_untimed_poll(&self, task: u64, source: PollSource) -> Begun {
        let poll = Word::poll(TaskId(task), source);
        self.pending.set(poll.0);
        Begun(poll)
    }

    /// It has ended.
    #[inline(always)]
    pub(crate) fn end_poll(&self, begun: Begun, outcome: Outcome) {
        if self.pending.get() == 0 {
            return self.end_begun(begun.0, outcome);
        }
        self.pending.set(0);
        let position = self.ring.push(begun.0.ended(outcome).0);
        if position >= self.next_reading.get() {
            self.mark();
        }
    }

    /// A task was spawned here.
    pub(crate) fn spawned(&self, task: u64, at: &'static Location<'static>) {
        self.note(EventKind::Spawn { task: TaskId(task) });
        self.tell(task, at);
    }

    /// A task was spawned here that no worker will run.
    pub(super) fn spawned_aside(&self, task: u64, aside: Aside, at: &'static Location<'static>) {
        self.record(EventKind::SpawnAside { task: TaskId(task), aside });
        self.tell(task, at);
    }

    /// Something that happens often: the clock is read for it only while polls are timed one by one.
    pub(crate) fn note(&self, kind: EventKind) {
        if self.is_precise() {
            self.write_rounds();
        }
        if self.is_precise() {
            return self.record(kind);
        }
        self.begin_pending();
        self.write(kind);
        if self.ring.position() >= self.next_reading.get() {
            self.mark();
        }
    }

    /// Something that happens now, exactly.
    pub(crate) fn record(&self, kind: EventKind) {
        self.begin_pending();
        self.write_rounds();
        let now = self.read_clock();
        self.write_at(now, kind);
    }

    /// The future of the task that is polled has returned, and others may have the task next.
    #[cold]
    pub(crate) fn returned(&self) {
        self.returned_at.set(self.nanos());
    }

    /// Whether every poll is timed, at the moment. It seems so while rounds are kept, too.
    #[inline(always)]
    pub(crate) fn is_precise(&self) -> bool {
        self.next_reading.get() == 0
    }

    /// What happens in a poll stands behind its beginning.
    #[inline(always)]
    pub(crate) fn begin_pending(&self) {
        let pending = self.pending.get();
        if pending != 0 {
            self.pending.set(0);
            self.ring.push(Word(pending).begun().0);
        }
    }

    /// A poll that is timed.
    #[cold]
    #[inline(never)]
    fn begin_timed(&self, poll: Word, spawned_at: &'static Location<'static>) {
        self.tell_now_and_then(poll.task().0, spawned_at);
        let now = self.read_clock();
        self.ring.push(Word::time(now).0);
        self.ring.push(poll.begun().0);
    }

    #[inline(never)]
    fn end_begun(&self, begun: Word, outcome: Outcome) {
        self.write_rounds();
        let end = EventKind::PollEnd { task: begun.task(), outcome };
        if !self.is_precise() {
            self.write(end);
            if self.ring.position() >= self.next_reading.get() {
                self.mark();
            }
            return;
        }
        let now = self.read_clock();
        // Others may have gone on with the task before this was read, unless it has ended.
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

/// What is written.
impl Scribe {
    #[inline(always)]
    fn write(&self, kind: EventKind) {
        let (first, second) = Word::of(kind);
        self.ring.push(first.0);
        if let Some(second) = second {
            self.ring.push(second.0);
        }
    }

    #[inline(always)]
    fn write_at(&self, nanos: u64, kind: EventKind) {
        self.ring.push(Word::time(nanos).0);
        self.write(kind);
    }

    #[cold]
    #[inline(never)]
    fn tell_cpu_time(&self, now: u64) {
        self.next_cpu_time.set(now + CPU_PACE);
        // Without a time: the end of a poll may be older than this reading, and comes next.
        self.write(EventKind::CpuTime { nanos: cpu_time() });
    }

    /// It is this late.
    #[cold]
    #[inline(never)]
    fn mark(&self) {
        let before = self.last_reading.get();
        let now = self.read_clock();
        self.nanos_per_word.set((now - before) / BATCH);
        let position = self.ring.push(Word::mark(now).0);
        if position / BATCH % SAMPLE == 0 {
            // The next poll takes the path of timed polls, once: there is no credit for more.
            self.next_reading.set(0);
        }
    }

    /// Where a task was spawned.
    fn tell(&self, task: u64, spawned_at: &'static Location<'static>) {
        let location = std::ptr::from_ref(spawned_at).expose_provenance() as u64;
        self.ring.push(Word::spawned_at(TaskId(task)).0);
        self.ring.push(Word::location(location).0);
    }

    /// The same, unless that was told lately.
    fn tell_now_and_then(&self, task: u64, spawned_at: &'static Location<'static>) {
        let position = self.ring.position();
        if position >= self.told_until.get() {
            self.told.iter().for_each(|told| told.set(0));
            self.told_until.set(position + self.ring.capacity() as u64 / 4);
        }
        let told = &self.told[task as usize % TOLD];
        if told.get() != task {
            told.set(task);
            self.tell(task, spawned_at);
        }
    }
}

/// For those who ask.
impl Scribe {
    /// What was written, and behind it what is kept: rounds without work, or the beginning of the
    /// poll that goes on, if that is not among it.
    pub(super) fn copy(&self) -> Copied {
        let (mut copied, mut pending, mut end, mut draft): (Copied, _, _, _) = Default::default();
        for _ in 0..TRIES {
            copied = self.ring.copy();
            pending = self.pending.get();
            draft = self.rounds.draft();
            end = copied.lost + copied.words.len() as u64;
            if self.ring.position() == end && draft.is_some() {
                break;
            }
        }
        // It is what comes next if its position is that of the next word.
        if let Some((position, words)) = draft {
            if position == end {
                copied.words.extend(words);
            }
        }
        // If more has been written meanwhile it is another poll's beginning.
        if pending != 0 && self.ring.position() == end {
            // Polls before it were no longer than others: this one is as old as it may be.
            let since = self.words_since_reading() * self.nanos_per_word.get();
            let estimate = self.last_reading.get() + since;
            copied.words.push(Word::mark(estimate.min(self.nanos())).0);
            copied.words.push(Word(pending).begun().0);
        }
        copied
    }
}

/// When the clock is read.
impl Scribe {
    /// Nanoseconds since the recorder began.
    pub(super) fn nanos(&self) -> u64 {
        u64::try_from(Clock::now().since(self.start).as_nanos()).unwrap_or(u64::MAX)
    }

    /// How many words have been written since the clock was read.
    fn words_since_reading(&self) -> u64 {
        // Who copies may see the one before the other.
        self.ring.position().saturating_sub(self.read_at.get())
    }

    /// The time that has passed since the last reading has earned a part of itself, and what was recorded since
    /// then is paid for.
    fn earn(&self, now: u64) {
        let earned = now.saturating_sub(self.last_reading.get()) / SHARE;
        let spent = self.words_since_reading() * COST_OF_WORD + COST_OF_READING;
        let credit = (self.credit.get() + earned).saturating_sub(spent).min(MOST);
        self.last_reading.set(now);
        self.read_at.set(self.ring.position());
        self.credit.set(credit);
    }

    /// What time it is, for what is written next. Decides whether polls are timed from now on.
    fn read_clock(&self) -> u64 {
        let now = self.nanos();
        let least = if self.is_precise() { 1 } else { ENOUGH };
        self.earn(now);
        let is_precise = self.is_exact || self.credit.get() >= least;
        if now >= self.next_cpu_time.get() {
            self.tell_cpu_time(now);
        }
        let position = self.ring.position();
        self.read_at.set(position);
        self.next_reading.set(if is_precise { 0 } else { position + BATCH });
        now
    }
}
