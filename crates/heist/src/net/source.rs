//! How a socket comes to a runtime.

use crate::reactor::io::{Evented, Interest, Ready};
use crate::runtime::Handle;
use rustix::fs::{OFlags, fcntl_getfl};
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;

/// What most sockets are waited for with.
pub(super) const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// Gives `inner`, which must not block, to the runtime of the calling thread. It is assumed to be `ready`
/// for this: what can be done at once is tried before anybody waits.
#[track_caller]
pub(super) fn register<S: AsFd>(
    api: &str,
    inner: S,
    interest: Interest,
    ready: Ready,
) -> Evented<S> {
    Evented::assumed(Handle::current_for(api).reactors_for_io(api), inner, interest, ready)
}

/// The same for a socket of the user's, of which nothing is known. Only builds with debug assertions
/// look whether it blocks.
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

/// The same for what is not ready before the reactor says so: for a FIFO an end that is not connected
/// yet looks like one that is closed.
#[track_caller]
pub(super) fn register_now<S: AsFd>(
    api: &str,
    inner: S,
    interest: Interest,
) -> io::Result<Evented<S>> {
    let reactors = Handle::current_for(api).reactors_for_io(api);
    Evented::registered(reactors, inner, interest).map_err(|(_, error)| error)
}

/// Ends the stream in the direction away from us. A peer that is gone needs no telling.
pub(super) fn shut_down_write<S: AsFd>(socket: &S) -> io::Result<()> {
    match socket2::SockRef::from(socket).shutdown(Shutdown::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}
