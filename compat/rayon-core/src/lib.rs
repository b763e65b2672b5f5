//! `rayon-core`, with all of its names, on heist's workers.
//!
//! One line in a program's manifest puts rayon, and every crate that uses it, on heist:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { git = "…" } # or a path
//! ```
//!
//! Jobs then run on the workers of the heist runtime that calls, or of heist's global one; so a
//! program with tasks and jobs has one set of threads. A [`ThreadPool`] is a runtime of its own,
//! with the threads that it was asked for and no others. The README says what differs from rayon's
//! own.
//!
//! ```
//! fn sum(numbers: &[u64]) -> u64 {
//!     match numbers {
//!         [] => 0,
//!         [number] => *number,
//!         _ => {
//!             let (left, right) = numbers.split_at(numbers.len() / 2);
//!             let (left, right) = rayon_core::join(|| sum(left), || sum(right));
//!             left + right
//!         }
//!     }
//! }
//! assert_eq!(sum(&(0..1000).collect::<Vec<_>>()), 499_500);
//! ```

mod broadcast;
mod builder;
mod configuration;
mod error;
mod global;
mod join;
mod member;
mod panics;
mod pool;
mod scope;
mod spawn;
mod thread_pool;
mod yielding;

pub use broadcast::{BroadcastContext, broadcast, spawn_broadcast};
pub use builder::{ThreadBuilder, ThreadPoolBuilder};
#[allow(deprecated)]
pub use configuration::{Configuration, initialize};
pub use error::ThreadPoolBuildError;
pub use heist::FnContext;
pub use join::{join, join_context};
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
pub use spawn::{spawn, spawn_fifo};
pub use thread_pool::{
    ThreadPool, current_num_threads, current_thread_has_pending_tasks, current_thread_index,
};
pub use yielding::{Yield, yield_local, yield_now};

/// The maximum number of threads of a pool; larger requests get this number.
pub fn max_num_threads() -> usize {
    // What heist's idle protocol can count, and `Builder::worker_threads` accepts.
    (1 << 15) - 1
}
