//! Reading a trace.
//!
//! | module | what |
//! |---|---|
//! | `source` | a file, or bytes in memory |
//! | `index` | which chunks there are; texts and names |
//! | `lane` | the events of one lane, with their times |
//! | `merge` | those of all lanes, in the order of time |

mod index;
mod lane;
mod merge;
mod source;

pub use merge::Events;

use super::error::ReadError;
use super::event::{Lane, StringId, TaskId};
use super::format::Header;
use index::Index;
use source::Source;
use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// A trace that was opened. Texts, names and where things are have been read; events are read
/// while they are asked for, so that a file may be larger than memory.
///
/// A file that was cut anywhere behind its header is read as far as it goes, see
/// [`is_truncated`](Trace::is_truncated).
#[derive(Debug)]
pub struct Trace {
    source: Source,
    header: Header,
    index: Index,
}

impl Trace {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read or is no trace. Damage to events shows later, when they are read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Trace::new(Source::file(File::open(path)?)?)
    }

    /// A trace in memory.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ReadError> {
        Trace::new(Source::Bytes(bytes))
    }

    fn new(source: Source) -> Result<Self, ReadError> {
        let (header, index) = index::read(&source)?;
        Ok(Trace { source, header, index })
    }

    /// All events in the order of time; those of one lane stay in their order.
    ///
    /// # Errors
    /// If the beginning of a lane cannot be read. What comes later shows as an item of the
    /// iterator, which is then its last.
    pub fn events(&self) -> Result<Events<'_>, ReadError> {
        Events::new(self.lanes().map(|lane| self.lane(lane)))
    }

    /// The events of one lane; none if the trace has no such lane.
    ///
    /// # Errors
    /// As [`Trace::events`].
    pub fn lane_events(&self, lane: Lane) -> Result<Events<'_>, ReadError> {
        Events::new([self.lane(lane)])
    }

    fn lane(&self, lane: Lane) -> lane::LaneReader<'_> {
        lane::LaneReader::new(&self.source, lane, self.index.chunks(lane))
    }

    /// The lanes that have events: workers by their numbers, then `Outside`.
    pub fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.index.lanes()
    }

    /// A text of the trace; `(unknown)` if the trace has none of that number.
    pub fn text(&self, id: StringId) -> &str {
        self.index.text(id).unwrap_or("(unknown)")
    }

    /// The name that a task was given.
    pub fn name(&self, task: TaskId) -> Option<&str> {
        self.index.name(task).map(|id| self.text(id))
    }

    /// How many workers the runtime has, spares included.
    pub fn workers(&self) -> usize {
        self.header.workers.into()
    }

    /// How many of them can work at a time.
    pub fn seats(&self) -> usize {
        self.header.seats.into()
    }

    /// The wall clock when the recorder began: the times of events count from here.
    pub fn started(&self) -> SystemTime {
        self.header.started
    }

    /// The program's name.
    pub fn program(&self) -> &str {
        &self.header.program
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.header.pid
    }

    /// How many events of a lane were overwritten before the trace was written.
    pub fn lost(&self, lane: Lane) -> u64 {
        self.index.lost(lane)
    }

    /// Whether the file ends before its end was written. What is there is whole.
    pub fn is_truncated(&self) -> bool {
        self.index.is_truncated()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
