//! `SocketAddr`: addresses of Unix sockets.

use rustix::net::SocketAddrUnix;
use socket2::SockAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net;
use std::path::Path;
use std::{fmt, io};

/// The address of a Unix socket: a path in the file system, an abstract name (Linux), or none.
///
/// # Examples
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
    /// Returns whether the socket has no address.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_unnamed()
    }

    /// Returns the path, if the address is one.
    pub fn as_pathname(&self) -> Option<&Path> {
        self.0.as_pathname()
    }

    /// Returns the abstract name without the zero byte that marks it, if the address is one.
    pub fn as_abstract_name(&self) -> Option<&[u8]> {
        self.0.as_abstract_name()
    }

    /// The address with this path; or, if it begins with a zero, with the abstract name behind
    /// that.
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

    pub(super) fn unnamed() -> io::Result<SocketAddr> {
        net::SocketAddr::from_pathname("").map(SocketAddr)
    }

    /// What the system says of a sender. A path without room for a zero at its end, which the
    /// standard library cannot make an address of, counts as none: the datagram must not be lost
    /// for that.
    pub(super) fn of_sender(address: SockAddr) -> io::Result<SocketAddr> {
        let named = match (address.as_pathname(), address.as_abstract_namespace()) {
            (Some(path), _) => net::SocketAddr::from_pathname(path).ok(),
            (_, Some(name)) => net::SocketAddr::from_abstract_name(name).ok(),
            _ => None,
        };
        named.map_or_else(SocketAddr::unnamed, |named| Ok(SocketAddr(named)))
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
