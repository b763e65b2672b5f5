//! The error of operations whose runtime has been shut down.

use crate::reactor::ShutDown;
use std::io;

/// Returns whether an operation failed because its runtime has been shut down.
///
/// Returns `false` for all other errors, including those of cancelled tasks.
///
/// # Examples
///
/// ```
/// let other = std::io::Error::other("the disk is full");
/// assert!(!heist::runtime::is_rt_shutdown_err(&other));
/// ```
///
/// A socket whose runtime is gone:
///
/// ```
/// use heist::runtime::{self, Runtime};
/// use heist::net::UdpSocket;
///
/// let gone = Runtime::new()?;
/// let socket = gone.block_on(UdpSocket::bind("127.0.0.1:0"))?;
/// drop(gone);
/// let rt = Runtime::new()?;
/// let error = rt.block_on(socket.recv(&mut [0; 8])).unwrap_err();
/// assert!(runtime::is_rt_shutdown_err(&error));
/// # Ok::<(), std::io::Error>(())
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
