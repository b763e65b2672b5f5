//! Fork-join: joins, scopes, jobs and broadcasts. What needs an allocator of its own is in
//! `forkjoin_memory.rs`.

mod borrowed;
mod closing;
mod edges;
mod fixed;
mod join;
mod loose;
mod par;
mod scarce;
mod scope;
mod turns;
mod two_ends;
mod unrelated;
