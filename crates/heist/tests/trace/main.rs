//! The flight recorder. What a process has one of is apart: the allocator in `trace_files.rs`,
//! signals in `trace_triggers.rs`.

mod aside;
mod recorder;
mod replay;
mod versions;
