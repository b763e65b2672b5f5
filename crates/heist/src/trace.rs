//! The flight recorder: what each worker did last, kept in memory of a fixed size.
//!
//! | module | what |
//! |---|---|
//! | `event` | what is recorded, in the words that a reader gets |
mod event;

pub use event::{Event, EventKind, Lane, Outcome, PollSource, StallKind, StringId, TaskId};
