//! Memory for tasks and jobs, used again.
//!
//! | module | what |
//! |---|---|
//! | `magazines` | blocks for tasks, and for jobs that no scope spawns: per thread and size |
//! | `arena` | blocks for the jobs of scopes: per worker, in the order of its deque |
//!
//! `docs/decisions/018-two-block-allocators.md` says why there are two.

/// Layout: the size of the largest blocks. Larger tasks and jobs are few, and cost more than their
/// memory.
const LARGEST: usize = 512;

mod arena;
mod magazines;

pub(crate) use arena::Arena;
pub(crate) use magazines::{allocate, free, prefetch};
