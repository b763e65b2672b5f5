//! The events of one lane, with their times.
//!
//! Words are read up to the next time. The events before it are then spread between the two times
//! around them: much time passes within polls, and little between them. A row of short polls
//! without times therefore looks like the busy worker that it was.

use super::super::error::ReadError;
use super::super::event::{Event, EventKind, Lane, StringId};
use super::super::format::u64_at;
use super::super::word::{Item, Word};
use super::index;
use super::source::Source;
use std::slice;
use std::time::Duration;

/// After this many events without a time, all of them get the last one. The recorder writes a time
/// every 64 polls; this limits the memory for files of other origin.
const READ_AHEAD: usize = 4096;

/// The length of a step within a poll, in steps between polls. Guessed.
const POLL_STEP: u64 = 15;

#[derive(Debug)]
pub(super) struct LaneReader<'a> {
    words: WordReader<'a>,
    lane: Lane,
    /// Events with their times, and how many of them were returned.
    ready: Vec<Event>,
    given: usize,
    /// Events since the last time, each with the number of steps before it.
    open: Vec<(EventKind, u64)>,
    steps: u64,
    /// The last time; none before the first.
    from: Option<u64>,
    /// Whether the first of `open` happened at `from`.
    is_first_exact: bool,
    is_in_poll: bool,
    /// The first word of an event that takes two.
    half: Option<Item>,
}

impl<'a> LaneReader<'a> {
    pub(super) fn new(source: &'a Source, lane: Lane, chunks: &'a [u64]) -> Self {
        LaneReader {
            words: WordReader {
                source,
                chunks: chunks.iter(),
                chunk: 0,
                payload: Vec::new(),
                at: 0,
            },
            lane,
            ready: Vec::new(),
            given: 0,
            open: Vec::new(),
            steps: 0,
            from: None,
            is_first_exact: false,
            is_in_poll: false,
            half: None,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<Event>, ReadError> {
        while self.given == self.ready.len() {
            self.ready.clear();
            self.given = 0;
            match self.words.next()? {
                Some(item) => self.take(item),
                None if self.open.is_empty() => return Ok(None),
                None => self.close(self.from.unwrap_or(0)),
            }
        }
        self.given += 1;
        Ok(self.ready.get(self.given - 1).copied())
    }

    /// The number of events in memory.
    #[cfg(all(test, not(loom)))]
    pub(super) fn buffered(&self) -> usize {
        self.ready.len() - self.given + self.open.len()
    }

    fn take(&mut self, item: Item) {
        let half = self.half.take();
        match (item, half) {
            (Item::Time(nanos), _) => {
                self.close(nanos);
                self.is_first_exact = true;
            }
            (Item::Mark(nanos), _) => self.close(nanos),
            (Item::Event(kind), _) => self.add(kind),
            (Item::Polled { task, source, outcome }, _) => {
                self.add(EventKind::PollStart { task, source });
                self.add(EventKind::PollEnd { task, outcome });
            }
            (Item::SpawnedAt { .. } | Item::Stall { .. } | Item::IdleRounds { .. }, _) => {
                self.half = Some(item);
            }
            (Item::Location(location), Some(Item::SpawnedAt { task })) => {
                // A number that is too large stands for an unknown text.
                let location = u32::try_from(location).unwrap_or(u32::MAX);
                self.add(EventKind::SpawnedAt { task, location: StringId(location) });
            }
            (Item::StallTask(task), Some(Item::Stall { worker, kind })) => {
                self.add(EventKind::Stall { worker, task, kind });
            }
            (
                Item::RoundTimes { nanos, awake_nanos },
                Some(Item::IdleRounds { rounds, searches, seat }),
            ) => {
                self.add(EventKind::IdleRounds { rounds, searches, seat, nanos, awake_nanos });
                self.pass(nanos);
            }
            // The first half was overwritten.
            (Item::Location(_) | Item::StallTask(_) | Item::RoundTimes { .. }, _) => {}
        }
        if self.open.len() >= READ_AHEAD {
            self.close(self.from.unwrap_or(0));
        }
    }

    fn add(&mut self, kind: EventKind) {
        // The exact event itself is at the beginning.
        if !(self.is_first_exact && self.open.is_empty()) {
            self.steps += if self.is_in_poll { POLL_STEP } else { 1 };
        }
        match kind {
            EventKind::PollStart { .. } => self.is_in_poll = true,
            EventKind::PollEnd { .. } => self.is_in_poll = false,
            _ => {}
        }
        self.open.push((kind, self.steps));
    }

    /// The event added last took `nanos`: if it is exact, the next ones are that much later.
    fn pass(&mut self, nanos: u64) {
        let start = self.from.filter(|_| self.is_first_exact && self.open.len() == 1);
        if let Some(start) = start {
            self.close(start);
            self.from = Some(start + nanos);
        }
    }

    /// Gives all open events their times, between the last time and `until`.
    fn close(&mut self, until: u64) {
        // Events before the first time get that time. A clock that goes back is an error.
        let from = self.from.unwrap_or(until);
        let until = until.max(from);
        let last_step = if self.is_in_poll { POLL_STEP } else { 1 };
        let steps = u128::from(self.steps + last_step);
        let mut is_exact = self.is_first_exact;
        for (kind, step) in self.open.drain(..) {
            let passed = u128::from(until - from) * u128::from(step) / steps;
            let at = Duration::from_nanos(from + passed as u64);
            self.ready.push(Event { at, is_exact, lane: self.lane, kind });
            is_exact = false;
        }
        self.steps = 0;
        self.from = Some(until);
        self.is_first_exact = false;
    }
}

/// The words of one lane, with one chunk in memory at a time.
#[derive(Debug)]
struct WordReader<'a> {
    source: &'a Source,
    chunks: slice::Iter<'a, u64>,
    /// The position of the chunk.
    chunk: u64,
    payload: Vec<u8>,
    at: usize,
}

impl WordReader<'_> {
    fn next(&mut self) -> Result<Option<Item>, ReadError> {
        while self.payload.len() < self.at + 8 {
            let Some(chunk) = self.chunks.next() else { return Ok(None) };
            self.chunk = *chunk;
            index::read_payload(self.source, self.chunk, &mut self.payload)?;
            self.at = 0;
        }
        let word = Word(u64_at(&self.payload, self.at));
        self.at += 8;
        let item = word.item();
        item.map(Some).ok_or(ReadError::corrupt(self.chunk, "a word that is no event"))
    }
}
