//! The error of what needs a runtime that is gone.

use crate::reactor::ShutDown;
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
