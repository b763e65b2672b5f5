//! Addresses of Unix sockets.

use rustix::net::{SocketAddrAny, SocketAddrUnix};
use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net;
use std::path::Path;
use std::{fmt, io};

/// The address of a Unix socket: a path in the file system, a name of its own kind (Linux's abstract
/// names), or nothing.
///
/// ```
/// use heist::net::{UnixListener, UnixStream};
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let name = format!("\0heist-example-{}", std::process::id());
///     let listener = UnixListener::bind(&name)?;
///     let addr = listener.local_addr()?;
///     assert_eq!(addr.as_abstract_name(), Some(&name.as_bytes()[1..]));
///     assert_eq!(addr.as_pathname(), None);
///
///     let client = UnixStream::connect_addr(&addr).await?;
///     assert!(client.local_addr()?.is_unnamed());
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct SocketAddr(pub(super) net::SocketAddr);

impl SocketAddr {
    /// Whether there is none.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_unnamed()
    }

    /// The path, if it is one.
    pub fn as_pathname(&self) -> Option<&Path> {
        self.0.as_pathname()
    }

    /// The abstract name, without the zero that marks it, if it is one.
    pub fn as_abstract_name(&self) -> Option<&[u8]> {
        self.0.as_abstract_name()
    }

    /// The address with this path; or, if it begins with a zero, with the abstract name behind that.
    pub(super) fn from_path(path: &Path) -> io::Result<SocketAddr> {
        match path.as_os_str().as_bytes() {
            [0, name @ ..] => net::SocketAddr::from_abstract_name(name),
            _ => net::SocketAddr::from_pathname(path),
        }
        .map(SocketAddr)
    }

    pub(super) fn to_system(&self) -> io::Result<SocketAddrUnix> {
        Ok(match (self.as_pathname(), self.as_abstract_name()) {
            (Some(path), _) => SocketAddrUnix::new(path)?,
            (_, Some(name)) => SocketAddrUnix::new_abstract_name(name)?,
            _ => SocketAddrUnix::new_unnamed(),
        })
    }

    /// What the system says of a peer. A path without room for a zero at its end, which the standard
    /// library cannot express, counts as none: the peer itself must not be lost for that.
    pub(super) fn from_system(address: Option<SocketAddrAny>) -> io::Result<SocketAddr> {
        let address = address.and_then(|address| SocketAddrUnix::try_from(address).ok());
        let named = address.and_then(|address| {
            let path = address.path_bytes().map(OsStr::from_bytes);
            match (path, address.abstract_name()) {
                (Some(path), _) => net::SocketAddr::from_pathname(path).ok(),
                (_, Some(name)) => net::SocketAddr::from_abstract_name(name).ok(),
                _ => None,
            }
        });
        match named {
            Some(named) => Ok(SocketAddr(named)),
            None => net::SocketAddr::from_pathname("").map(SocketAddr),
        }
    }
}

impl fmt::Debug for SocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<net::SocketAddr> for SocketAddr {
    fn from(address: net::SocketAddr) -> SocketAddr {
        SocketAddr(address)
    }
}

impl From<SocketAddr> for net::SocketAddr {
    fn from(address: SocketAddr) -> net::SocketAddr {
        address.0
    }
}
