//! A work-stealing runtime: async tasks, blocking closures and fork-join jobs on one set of
//! workers.
//!
//! The names, signatures and meanings are Tokio's wherever they make sense, so that a program
//! moves over with one line in its manifest: `tokio = { package = "heist", … }`.
//!
//! ```
//! #[heist::main]
//! async fn main() {
//!     let tasks: Vec<_> = (0..100).map(|n: u64| heist::spawn(async move { n * n })).collect();
//!     let mut sum = 0;
//!     for task in tasks {
//!         sum += task.await.unwrap();
//!     }
//!     assert_eq!(sum, 328_350);
//! }
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`runtime`] | building, entering and shutting down runtimes; what they count ([`runtime::RuntimeMetrics`]) |
//! | [`task`] | spawning, waiting, aborting, yielding |
//! | [`join`](fn@join), [`scope`](fn@scope), [`spawn_job`] | fork-join: closures that run at the same time and may borrow |
//! | [`par`] | loops over slices and ranges |
//! | [`time`] | waiting for a moment, for so long, at most so long, again and again |
//! | [`net`] | sockets, pipes, and the lookup of names |
//! | [`fs`] | files and directories |
//! | [`io`] | the traits of I/O and their helpers, from the tokio crate; standard input and output |
//! | [`process`], [`signal`] | child processes; signals of the system |
//! | [`console`] | what a running program tells about its runtime, to `heist top`, Prometheus and others |
//! | [`trace`] | a flight recorder: what each worker did last, dumped to a file and read from it |
//! | [`sync`] | channels and locks, from the tokio crate without its runtime |
//!
//! # Features
//!
//! | feature | what |
//! |---|---|
//! | `futures-io` | `io::compat`: wrappers to and from the I/O traits of the futures-io crate |
//! | `tracing` | warnings are events of the tracing crate: those of stalls, and what is else said on stderr |
//! | `test-util` | clocks that tests stop and move on: `time::pause`, `time::advance`, `time::resume` |
//! | `hyper`, `quinn` | what hyper and quinn ask of a runtime, in modules of the same names |
//! | `tokio-context` | crates that call Tokio's runtime find one: `Builder::enable_tokio_context` |
//! | `fs`, `full`, `io-std`, `io-uring`, `io-util`, `macros`, `net`, `parking_lot`, `process`, `rt`, `rt-multi-thread`, `schedule-latency`, `signal`, `sync`, `taskdump`, `time` | Tokio's names, accepted so that the one line in the manifest is all there is to change. They switch nothing on or off: what heist has is there without them |
//!
//! Not promised are which worker runs a task that is not pinned to one (NP1), the order in which
//! tasks run (NP2), how long a runnable task waits for a thief (NP3), that a single attempt to
//! steal succeeds (NP4), and the number of OS threads (NP5).
#![warn(missing_docs)]

mod canary;
pub mod console;
mod env;
mod forkjoin;
pub mod fs;
#[cfg(feature = "hyper")]
pub mod hyper;
pub mod io;
mod metrics;
pub mod net;
pub mod par;
pub mod process;
#[cfg(feature = "quinn")]
pub mod quinn;
mod reactor;
pub mod runtime;
mod scheduler;
pub mod signal;
mod stall;
/// Spawning tasks, waiting for them, and cancelling them.
pub mod task {
    pub use crate::forkjoin::spawn_job;
    #[doc(inline)]
    pub use crate::runtime::join_set::JoinSet;
    pub use crate::runtime::local_set::{LocalEnterGuard, LocalSet, spawn_local};
    pub use crate::runtime::task_builder::Builder;
    pub use crate::runtime::{block_in_place, spawn, spawn_blocking, spawn_pinned};
    pub use crate::task_core::*;

    /// A set of tasks, awaited in the order in which they end.
    pub mod join_set {
        pub use crate::runtime::join_set::{Builder, JoinSet};
    }
}
// `task/` is the layer below the scheduler; the public module `task` also has what needs a runtime.
#[path = "task/mod.rs"]
mod task_core;
pub mod time;
mod tokio_parts;
pub mod trace;

#[allow(deprecated, reason = "the old name of current_thread_index")]
pub use forkjoin::current_worker_index;
pub use forkjoin::{
    BroadcastContext, FnContext, JobHandle, Scope, ScopeFifo, Yield, broadcast,
    current_num_workers, current_thread_index, in_place_scope, in_place_scope_fifo, join,
    join_context, scope, scope_fifo, spawn_job,
};
pub use heist_macros::{main, test};
pub use task::spawn;
pub use tokio_parts::{join, pin, select, sync, try_join};
