//! Reading into uninitialised memory: the room at the end of a `ReadBuf` or another `BufMut`. This
//! is the only unsafe code that sockets need for reading.

use bytes::BufMut;
use rustix::net::RecvFlags;
use socket2::{SockAddr, SockRef};
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

/// Receives from a socket, and returns the sender's address too.
pub(super) fn recv_from<S: AsFd, B: BufMut>(
    socket: &S,
    buf: &mut B,
    flags: RecvFlags,
) -> io::Result<(usize, SockAddr)> {
    // rustix also has this call, but panics if the path of a Unix socket has the maximal length.
    fill(buf, |room| SockRef::from(socket).recv_from_with_flags(room, flags.bits() as i32))
}

/// `receive` must return how many bytes it has initialised at the beginning of the room, as the
/// three callers above do.
fn fill<B: BufMut, T>(
    buf: &mut B,
    receive: impl FnOnce(&mut [MaybeUninit<u8>]) -> io::Result<(usize, T)>,
) -> io::Result<(usize, T)> {
    // SAFETY: (FFI) the system writes bytes, and leaves none uninitialised that were initialised.
    let room = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    let (count, rest) = receive(room)?;
    // SAFETY: (FFI) the system has initialised that many bytes.
    unsafe { buf.advance_mut(count) };
    Ok((count, rest))
}
