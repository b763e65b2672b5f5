//! Fork-join: closures that may run at the same time, on the workers that run tasks, and may borrow
//! from the thread that waits for them. `forkjoin/README.md` specifies the protocol.
//!
//! | module | what |
//! |---|---|
//! | `join` | two closures |
//! | `scope` | any number of closures, and the count of them |
//! | `job_handle` | a closure that may outlive its spawner, awaited or waited for |
//! | `broadcast` | a closure for each worker |
//! | `on_runtime` | all of these on a given runtime |
//! | `frame`, `heap` | a job in the frame of its join, and in a block of its own |
//! | `deque_view` | a worker's deque as fork-join uses it |
//! | `latch` | whether a job has ended, and whether its owner sleeps |
//! | `wait`, `waiter` | what a worker does while it waits, and how a waiting thread is woken |
//! | `outside` | fork-join from threads that are not workers |

mod broadcast;
mod deque_view;
mod frame;
mod heap;
mod job_handle;
mod join;
mod latch;
mod on_runtime;
mod outside;
mod scope;
mod wait;
mod waiter;

pub use broadcast::{BroadcastContext, broadcast};
pub use job_handle::{JobHandle, spawn_job};
pub use join::{FnContext, join, join_context};
#[allow(deprecated, reason = "the old name of current_thread_index")]
pub use on_runtime::current_worker_index;
pub use on_runtime::{Yield, current_num_workers, current_thread_index};
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
