//! Fork-join: closures that may run at the same time, on the workers that run tasks, and may borrow from
//! whoever waits for them. The protocol is told in `forkjoin/README.md`.
//!
//! | module | what |
//! |---|---|
//! | `join` | two closures |
//! | `latch` | whether a job has ended, and who waits for that |
//! | `frame` | a job in the frame of who waits for it |
//! | `deque_view` | what all of them do with a worker's deque |
//! | `heap` | a job in a block of its own |
//! | `scope`, `tally`, `count` | any number of closures, and how they are counted |
//! | `job_handle` | a closure that may outlive its spawner, awaited or waited for |
//! | `broadcast` | a closure for each worker |
//! | `on_runtime` | all of it on a runtime of one's choice |
//! | `waiter` | who waits for a job, and how that one is woken |
//! | `wait` | what a worker does until a job has ended that another has |
//! | `outside` | from threads that are no workers |

mod broadcast;
mod count;
mod deque_view;
mod frame;
mod heap;
mod job_handle;
mod join;
mod latch;
mod on_runtime;
mod outside;
mod scope;
mod tally;
mod wait;
mod waiter;

pub use broadcast::{BroadcastContext, broadcast};
pub use job_handle::{JobHandle, spawn_job};
pub use join::{FnContext, join, join_context};
#[allow(deprecated, reason = "the old name of current_thread_index")]
pub use on_runtime::current_worker_index;
pub use on_runtime::{Yield, current_num_workers, current_thread_index};
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
