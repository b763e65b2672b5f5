//! Giving sockets to a runtime.

use crate::reactor::io::{Evented, Interest, Ready};
use crate::runtime::Handle;
use rustix::fs::{OFlags, fcntl_getfl};
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;

/// What most sockets are polled for.
pub(super) const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// Gives `inner`, which must be non-blocking, to the current runtime. It is assumed to be `ready`:
/// operations are tried before anything waits.
#[track_caller]
pub(super) fn register<S: AsFd>(
    api: &str,
    inner: S,
    interest: Interest,
    ready: Ready,
) -> Evented<S> {
    Evented::assumed(Handle::current_for(api).reactors_for_io(api), inner, interest, ready)
}

/// Gives a socket of the user's to the current runtime; nothing is known about its readiness. Only
/// builds with debug assertions check that it is non-blocking.
#[track_caller]
pub(super) fn adopt<S: AsFd>(api: &str, inner: S, interest: Interest) -> io::Result<Evented<S>> {
    if cfg!(debug_assertions) && !fcntl_getfl(&inner)?.contains(OFlags::NONBLOCK) {
        panic!(
            "{api}: the socket blocks, and a worker that waits in a read or a write runs no other \
             task; call set_nonblocking(true) on it first"
        );
    }
    Ok(Evented::new(Handle::current_for(api).reactors_for_io(api), inner, interest))
}

/// Gives `inner` to the current runtime, and treats it as not ready until the reactor says so: an
/// end of a FIFO that is not connected yet looks like one that is closed.
#[track_caller]
pub(super) fn register_now<S: AsFd>(
    api: &str,
    inner: S,
    interest: Interest,
) -> io::Result<Evented<S>> {
    let reactors = Handle::current_for(api).reactors_for_io(api);
    Evented::registered(reactors, inner, interest).map_err(|(_, error)| error)
}

/// Shuts down the direction towards the peer. A peer that is gone need not be told.
pub(super) fn shut_down_write<S: AsFd>(socket: &S) -> io::Result<()> {
    match socket2::SockRef::from(socket).shutdown(Shutdown::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}
