//! A flight recorder: the latest events of each worker, kept in a buffer of fixed size.
//!
//! Any program can be recorded without changes: `HEIST_TRACE=out.trace ./program`. Each runtime
//! then writes its trace when it is shut down, when a stall is detected, when a task panics, and
//! when the process receives `SIGUSR2`. A program that controls this itself calls
//! [`Builder::trace`](crate::runtime::Builder::trace) with a [`Config`], and
//! [`Handle::dump_trace`](crate::runtime::Handle::dump_trace).
//!
//! `heist doctor out.trace` diagnoses a trace, `heist trace convert out.trace` turns it into a web
//! page, and [`Trace`] reads it.
//!
//! # Examples
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

// | module | contents |
// |---|---|
// | `event` | events, as a reader gets them |
// | `word` | events in eight bytes, as in buffers and files |
// | `format` | the rest of a file: header, chunks, checksums; `FORMAT.md` describes all of it |
// | `writer`, `reader` | files |
// | `config` | the user's settings |
// | `buffer` | the latest words of one thread |
// | `draft` | the next words of a thread, while they may still be replaced |
// | `scribe` | writes words to a buffer, and decides when to read the clock |
// | `recorder` | the buffers of a runtime |
// | `here` | the scribe of the current thread |
// | `dump_requests` | requests to write a dump |
// | `dump` | from memory to a file |

mod buffer;
mod config;
mod draft;
mod dump;
mod dump_requests;
mod error;
mod event;
mod format;
mod here;
mod reader;
mod recorder;
mod scribe;
mod word;
mod writer;

pub use config::Config;
pub(crate) use dump::{Subject, to_file};
pub(crate) use dump_requests::{DumpRequest, send};
pub use error::ReadError;
pub use event::{
    Event, EventKind, Lane, OffWorker, Outcome, PollSource, Resource, StallKind, StringId, TaskId,
};
pub use format::Header;
pub(crate) use here::{
    Here, budget_exhausted, enter, is_recording, poll_returned, record_here, run_off_worker,
    spawned_off_worker, task_panicked,
};
pub use reader::{Events, Trace};
pub(crate) use recorder::Recorder;
pub(crate) use scribe::Scribe;
pub use writer::Writer;
