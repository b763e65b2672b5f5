//! Reading into memory that need not be initialised: the room at the end of a `ReadBuf` or of any
//! other `BufMut`. The only unsafe code that sockets need to read.

use bytes::BufMut;
use rustix::net::{RecvFlags, SocketAddrAny};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

/// Reads from any descriptor.
pub(super) fn read<S: AsFd, B: BufMut>(source: &S, buf: &mut B) -> io::Result<usize> {
    fill(buf, |room| {
        let (filled, _) = rustix::io::read(source, room)?;
        Ok((filled.len(), ()))
    })
    .map(|(count, ())| count)
}

/// Receives from a socket.
pub(super) fn recv<S: AsFd, B: BufMut>(
    socket: &S,
    buf: &mut B,
    flags: RecvFlags,
) -> io::Result<usize> {
    fill(buf, |room| {
        let ((filled, _), _) = rustix::net::recv(socket, room, flags)?;
        Ok((filled.len(), ()))
    })
    .map(|(count, ())| count)
}

/// Receives from a socket, and says from whom; an unnamed Unix socket has no address.
pub(super) fn recv_from<S: AsFd, B: BufMut>(
    socket: &S,
    buf: &mut B,
    flags: RecvFlags,
) -> io::Result<(usize, Option<SocketAddrAny>)> {
    fill(buf, |room| {
        let ((filled, _), _, from) = rustix::net::recvfrom(socket, room, flags)?;
        Ok((filled.len(), from))
    })
}

/// `receive` returns how much of the beginning of the room it has written, and nothing it wrote is
/// uninitialised: so it is with the three above.
fn fill<B: BufMut, T>(
    buf: &mut B,
    receive: impl FnOnce(&mut [MaybeUninit<u8>]) -> io::Result<(usize, T)>,
) -> io::Result<(usize, T)> {
    // SAFETY: (FFI) the system writes bytes, and takes none that were written away.
    let room = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    let (count, rest) = receive(room)?;
    // SAFETY: (FFI) the system has written that many.
    unsafe { buf.advance_mut(count) };
    Ok((count, rest))
}
