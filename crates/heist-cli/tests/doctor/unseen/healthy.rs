//! Nothing is wrong with these, either.

mod compute;
mod serve;
mod wait;

use crate::programs::Program;

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Program> {
    serve::ALL.iter().chain(compute::ALL).chain(wait::ALL)
}
