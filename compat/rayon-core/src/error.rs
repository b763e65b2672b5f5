//! Why a pool cannot be built.

use std::error::Error;
use std::fmt;
use std::io;

/// Why [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build) has failed.
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: ErrorKind,
}

#[derive(Debug)]
pub(crate) enum ErrorKind {
    HasGlobalPool,
    ThreadHasPool,
    NoThread(io::Error),
}

impl From<ErrorKind> for ThreadPoolBuildError {
    fn from(kind: ErrorKind) -> Self {
        ThreadPoolBuildError { kind }
    }
}

// Programs may compare these with what rayon says, so they say the same.
impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::HasGlobalPool => {
                f.write_str("The global thread pool has already been initialized.")
            }
            ErrorKind::ThreadHasPool => {
                f.write_str("The current thread is already part of another thread pool.")
            }
            ErrorKind::NoThread(error) => error.fmt(f),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ErrorKind::HasGlobalPool | ErrorKind::ThreadHasPool => None,
            ErrorKind::NoThread(error) => Some(error),
        }
    }
}
