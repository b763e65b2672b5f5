//! The module `fs`, and what is done in the same way: the standard streams, and the traits of
//! futures-io.

mod file;
mod file_model;
#[cfg(feature = "futures-io")]
mod futures_io;
#[path = "../support/held.rs"]
mod held;
mod paths;
mod stdio;
