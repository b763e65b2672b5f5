//! Writing a trace.

use super::event::{Event, EventKind, Lane, StringId, TaskId};
use super::format::{self, ChunkHead, Header, MAX_PAYLOAD, kind};
use super::word::{Item, MAX_NANOS, MAX_ROUND_NANOS, MAX_ROUNDS, MAX_TASK, Word, Words};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::mem;

/// The number of events without a time that are written in a row; readers read no further ahead.
const UNTIMED: usize = 1024;

/// Writes a trace. The recorder uses it, and tests and tools that make up traces.
///
/// A trace without [`finish`](Writer::finish) is a truncated one.
///
/// # Examples
///
/// ```
/// use heist::trace::{Event, EventKind, Header, Lane, TaskId, Trace, Writer};
/// use std::time::{Duration, SystemTime};
///
/// let header = Header {
///     started: SystemTime::now(),
///     program: "example".to_owned(),
///     pid: 1,
///     workers: 1,
///     seats: 1,
/// };
/// let event = Event {
///     at: Duration::from_micros(3),
///     is_exact: true,
///     lane: Lane::Worker(0),
///     kind: EventKind::Wake { task: TaskId(7) },
/// };
/// let mut writer = Writer::new(Vec::new(), &header)?;
/// writer.name(TaskId(7), "seventh")?;
/// writer.event(&event)?;
/// let trace = Trace::from_bytes(writer.finish()?)?;
/// assert_eq!(trace.name(TaskId(7)), Some("seventh"));
/// let events: Result<Vec<Event>, _> = trace.events()?.collect();
/// assert_eq!(events?, [event]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Writer<W> {
    out: W,
    lanes: BTreeMap<u16, LaneBuffer>,
    strings: HashMap<Box<str>, StringId>,
    /// Payloads that were not written yet.
    new_strings: Vec<u8>,
    new_names: Vec<u8>,
}

/// The end of a lane, which was not written yet.
#[derive(Debug, Default)]
struct LaneBuffer {
    words: Vec<u8>,
    /// The time of the lane's last event.
    latest: u64,
    /// The number of events since the last time.
    untimed: usize,
    has_time: bool,
}

impl<W: Write> Writer<W> {
    /// Starts a trace by writing its header.
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
    /// let empty = Writer::new(Vec::new(), &header)?.finish()?;
    /// assert_eq!(Trace::from_bytes(empty)?.events()?.count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns errors of `out`.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        out.write_all(&header.to_bytes())?;
        Ok(Writer {
            out,
            lanes: BTreeMap::new(),
            strings: HashMap::new(),
            new_strings: Vec::new(),
            new_names: Vec::new(),
        })
    }

    /// Returns the id of a text, which is the same for equal texts. A text longer than 4096 bytes
    /// is truncated.
    ///
    /// # Errors
    ///
    /// Returns errors of `out`.
    pub fn string(&mut self, text: &str) -> io::Result<StringId> {
        let text = format::cut(text);
        if let Some(known) = self.strings.get(text) {
            return Ok(*known);
        }
        let id = StringId(self.strings.len() as u32);
        if self.new_strings.len() + 2 + text.len() > MAX_PAYLOAD {
            self.write_strings()?;
        }
        self.new_strings.extend((text.len() as u16).to_le_bytes());
        self.new_strings.extend(text.as_bytes());
        self.strings.insert(text.into(), id);
        Ok(id)
    }

    /// Writes the name of a task.
    ///
    /// # Errors
    ///
    /// Returns errors of `out`.
    pub fn name(&mut self, task: TaskId, name: &str) -> io::Result<()> {
        let name = self.string(name)?;
        if self.new_names.len() + 12 > MAX_PAYLOAD {
            self.write_names()?;
        }
        self.new_names.extend(task.0.to_le_bytes());
        self.new_names.extend(name.0.to_le_bytes());
        Ok(())
    }

    /// Writes how many events at the beginning of a lane were overwritten.
    ///
    /// # Errors
    ///
    /// Returns errors of `out`.
    pub fn lost(&mut self, lane: Lane, events: u64) -> io::Result<()> {
        let lane = format::lane_number(lane)?;
        write_chunk(&mut self.out, kind::LOST, lane, &events.to_le_bytes())
    }

    /// Writes the next event of a lane.
    ///
    /// The time is written if it is exact. Otherwise the reader interpolates it between the exact
    /// events around it.
    ///
    /// # Errors
    ///
    /// Returns errors of `out`, and [`io::ErrorKind::InvalidInput`] if the event is earlier than
    /// the one before it in its lane (or than the end of that, for [`EventKind::IdleRounds`]), or
    /// if a number is too large for the format.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let nanos = event.at.as_nanos();
        if nanos > u128::from(MAX_NANOS) || task_of(event.kind).0 > MAX_TASK {
            return Err(invalid(
                "trace::Writer::event: the time or the task's number is too large",
            ));
        }
        let took = length_of(event.kind)?;
        let nanos = nanos as u64;
        let number = format::lane_number(event.lane)?;
        let lane = self.lanes.entry(number).or_default();
        if nanos < lane.latest {
            return Err(invalid("trace::Writer::event: events of a lane go in the order of time"));
        }
        if !event.is_exact && lane.join_poll(event.kind) {
            lane.latest = nanos;
            return Ok(());
        }
        if event.is_exact {
            lane.push(Word::time(nanos));
            lane.untimed = 0;
        } else if !lane.has_time || lane.untimed == UNTIMED {
            lane.push(Word::mark(nanos));
            lane.untimed = 0;
        }
        let (first, second): Words = Word::of(event.kind);
        lane.push(first);
        second.into_iter().for_each(|word| lane.push(word));
        lane.untimed += usize::from(!event.is_exact);
        lane.latest = nanos.saturating_add(took);
        lane.has_time = true;
        self.write_full_lane(number)
    }

    /// Writes the next words of a lane, as the recorder has them, with texts as [`StringId`]s.
    pub(crate) fn words(
        &mut self,
        lane: Lane,
        words: impl IntoIterator<Item = Word>,
    ) -> io::Result<()> {
        let number = format::lane_number(lane)?;
        for word in words {
            let lane = self.lanes.entry(number).or_default();
            lane.push(word);
            if lane.is_full() {
                self.write_full_lane(number)?;
            }
        }
        Ok(())
    }

    /// Writes the rest and the end of the trace. Returns the writer.
    ///
    /// # Errors
    ///
    /// Returns errors of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_strings()?;
        self.write_names()?;
        for (number, mut lane) in mem::take(&mut self.lanes) {
            if lane.untimed > 0 {
                lane.push(Word::mark(lane.latest));
            }
            for payload in lane.words.chunks(MAX_PAYLOAD) {
                write_chunk(&mut self.out, kind::WORDS, number, payload)?;
            }
        }
        write_chunk(&mut self.out, kind::END, 0, &[])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_full_lane(&mut self, number: u16) -> io::Result<()> {
        if !self.lanes.get(&number).is_some_and(LaneBuffer::is_full) {
            return Ok(());
        }
        // A file that is cut has the texts of the events that it has.
        self.write_strings()?;
        if let Some(lane) = self.lanes.get_mut(&number) {
            write_chunk(&mut self.out, kind::WORDS, number, &lane.words[..MAX_PAYLOAD])?;
            lane.words.drain(..MAX_PAYLOAD);
        }
        Ok(())
    }

    fn write_strings(&mut self) -> io::Result<()> {
        write_and_clear(&mut self.out, kind::STRINGS, &mut self.new_strings)
    }

    fn write_names(&mut self) -> io::Result<()> {
        self.write_strings()?;
        write_and_clear(&mut self.out, kind::NAMES, &mut self.new_names)
    }
}

impl LaneBuffer {
    fn push(&mut self, word: Word) {
        self.words.extend(word.0.to_le_bytes());
    }

    /// Keeps the last words, because [`LaneBuffer::join_poll`] may change one.
    fn is_full(&self) -> bool {
        self.words.len() >= MAX_PAYLOAD + 64
    }

    /// Combines the end of a poll with its beginning, if that is the last word.
    fn join_poll(&mut self, kind: EventKind) -> bool {
        let EventKind::PollEnd { task, outcome } = kind else { return false };
        let Some(last) = self.words.len().checked_sub(8) else { return false };
        let word = Word(format::u64_at(&self.words, last));
        match word.item() {
            Some(Item::Event(EventKind::PollStart { task: started, source }))
                if started == task =>
            {
                self.words.truncate(last);
                self.push(Word::polled(task, source, outcome));
                self.untimed += 1;
                true
            }
            _ => false,
        }
    }
}

/// The duration of an event, in nanoseconds.
fn length_of(kind: EventKind) -> io::Result<u64> {
    let EventKind::IdleRounds { rounds, searches, seat, nanos, awake_nanos } = kind else {
        return Ok(0);
    };
    let has_room = rounds.max(searches) <= MAX_ROUNDS
        && nanos.max(awake_nanos) <= MAX_ROUND_NANOS
        && seat != Some(u16::MAX);
    if !has_room {
        return Err(invalid(
            "trace::Writer::event: too many rounds, or too long ones; write them as several events",
        ));
    }
    Ok(nanos)
}

/// The task of an event, or 0 if it has none.
fn task_of(kind: EventKind) -> TaskId {
    match kind {
        EventKind::Spawn { task }
        | EventKind::SpawnedAt { task, .. }
        | EventKind::PollStart { task, .. }
        | EventKind::PollEnd { task, .. }
        | EventKind::Wake { task }
        | EventKind::Stall { task, .. }
        | EventKind::OffWorkerSpawn { task, .. }
        | EventKind::OffWorkerStart { task }
        | EventKind::OffWorkerEnd { task, .. }
        | EventKind::BudgetExhausted { task, .. } => task,
        _ => TaskId(0),
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

fn write_and_clear(out: &mut impl Write, kind: u8, payload: &mut Vec<u8>) -> io::Result<()> {
    if !payload.is_empty() {
        write_chunk(out, kind, 0, payload)?;
        payload.clear();
    }
    Ok(())
}

fn write_chunk(out: &mut impl Write, kind: u8, lane: u16, payload: &[u8]) -> io::Result<()> {
    out.write_all(&ChunkHead::new(kind, lane, payload).to_bytes())?;
    out.write_all(payload)
}
