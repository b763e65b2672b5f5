//! `Address`: where a console listens. The scheduler keeps it, and the console is above that.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The address of a console.
///
/// # Examples
///
/// ```
/// use heist::console::{Address, Config};
/// use heist::runtime::Builder;
///
/// let config = Config::tcp(([127, 0, 0, 1], 0));
/// let rt = Builder::new_multi_thread().console(config).build().unwrap();
/// assert!(matches!(rt.handle().console_address(), Some(Address::Tcp(_))));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Address {
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// A TCP address.
    Tcp(SocketAddr),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => path.display().fmt(f),
            Address::Tcp(address) => address.fmt(f),
        }
    }
}
