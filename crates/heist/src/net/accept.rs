//! Taking a connection from a listener.

use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// A connection, and where it comes from; an unnamed Unix socket has no address.
pub(super) type Connection = (OwnedFd, Option<SocketAddrAny>);

/// One system call: the new socket does not block, and no child process inherits it.
pub(super) fn accept<L: AsFd>(listener: &L) -> io::Result<Connection> {
    Ok(acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?)
}
