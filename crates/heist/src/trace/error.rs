//! `ReadError`.

use super::format::{OLDEST, VERSION};
use std::error::Error;
use std::fmt;
use std::io;

/// The error of reading a trace.
///
/// # Examples
///
/// ```
/// use heist::trace::{ReadError, Trace};
///
/// let error = Trace::from_bytes(b"something else".to_vec()).unwrap_err();
/// assert!(matches!(error, ReadError::NotATrace));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be opened or read.
    Io(io::Error),
    /// The file is not a trace.
    NotATrace,
    /// The trace has another version of the format.
    Version {
        /// The version of the trace.
        found: u16,
    },
    /// The trace is damaged. A file that is merely cut off at its end is not an error.
    Corrupt {
        /// The position of the damage in the file, in bytes.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
}

impl ReadError {
    pub(super) fn corrupt(offset: u64, what: &'static str) -> Self {
        ReadError::Corrupt { offset, what }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => error.fmt(f),
            ReadError::NotATrace => f.write_str(
                "not a heist trace: record one with HEIST_TRACE=file or Handle::dump_trace",
            ),
            ReadError::Version { found } => write!(
                f,
                "a trace of format version {found}, and this program reads {OLDEST} to {VERSION}: use \
                 the heist program of the version that recorded it"
            ),
            ReadError::Corrupt { offset, what } => {
                write!(f, "the trace is damaged at byte {offset}: {what}; copy or record it again")
            }
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ReadError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}
