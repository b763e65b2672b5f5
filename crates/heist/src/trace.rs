//! The flight recorder: what each worker did last, kept in memory of a fixed size.
//!
//! Any program is recorded if the environment names a file, `HEIST_TRACE=out.trace ./program`; its runtimes then write it at
//! their end, when a task has kept its worker for too long, when one panics, and when the process gets SIGUSR2. A program that wants to
//! say when and where itself calls [`Builder::trace`](crate::runtime::Builder::trace) with a [`Config`], and
//! [`Handle::dump_trace`](crate::runtime::Handle::dump_trace).
//!
//! `heist doctor out.trace` says what is wrong in it, `heist trace convert out.trace` makes a page of it, and [`Trace`] reads it:
//!
//! ```
//! use heist::trace::{Config, EventKind, Trace};
//!
//! let runtime = heist::runtime::Builder::new_multi_thread().trace(Config::new()).build()?;
//! runtime.block_on(runtime.spawn(async {})).unwrap();
//! let mut bytes = Vec::new();
//! runtime.handle().dump_trace_to(&mut bytes)?;
//! let trace = Trace::from_bytes(bytes).unwrap();
//! let mut events = trace.events().unwrap();
//! let is_spawn = |kind| matches!(kind, EventKind::Spawn { .. });
//! assert!(events.any(|event| is_spawn(event.unwrap().kind)));
//! # Ok::<(), std::io::Error>(())
//! ```

// | module | what |
// |---|---|
// | `event` | what is recorded, in the words that a reader gets |
// | `word` | the same in eight bytes, as it stands in rings and files |
// | `format` | the rest of a file: header, chunks, checksums; `FORMAT.md` describes all of it |
// | `writer`, `reader` | files |
// | `config` | what a user asks of the recorder |
// | `ring` | the words that one thread has written last |
// | `draft` | the words that come next, unless they are replaced before |
// | `scribe` | who writes them, and when the clock is read |
// | `recorder` | all of a runtime's |
// | `here` | which of them is a thread's |
// | `wishes` | how a dump is asked for |
// | `dump` | from memory to a file |

mod config;
mod draft;
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
pub use event::{
    Aside, Event, EventKind, Lane, Outcome, PollSource, Resource, StallKind, StringId, TaskId,
};
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
