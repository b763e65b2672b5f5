//! Tests of what is about runtimes and tasks alike.

mod names;
mod tracker;
