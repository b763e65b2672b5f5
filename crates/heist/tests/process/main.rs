//! Child processes. What is the whole process's is apart: `process_limits.rs`,
//! `process_orphans.rs`, `process_sigchld.rs`.

mod child;
mod command;
mod pipes;
#[path = "../support/mod.rs"]
mod support;
