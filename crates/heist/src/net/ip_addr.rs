//! What the system says of an IP socket's peer.

use rustix::net::SocketAddrAny;
use std::io;
use std::net::SocketAddr;

/// The address that a connection or a datagram comes from.
pub(super) fn sender(address: Option<SocketAddrAny>) -> io::Result<SocketAddr> {
    let none = || io::Error::new(io::ErrorKind::AddrNotAvailable, "the system names no sender");
    Ok(SocketAddr::try_from(address.ok_or_else(none)?)?)
}
