//! What can go wrong with time.

use std::fmt;
use std::io;

/// The time of a [`timeout`](super::timeout) is up.
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

/// Why there is no timer. Nothing in heist returns it: it is here for programs that name it.
#[derive(Debug, Clone, Copy)]
pub struct Error(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shutdown,
    AtCapacity,
    Invalid,
}

impl Error {
    /// The runtime has been shut down.
    pub fn shutdown() -> Error {
        Error(Kind::Shutdown)
    }

    /// Whether the runtime has been shut down.
    pub fn is_shutdown(&self) -> bool {
        self.0 == Kind::Shutdown
    }

    /// There are too many timers.
    pub fn at_capacity() -> Error {
        Error(Kind::AtCapacity)
    }

    /// Whether there are too many timers.
    pub fn is_at_capacity(&self) -> bool {
        self.0 == Kind::AtCapacity
    }

    /// The time is too far away.
    pub fn invalid() -> Error {
        Error(Kind::Invalid)
    }

    /// Whether the time is too far away.
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
