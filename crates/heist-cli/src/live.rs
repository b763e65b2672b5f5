//! Talking to the consoles of running programs.
//!
//! | module | what |
//! |---|---|
//! | `error` | what can go wrong, and what to do about it |
//! | `find` | which consoles there are |
//! | `http` | one request, one answer |
//! | `snapshot` | what a console says, as types |
//!
//! `crates/heist/src/console/README.md` specifies what consoles serve.

mod error;
mod find;
mod http;
mod snapshot;

pub use error::LiveError;
pub use find::Endpoint;
pub use snapshot::{
    Bucket, Histograms, RunningTask, Runtime, Snapshot, Stall, StallCause, Task, TaskState, Worker,
    WorkerState,
};

use std::fmt;
use std::io::Write;

/// Which tasks a snapshot is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The maximum number of tasks; a console sends at most 4096.
    pub tasks: usize,
    /// Which come first.
    pub sort: Sort,
    /// Selects tasks whose name or spawn location contains this text.
    pub filter: String,
}

impl Default for Query {
    fn default() -> Self {
        Query { tasks: 100, sort: Sort::Busy, filter: String::new() }
    }
}

/// Which tasks come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Those with the longest polls in all.
    #[default]
    Busy,
    /// Those with the most polls.
    Polls,
    /// Those that waited for a worker longest, in all.
    Delay,
    /// The oldest.
    Id,
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sort::Busy => "busy",
            Sort::Polls => "polls",
            Sort::Delay => "delay",
            Sort::Id => "id",
        })
    }
}

impl Endpoint {
    /// What the runtime does right now.
    ///
    /// # Errors
    /// If the console does not answer, or not as one of this version does.
    pub fn snapshot(&self, query: &Query) -> Result<Snapshot, LiveError> {
        let Query { tasks, sort, filter } = query;
        let filter = http::encode(filter);
        let target = format!("/v1/snapshot?tasks={tasks}&sort={sort}&filter={filter}");
        let body = http::get_text(self, &target)?;
        snapshot::parse(self, &body)
    }

    /// Writes what the flight recorder has to a file or the like; how many bytes that was.
    ///
    /// # Errors
    /// If the console does not answer, the runtime records nothing, or `out` cannot be written to.
    pub fn trace(&self, out: &mut impl Write) -> Result<u64, LiveError> {
        http::get(self, "/v1/trace", out)
    }
}
