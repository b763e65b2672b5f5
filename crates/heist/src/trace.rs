//! The flight recorder: what each worker did last, kept in memory of a fixed size.
//!
//! | module | what |
//! |---|---|
//! | `event` | what is recorded, in the words that a reader gets |
//! | `word` | the same in eight bytes, as it stands in rings and files |
//! | `format` | the rest of a file: header, chunks, checksums; `FORMAT.md` describes all of it |
//! | `writer`, `reader` | files |
//! | `config` | what a user asks of the recorder |
//! | `ring` | the words that one thread has written last |
//! | `scribe` | who writes them, and when the clock is read |
//! | `recorder` | all of a runtime's |
//! | `here` | which of them is a thread's |
//! | `wishes` | how a dump is asked for |
//! | `dump` | from memory to a file |
mod config;
mod dump;
mod error;
mod event;
mod format;
mod here;
mod reader;
mod recorder;
mod ring;
mod scribe;
mod wishes;
mod word;
mod writer;

pub use config::Config;
pub(crate) use dump::{Subject, to_file};
pub use error::ReadError;
pub use event::{Aside, Event, EventKind, Lane, Outcome, PollSource, StallKind, StringId, TaskId};
pub use format::Header;
pub(crate) use here::{
    Here, budget_exhausted, enter, is_recording, poll_returned, record_here, run_aside,
    spawned_aside, task_panicked,
};
pub use reader::{Events, Trace};
pub(crate) use recorder::Recorder;
pub(crate) use scribe::Scribe;
pub(crate) use wishes::{Wish, ring};
pub use writer::Writer;
