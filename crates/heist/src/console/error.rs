//! `StartError`.

use super::Address;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The error of a console that could not be started.
///
/// [`Builder::build`](crate::runtime::Builder::build) returns it inside an [`io::Error`].
///
/// # Examples
///
/// ```
/// use heist::console::{Config, StartError};
///
/// let address: std::net::SocketAddr = "0.0.0.0:0".parse().unwrap();
/// let mut builder = heist::runtime::Builder::new_multi_thread();
/// let error = builder.console(Config::tcp(address)).build().unwrap_err();
/// let why = error.get_ref().unwrap().downcast_ref::<StartError>().unwrap();
/// assert!(matches!(why, StartError::NotLoopback(_)));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The address is not a loopback address, so other machines could connect.
    NotLoopback(SocketAddr),
    /// Another process or runtime already listens there.
    InUse(Address),
    /// The path exists and is not a socket.
    NotASocket(PathBuf),
    /// Other users have access to this directory.
    NotPrivate(PathBuf),
    /// A system call failed.
    Io {
        /// The address on which the console should listen.
        address: Address,
        /// The error of the system call.
        error: io::Error,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NotLoopback(address) => write!(
                f,
                "the console does not listen on {address}, which other machines could reach; use \
                 127.0.0.1 or [::1]"
            ),
            StartError::InUse(address) => write!(
                f,
                "the console cannot listen on {address}: it is in use; choose another address"
            ),
            StartError::NotASocket(path) => write!(
                f,
                "the console cannot listen on {}: the file there is not a socket; remove it, or \
                 choose another path",
                path.display()
            ),
            StartError::NotPrivate(path) => write!(
                f,
                "the console does not listen in {}: the directory is not this user's alone; remove it, \
                 or give it to the user and `chmod 700` it",
                path.display()
            ),
            StartError::Io { address, error } => {
                write!(f, "the console cannot listen on {address}: {error}; choose another place")
            }
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StartError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<StartError> for io::Error {
    fn from(error: StartError) -> Self {
        let kind = match &error {
            StartError::NotLoopback(_) | StartError::NotASocket(_) => io::ErrorKind::InvalidInput,
            StartError::InUse(_) => io::ErrorKind::AddrInUse,
            StartError::NotPrivate(_) => io::ErrorKind::PermissionDenied,
            StartError::Io { error, .. } => error.kind(),
        };
        io::Error::new(kind, error)
    }
}
