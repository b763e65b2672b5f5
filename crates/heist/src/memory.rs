//! Memory for tasks and jobs, used again.
//!
//! | module | what |
//! |---|---|
//! | `magazines` | blocks for tasks, and for jobs that no scope spawns: per thread and size |
//! | `arena` | blocks for the jobs of scopes: per worker, in the order of its deque |
//!
//! `docs/decisions/018-two-block-allocators.md` says why there are two.

mod arena;
mod magazines;

pub(crate) use arena::Arena;
pub(crate) use magazines::{allocate, free, prefetch};
