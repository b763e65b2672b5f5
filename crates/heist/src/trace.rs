//! The flight recorder: what each worker did last, kept in memory of a fixed size.
//!
//! | module | what |
//! |---|---|
//! | `event` | what is recorded, in the words that a reader gets |
//! | `word` | the same in eight bytes, as it stands in rings and files |
//! | `format` | the rest of a file: header, chunks, checksums; `FORMAT.md` describes all of it |
//! | `writer`, `reader` | files |
mod error;
mod event;
mod format;
mod reader;
mod word;
mod writer;

pub use error::ReadError;
pub use event::{Event, EventKind, Lane, Outcome, PollSource, StallKind, StringId, TaskId};
pub use format::Header;
pub use reader::{Events, Trace};
pub use writer::Writer;
