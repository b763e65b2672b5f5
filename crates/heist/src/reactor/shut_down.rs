//! The error of operations whose runtime has been shut down.

use std::error::Error;
use std::fmt;
use std::io;

/// The error of a resource whose runtime has been shut down.
#[derive(Debug)]
pub(crate) struct ShutDown;

impl Error for ShutDown {}

impl fmt::Display for ShutDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the runtime that this belongs to has been shut down; keep the Runtime alive for as \
             long as what was made in it is used",
        )
    }
}

impl From<ShutDown> for io::Error {
    fn from(error: ShutDown) -> io::Error {
        io::Error::other(error)
    }
}
