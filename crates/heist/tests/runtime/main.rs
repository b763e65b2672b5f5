//! Runtimes: how they are built, what runs where and when, and how they shut down.

mod bad_input;
mod current_thread;
mod drop_hostile;
mod drop_places;
mod drop_waits;
mod ids_and_callbacks;
mod scheduling;
mod shutdown_locks;
mod shutdown_waits;
#[path = "../support/mod.rs"]
mod support;
mod thread_end;
mod thread_per_core;
