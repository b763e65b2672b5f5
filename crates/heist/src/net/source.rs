//! How a socket comes to a runtime.

use crate::reactor::io::{Evented, Interest};
use crate::runtime::Handle;
use rustix::fs::{OFlags, fcntl_getfl};
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;

/// What most sockets are waited for with.
pub(super) const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// Gives `inner`, which must not block, to the runtime of the calling thread.
#[track_caller]
pub(super) fn register<S: AsFd>(api: &str, inner: S, interest: Interest) -> Evented<S> {
    Evented::new(Handle::current_for(api).reactors_for_io(api), inner, interest)
}

/// The same for a socket of the user's. Only builds with debug assertions look whether it blocks.
#[track_caller]
pub(super) fn adopt<S: AsFd>(api: &str, inner: S, interest: Interest) -> io::Result<Evented<S>> {
    if cfg!(debug_assertions) && !fcntl_getfl(&inner)?.contains(OFlags::NONBLOCK) {
        panic!(
            "{api}: the socket blocks, and a worker that waits in a read or a write runs no other \
             task; call set_nonblocking(true) on it first"
        );
    }
    Ok(register(api, inner, interest))
}

/// Ends the stream in the direction away from us. A peer that is gone needs no telling.
pub(super) fn shut_down_write<S: AsFd>(socket: &S) -> io::Result<()> {
    match socket2::SockRef::from(socket).shutdown(Shutdown::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}
