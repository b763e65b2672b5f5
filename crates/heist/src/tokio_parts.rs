//! Re-exports of the tokio crate without its runtime: channels and locks, the I/O traits and their
//! helpers, and macros that combine futures. None of them depends on a runtime, and sharing the
//! traits makes heist work with crates that use them.

pub use tokio::{join, pin, select, try_join};

/// Channels and locks for tasks: those of the tokio crate.
///
/// They work in every runtime. In two ways they are at home in Tokio's own only: built without it,
/// as here, that crate cannot be told of another one.
///
/// - What blocks a thread (`blocking_recv`, `blocking_send`, `blocking_lock`, `blocking_read`,
///   `blocking_write`, `blocking_acquire` …) does not panic when it is called from a task of heist,
///   as it does from a task of Tokio: it blocks the worker. Await instead, or call it in
///   [`spawn_blocking`](crate::task::spawn_blocking).
/// - They spend the budget of Tokio's tasks, which is without limit here, not that of
///   [`task::coop`](crate::task::coop). A task that always finds a message goes on until it waits
///   for something else. In a loop that may never wait, call
///   [`consume_budget`](crate::task::consume_budget).
pub mod sync {
    pub use tokio::sync::*;
}

/// What [`io`](crate::io) has from the tokio crate.
pub mod io {
    pub use tokio::io::*;
}
