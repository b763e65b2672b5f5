//! Re-exports of the tokio crate without its runtime: channels and locks, the I/O traits and their
//! helpers, and macros that combine futures. None of them depends on a runtime, and sharing the
//! traits makes heist work with crates that use them.

pub use tokio::{join, pin, select, try_join};

/// Channels and locks for tasks: those of the tokio crate.
///
/// They work in every runtime. Two behaviours differ, because the crate is built without its
/// runtime:
///
/// - Methods that block (`blocking_recv`, `blocking_send`, `blocking_lock`, `blocking_read`,
///   `blocking_write`, `blocking_acquire` …) do not panic in a task of heist, as they do in a task
///   of Tokio: they block the worker. Await instead, or call them in
///   [`spawn_blocking`](crate::task::spawn_blocking).
/// - Operations use the budget of Tokio's tasks, which is unlimited here, not that of
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
