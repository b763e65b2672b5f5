//! Reading a trace.
//!
//! | module | contents |
//! |---|---|
//! | `source` | a file, or bytes in memory |
//! | `index` | the chunks of a trace; its texts and names |
//! | `lane` | the events of one lane, with their times |
//! | `merge` | the events of all lanes, in the order of time |

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

/// An open trace.
///
/// Its texts, names and index are in memory. Events are read as they are requested, so a file may
/// be larger than memory. A file that was cut off after its header is read as far as it goes; see
/// [`is_truncated`](Trace::is_truncated).
///
/// # Examples
///
/// ```
/// use heist::trace::{Config, EventKind, Lane, Trace};
///
/// let rt = heist::runtime::Builder::new_multi_thread().trace(Config::new()).build()?;
/// rt.block_on(rt.spawn(async {}))?;
/// let mut bytes = Vec::new();
/// rt.handle().dump_trace_to(&mut bytes)?;
///
/// let trace = Trace::from_bytes(bytes)?;
/// assert_eq!(trace.pid(), std::process::id());
/// let mut polls = 0;
/// for event in trace.events()? {
///     polls += usize::from(matches!(event?.kind, EventKind::PollStart { .. }));
/// }
/// assert_eq!(polls, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Trace {
    source: Source,
    header: Header,
    index: Index,
}

impl Trace {
    /// Opens a trace file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or is not a trace. Damaged events are reported
    /// when they are read.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use heist::trace::{Config, Trace};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("out.trace");
    /// let rt = Builder::new_multi_thread().worker_threads(2).trace(Config::new()).build()?;
    /// rt.handle().dump_trace(&path)?;
    /// let trace = Trace::open(&path)?;
    /// assert_eq!(trace.pid(), std::process::id());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Trace::new(Source::file(File::open(path)?)?)
    }

    /// Opens a trace in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a trace; see [`Trace::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, ReadError> {
        Trace::new(Source::Bytes(bytes))
    }

    fn new(source: Source) -> Result<Self, ReadError> {
        let (header, index) = index::read(&source)?;
        Ok(Trace { source, header, index })
    }

    /// Returns all events in the order of time. Events of one lane keep their order.
    ///
    /// # Errors
    ///
    /// Returns an error if the beginning of a lane cannot be read. Later errors are items of the
    /// iterator, which then ends.
    pub fn events(&self) -> Result<Events<'_>, ReadError> {
        Events::new(self.lanes().map(|lane| self.lane(lane)))
    }

    /// Returns the events of one lane, or none if the trace has no such lane.
    ///
    /// # Errors
    ///
    /// Returns errors like [`Trace::events`].
    pub fn lane_events(&self, lane: Lane) -> Result<Events<'_>, ReadError> {
        Events::new([self.lane(lane)])
    }

    fn lane(&self, lane: Lane) -> lane::LaneReader<'_> {
        lane::LaneReader::new(&self.source, lane, self.index.chunks(lane))
    }

    /// Returns the lanes that have events: workers by index, then `Outside`.
    pub fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.index.lanes()
    }

    /// Returns a text of the trace, or `(unknown)` if the trace does not contain it.
    pub fn text(&self, id: StringId) -> &str {
        self.index.text(id).unwrap_or("(unknown)")
    }

    /// Returns the name of a task, if it has one.
    pub fn name(&self, task: TaskId) -> Option<&str> {
        self.index.name(task).map(|id| self.text(id))
    }

    /// Returns the number of workers of the runtime, including spares.
    pub fn workers(&self) -> usize {
        self.header.workers.into()
    }

    /// Returns the number of seats: how many workers can run at the same time.
    pub fn seats(&self) -> usize {
        self.header.seats.into()
    }

    /// Returns the wall-clock time at which the recorder started, from which the times of events
    /// count.
    pub fn started(&self) -> SystemTime {
        self.header.started
    }

    /// Returns the name of the program.
    pub fn program(&self) -> &str {
        &self.header.program
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.header.pid
    }

    /// Returns the number of events of a lane that were overwritten before the trace was written.
    pub fn lost(&self, lane: Lane) -> u64 {
        self.index.lost(lane)
    }

    /// Returns whether the file was cut off. The part that exists is intact.
    pub fn is_truncated(&self) -> bool {
        self.index.is_truncated()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
