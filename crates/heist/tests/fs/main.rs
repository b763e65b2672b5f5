//! The module `fs`.

mod file;
mod file_model;
#[path = "../support/held.rs"]
mod held;
mod paths;
