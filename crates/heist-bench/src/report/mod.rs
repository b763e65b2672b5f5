//! What a run leaves behind: a table for people, JSON for programs.

pub mod json;
pub mod table;
