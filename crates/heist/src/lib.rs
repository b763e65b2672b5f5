//! A work-stealing runtime for async tasks, blocking closures and fork-join jobs.
//!
//! All of them run on one set of workers. A task that blocks or computes for long stalls only the
//! tasks pinned to its worker: after about 10 ms a spare thread takes the worker's place. Names,
//! signatures and semantics are Tokio's where both have the same feature, so a program can switch
//! with one line in its manifest: `tokio = { package = "heist", … }`.
//!
//! # Examples
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
//! A task can fork and join on the same workers:
//!
//! ```
//! #[heist::main]
//! async fn main() {
//!     let numbers: Vec<u64> = (0..100_000).collect();
//!     let (left, right) = numbers.split_at(50_000);
//!     let (a, b) = heist::join(|| left.iter().sum::<u64>(), || right.iter().sum::<u64>());
//!     assert_eq!(a + b, 4_999_950_000);
//! }
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`runtime`] | building, entering and shutting down runtimes; metrics ([`runtime::RuntimeMetrics`]) |
//! | [`task`] | spawning, joining and aborting tasks; task-locals; cooperative scheduling |
//! | [`join`](fn@join), [`scope`](fn@scope), [`spawn_job`] | fork-join: closures that run in parallel and may borrow |
//! | [`par`] | parallel loops over slices and ranges, and a parallel sort |
//! | [`time`] | sleeps, timeouts, intervals |
//! | [`net`] | TCP, UDP and Unix sockets, pipes, and DNS lookups |
//! | [`fs`] | files and directories |
//! | [`io`] | the async I/O traits and helpers of the tokio crate; standard input and output |
//! | [`process`], [`signal`] | child processes; Unix signals |
//! | [`console`] | live inspection of a running program, by `heist top`, Prometheus and others |
//! | [`trace`] | a flight recorder of what each worker did last, written to a file and read from it |
//! | [`sync`] | channels and locks, from the tokio crate without its runtime |
//!
//! # Features
//!
//! | feature | effect |
//! |---|---|
//! | `futures-io` | adds `io::compat`: adapters to and from the I/O traits of the futures-io crate |
//! | `tracing` | warnings and stall reports are events of the tracing crate instead of lines on stderr |
//! | `test-util` | adds `time::pause`, `time::advance` and `time::resume`, for tests that control the clock |
//! | `hyper`, `quinn` | adds the modules `hyper` and `quinn`, which implement those crates' runtime traits |
//! | `tokio-context` | lets crates that call Tokio's runtime work on heist: `Builder::enable_tokio_context` |
//! | `fs`, `full`, `io-std`, `io-uring`, `io-util`, `macros`, `net`, `parking_lot`, `process`, `rt`, `rt-multi-thread`, `schedule-latency`, `signal`, `sync`, `taskdump`, `time` | none: these are Tokio's feature names, accepted so that a manifest needs no other change |
//!
//! # Not guaranteed
//!
//! The worker that runs a task that is not pinned (NP1), the order in which tasks run (NP2), how
//! long a runnable task waits for a thief (NP3), that a single attempt to steal succeeds (NP4), and
//! the number of OS threads (NP5).
#![warn(missing_docs)]

mod canary;
pub mod console;
mod env;
mod forkjoin;
pub mod fs;
#[cfg(feature = "hyper")]
pub mod hyper;
pub mod io;
mod memory;
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
pub mod task {
    //! Spawning, joining and cancelling tasks.
    //!
    //! A task is a future that runs on its own, in parallel with others. [`spawn`] starts one and
    //! returns a [`JoinHandle`], which can be awaited for its output.
    //!
    //! | function | what it starts |
    //! |---|---|
    //! | [`spawn`] | a task, which may move between workers |
    //! | [`spawn_pinned`] | a task that stays on one worker, and need not be `Send` |
    //! | [`spawn_local`] | a task in a [`LocalSet`], on the current thread |
    //! | [`spawn_blocking`] | a closure that blocks, on a thread of its own |
    //! | [`spawn_job`] | a closure that computes, on a worker |
    //! | [`block_in_place`] | a closure that blocks, on the current thread, while a spare takes over |
    //!
    //! # Examples
    //!
    //! ```
    //! # #[heist::main]
    //! # async fn main() {
    //! let task = heist::task::spawn(async { 6 * 7 });
    //! assert_eq!(task.await.unwrap(), 42);
    //! # }
    //! ```
    //!
    //! # Cancellation
    //!
    //! [`JoinHandle::abort`] and [`AbortHandle::abort`] cancel a task: it is not polled again, its
    //! future is dropped, and its handle returns a [`JoinError`] for which
    //! [`is_cancelled`](JoinError::is_cancelled) is true. Dropping a `JoinHandle` does not cancel
    //! the task; dropping a [`JoinSet`] cancels all of its tasks. Shutting down a runtime cancels
    //! the tasks that are left.

    pub use crate::forkjoin::spawn_job;
    #[doc(inline)]
    pub use crate::runtime::join_set::JoinSet;
    pub use crate::runtime::local_set::{LocalEnterGuard, LocalSet, spawn_local};
    pub use crate::runtime::task_builder::Builder;
    pub use crate::runtime::{block_in_place, spawn, spawn_blocking, spawn_pinned};
    pub use crate::task_core::*;

    /// [`JoinSet`], a collection of tasks, and its task builder.
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
mod tuning;

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
