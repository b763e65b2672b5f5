//! The scheduler: workers, their queues, and how they wake each other.
//!
//! | module | what |
//! |---|---|
//! | `run_loop` | what a worker does next |
//! | `worker` | a thread's queues, its search and its hold on a seat |
//! | `seats` | the right to run, and where a worker sleeps |
//! | `spares` | workers that take the seats of those that are stuck or blocked |
//! | `remotes` | the part of each worker that other threads see |
//! | `slot` | the LIFO slot |
//! | `sysmon` | the thread that finds workers that are stuck |
//! | `inject` | the inject queue: tasks from outside, and overflow |
//! | `jobs` | jobs, and the queue for those from outside |
//! | `pace` | how often a worker looks at the inject queue |
//! | `help` | when a worker calls another for the tasks in its ring |
//! | `idle` | which workers sleep and search, and which is woken |
//! | `wake` | waking a worker for a new task or job |
//! | `pinned` | tasks that stay on one worker |
//! | `foreign` | calling wakers that may block |
//! | `waiting` | the list of waiting tasks, for the shutdown |
//! | `blocking` | threads for closures that block |
//! | `closing` | the end of a shutdown: threads that drop what is left |
//! | `refused` | what a shutdown drops: what had not begun, and what comes too late |
//! | `identity` | telling runtimes apart |
//! | `shared` | what all workers of a runtime share |
//! | `metrics` | the state of workers, and sums of their counters |
//! | `trace` | what the scheduler records, and in whose lane |

pub(crate) mod blocking;
mod closing;
mod foreign;
mod help;
mod identity;
mod idle;
mod inject;
mod jobs;
mod metrics;
mod pace;
mod pinned;
mod refused;
mod remotes;
mod run_loop;
mod seats;
mod shared;
mod slot;
mod spares;
mod sysmon;
#[cfg(test)]
mod testing;
mod trace;
mod waiting;
mod wake;
mod worker;

pub use identity::Id;
pub(crate) use identity::Identity;
pub(crate) use idle::MAX_WORKERS;
pub(crate) use jobs::{Header, Job, OfScope, Origin, VTable, empty_job};
pub use metrics::WorkerState;
pub(crate) use refused::{Late, call_when_closed, one_after_the_other};
pub(crate) use run_loop::Step;
pub use shared::RuntimeFlavor;
pub(crate) use shared::{Config, Runnable, Scheduler, Staffing, ThreadBody};
pub(crate) use sysmon::Sysmon;
pub(crate) use worker::{
    Aside, Driven, WokenAside, Worker, deque_here, here, run_direct_job_aside, step_aside,
    try_submit, waiter_aside, with_here, with_here_or_aside, worker_index,
};
