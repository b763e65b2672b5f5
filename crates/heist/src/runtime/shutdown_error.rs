//! The error of what needs a runtime that is gone.

use std::error::Error;
use std::fmt;
use std::io;

/// Whether an operation failed because the runtime that it needs has been shut down. Other errors,
/// those of cancelled tasks included, are none of these.
///
/// ```
/// let other = std::io::Error::other("the disk is full");
/// assert!(!heist::runtime::is_rt_shutdown_err(&other));
/// ```
pub fn is_rt_shutdown_err(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<ShutDown>())
}

/// What a resource returns whose runtime has been shut down.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_known_by_its_type_not_by_its_words() {
        assert!(is_rt_shutdown_err(&ShutDown.into()));
        assert!(!is_rt_shutdown_err(&io::Error::other(ShutDown.to_string())));
        assert!(!is_rt_shutdown_err(&io::ErrorKind::Other.into()));
    }
}
