//! Errors of this module.

use std::fmt;
use std::io;

/// The error of a [`timeout`](super::timeout) that has elapsed.
///
/// # Examples
///
/// ```
/// use heist::time::{Duration, timeout};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = timeout(Duration::ZERO, std::future::pending::<()>()).await.unwrap_err();
/// assert_eq!(error.to_string(), "deadline has elapsed");
/// assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::TimedOut);
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl Elapsed {
    pub(super) fn new() -> Self {
        Elapsed(())
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(_: Elapsed) -> io::Error {
        io::ErrorKind::TimedOut.into()
    }
}

/// An error of a timer. heist never returns it; it exists for programs that name Tokio's type.
///
/// # Examples
///
/// ```
/// use heist::time::error::Error;
///
/// assert!(Error::shutdown().is_shutdown());
/// assert!(!Error::invalid().is_at_capacity());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Error(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shutdown,
    AtCapacity,
    Invalid,
}

impl Error {
    /// Creates the error for a runtime that has been shut down.
    pub fn shutdown() -> Error {
        Error(Kind::Shutdown)
    }

    /// Returns whether the runtime has been shut down.
    pub fn is_shutdown(&self) -> bool {
        self.0 == Kind::Shutdown
    }

    /// Creates the error for too many timers.
    pub fn at_capacity() -> Error {
        Error(Kind::AtCapacity)
    }

    /// Returns whether there are too many timers.
    pub fn is_at_capacity(&self) -> bool {
        self.0 == Kind::AtCapacity
    }

    /// Creates the error for an instant that is too far away.
    pub fn invalid() -> Error {
        Error(Kind::Invalid)
    }

    /// Returns whether the instant is too far away.
    pub fn is_invalid(&self) -> bool {
        self.0 == Kind::Invalid
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Shutdown => "the runtime has been shut down: keep it while its timers are in use",
            Kind::AtCapacity => "there are too many timers: drop some first",
            Kind::Invalid => "the time is too far away: choose an earlier one",
        })
    }
}

impl std::error::Error for Error {}
