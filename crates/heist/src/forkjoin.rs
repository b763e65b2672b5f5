//! Fork-join: closures that may run at the same time, on the workers that run tasks, and may borrow from
//! whoever waits for them. The protocol is told in `forkjoin/README.md`.
//!
//! | module | what |
//! |---|---|
//! | `join` | two closures |
//! | `latch` | whether a job has ended, and who waits for that |
//! | `frame` | a job in the frame of who waits for it |
//! | `wait` | what a worker does until a job has ended that another has |
//! | `outside` | from threads that are no workers |

mod frame;
mod join;
mod latch;
mod outside;
mod wait;

pub use join::{FnContext, join, join_context};
