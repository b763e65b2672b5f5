//! Runtimes: how they are built, who runs what when, and how they go down.

mod bad_input;
mod current_thread;
mod drop_waits;
mod ids_and_callbacks;
mod scheduling;
mod shutdown_locks;
mod shutdown_waits;
#[path = "../support/mod.rs"]
mod support;
mod thread_end;
mod thread_per_core;
