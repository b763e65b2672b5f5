//! A non-blocking file descriptor, and its registration with a reactor.

use super::registration::Registration;
use super::source::{ReadyEvent, Wait};
use super::{Direction, Interest, Ready};
use crate::reactor::Reactors;
use crate::task::coop;
use crate::trace::Resource;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::ReadBuf;

/// A non-blocking file descriptor and its registration. It is registered when a task first waits
/// for it, with the reactor of the task's worker. Until then it is assumed to be ready, so that the
/// first operation is tried at once. Dropping it deregisters and then closes the descriptor.
pub(crate) struct Evented<S: AsFd> {
    /// `None` only after it was taken by `into_inner` or during the drop.
    inner: Option<S>,
    pub(super) registration: Registration,
}

const TAKEN: &str = "only into_inner and drop take it";

impl<S: AsFd> Evented<S> {
    /// `inner` must be non-blocking. It is polled for at most this `interest`, and assumed to be
    /// ready for all of it.
    pub(crate) fn new(reactors: Arc<Reactors>, inner: S, interest: Interest) -> Self {
        Self::assumed(reactors, inner, interest, Ready::of(interest) - Ready::CLOSED)
    }

    /// Like [`new`](Self::new), but assumed to be ready only for `ready`.
    pub(crate) fn assumed(
        reactors: Arc<Reactors>,
        inner: S,
        mut interest: Interest,
        ready: Ready,
    ) -> Self {
        if interest.is_readable() {
            // Urgent data makes reads end early; see poll_recv().
            interest |= Interest::PRIORITY;
        }
        Evented { inner: Some(inner), registration: Registration::new(reactors, interest, ready) }
    }

    /// Registers the descriptor immediately, and assumes that it is not ready.
    pub(crate) fn registered(
        reactors: Arc<Reactors>,
        inner: S,
        interest: Interest,
    ) -> Result<Self, (S, io::Error)> {
        let registration = Registration::new(reactors, interest, Ready::EMPTY);
        match registration.register(inner.as_fd()) {
            Ok(()) => Ok(Evented { inner: Some(inner), registration }),
            Err(error) => Err((inner, error)),
        }
    }

    /// Deregisters it.
    pub(crate) fn into_inner(mut self) -> io::Result<S> {
        let inner = self.inner.take().expect(TAKEN);
        self.registration.deregister(inner.as_fd())?;
        Ok(inner)
    }

    /// Deregisters it, ignoring errors.
    pub(crate) fn into_inner_anyway(mut self) -> S {
        let inner = self.inner.take().expect(TAKEN);
        // Fails if the descriptor was closed; then it is deregistered anyway.
        let _ = self.registration.deregister(inner.as_fd());
        inner
    }

    /// The reactors, for sources that come from this one, such as accepted streams.
    pub(crate) fn reactors(&self) -> &Arc<Reactors> {
        self.registration.places()
    }

    pub(crate) fn get_ref(&self) -> &S {
        self.inner.as_ref().expect(TAKEN)
    }

    pub(crate) fn get_mut(&mut self) -> &mut S {
        self.inner.as_mut().expect(TAKEN)
    }
}

/// Waiting.
impl<S: AsFd> Evented<S> {
    /// Polls for readiness in this direction. Takes no budget. Only the last waker of each
    /// direction is kept.
    #[inline(always)]
    pub(crate) fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<io::Result<ReadyEvent>> {
        self.registration.poll_ready(self.get_ref().as_fd(), direction, cx)
    }

    /// Clears `event`, unless there was another event since. Closed directions stay closed.
    pub(crate) fn clear_ready(&self, event: ReadyEvent) {
        self.registration.source().clear(event);
    }

    /// Waits for some of `interest`. Any number of tasks may wait in this way. Takes no budget.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<ReadyEvent> {
        let fd = self.get_ref().as_fd();
        let mut wait = Wait::new(self.registration.source(), interest);
        poll_fn(|cx| self.registration.poll_wait(fd, &mut wait, cx)).await
    }

    /// Clears `event` after an operation has returned `WouldBlock`, including closed directions.
    fn refute(&self, event: ReadyEvent) {
        self.registration.source().refute(event);
    }
}

/// Operations.
impl<S: AsFd> Evented<S> {
    /// Calls `operation` until it does not return `WouldBlock`, and waits in between. `Interrupted`
    /// is retried. Takes one unit of budget if it completes (W9).
    pub(crate) fn poll_io<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        mut operation: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let progress = ready!(coop::poll_proceed_with(cx, || Resource::Io));
        loop {
            let event = ready!(self.poll_ready(cx, direction))?;
            match operation(self.get_ref()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.refute(event),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => {
                    progress.made_progress();
                    return Poll::Ready(result);
                }
            }
        }
    }

    /// [`poll_io`](Self::poll_io) for any number of tasks at the same time.
    pub(crate) async fn io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration.io(self.get_ref(), interest, |inner| operation(inner)).await
    }

    /// [`io`](Self::io) with mutable access.
    pub(crate) async fn io_mut<R>(
        &mut self,
        interest: Interest,
        mut operation: impl FnMut(&mut S) -> io::Result<R>,
    ) -> io::Result<R> {
        let inner = self.inner.as_mut().expect(TAKEN);
        self.registration.io(inner, interest, |inner| operation(inner)).await
    }

    /// Calls `operation` once if the descriptor may be ready, and returns `WouldBlock` otherwise.
    /// If `operation` returns `WouldBlock`, the readiness is cleared.
    pub(crate) fn try_io<R>(
        &self,
        interest: Interest,
        operation: impl FnOnce(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration.try_io(interest, || operation(self.get_ref()))
    }

    /// [`try_io`](Self::try_io) with mutable access.
    pub(crate) fn try_io_mut<R>(
        &mut self,
        interest: Interest,
        operation: impl FnOnce(&mut S) -> io::Result<R>,
    ) -> io::Result<R> {
        let inner = self.inner.as_mut().expect(TAKEN);
        self.registration.try_io(interest, || operation(inner))
    }

    /// Reads from a pipe or similar. A read that does not fill the buffer clears the readiness:
    /// there is no more data, and new data will cause an event.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_read_by(cx, buf, read, |event, is_short| {
            if is_short {
                self.clear_ready(event);
            }
        })
    }

    /// Reads from a TCP socket.
    pub(crate) fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_read_by(cx, buf, recv, |event, is_short| {
            // A read also ends before an urgent byte, and there may be more data behind it. An
            // event reports the urgent byte.
            if is_short && !event.is_priority() {
                self.clear_ready(event);
            }
        })
    }

    /// Reads from a Unix socket, where a read also ends at a descriptor that was sent along. A
    /// short read therefore says nothing about the rest.
    pub(crate) fn poll_recv_all(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_read_by(cx, buf, recv, |_, _| {})
    }

    /// `read` is a system call, which returns how many bytes it has written to the room.
    #[inline]
    fn poll_read_by(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        read: impl Fn(&S, &mut [MaybeUninit<u8>]) -> Result<usize, Errno>,
        then: impl FnOnce(ReadyEvent, bool),
    ) -> Poll<io::Result<()>> {
        let progress = ready!(coop::poll_proceed_with(cx, || Resource::Io));
        loop {
            let event = ready!(self.poll_ready(cx, Direction::Read))?;
            // SAFETY: (type) only bytes that were read are written; none is made uninitialised.
            let room = unsafe { buf.unfilled_mut() };
            let capacity = room.len();
            match read(self.get_ref(), room) {
                Ok(len) => {
                    // SAFETY: (FFI) the first `len` bytes of what was unfilled are filled.
                    unsafe { buf.assume_init(len) };
                    buf.advance(len);
                    then(event, 0 < len && len < capacity);
                    progress.made_progress();
                    return Poll::Ready(Ok(()));
                }
                Err(Errno::AGAIN) => self.refute(event),
                Err(Errno::INTR) => {}
                Err(error) => {
                    progress.made_progress();
                    return Poll::Ready(Err(error.into()));
                }
            }
        }
    }

    /// Writes to a pipe or similar. After a partial write there is no more room, and an event will
    /// report new room.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_of(cx, buf.len(), |pipe| rustix::io::write(pipe, buf))
    }

    /// Writes to a socket. That the peer has gone is an error, and no signal.
    pub(crate) fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let send = |socket: &S| rustix::net::send(socket, buf, SendFlags::NOSIGNAL);
        self.poll_write_of(cx, buf.len(), send)
    }

    /// Writes several buffers.
    pub(crate) fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // With more buffers than the system accepts at once, a partial write does not mean that
        // there is no room.
        let len = match bufs.len() <= MOST_BUFFERS {
            true => bufs.iter().fold(0, |len: usize, buf| len.saturating_add(buf.len())),
            false => 0,
        };
        self.poll_write_of(cx, len, |inner| rustix::io::writev(inner, bufs))
    }

    /// `write` is a system call.
    #[inline]
    fn poll_write_of(
        &self,
        cx: &mut Context<'_>,
        len: usize,
        write: impl Fn(&S) -> Result<usize, Errno>,
    ) -> Poll<io::Result<usize>> {
        let progress = ready!(coop::poll_proceed_with(cx, || Resource::Io));
        loop {
            let event = ready!(self.poll_ready(cx, Direction::Write))?;
            match write(self.get_ref()) {
                Ok(written) => {
                    if 0 < written && written < len {
                        self.clear_ready(event);
                    }
                    progress.made_progress();
                    return Poll::Ready(Ok(written));
                }
                Err(Errno::AGAIN) => self.refute(event),
                Err(Errno::INTR) => {}
                Err(error) => {
                    progress.made_progress();
                    return Poll::Ready(Err(error.into()));
                }
            }
        }
    }
}

fn read<S: AsFd>(source: &S, room: &mut [MaybeUninit<u8>]) -> Result<usize, Errno> {
    let (filled, _) = rustix::io::read(source, room)?;
    Ok(filled.len())
}

fn recv<S: AsFd>(socket: &S, room: &mut [MaybeUninit<u8>]) -> Result<usize, Errno> {
    if room.is_empty() {
        // Like read(), which has nothing to wait for then.
        return Ok(0);
    }
    let ((filled, _), _) = rustix::net::recv(socket, room, RecvFlags::empty())?;
    Ok(filled.len())
}

/// Kernel protocol: Linux takes this many buffers in a call (UIO_MAXIOV), and rustix passes on no
/// more.
const MOST_BUFFERS: usize = 1024;

impl Registration {
    async fn io<I: AsFd, R>(
        &self,
        mut inner: I,
        interest: Interest,
        mut operation: impl FnMut(&mut I) -> io::Result<R>,
    ) -> io::Result<R> {
        let mut wait = Wait::new(self.source(), interest);
        poll_fn(move |cx| {
            let progress = ready!(coop::poll_proceed_with(cx, || Resource::Io));
            loop {
                let event = ready!(self.poll_wait(inner.as_fd(), &mut wait, cx))?;
                match operation(&mut inner) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if self.not_ready(interest, event) {
                            cx.waker().wake_by_ref();
                            return Poll::Pending;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => {
                        progress.made_progress();
                        return Poll::Ready(result);
                    }
                }
            }
        })
        .await
    }

    fn try_io<R>(
        &self,
        interest: Interest,
        operation: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        // Before the check: only a reactor says that it is ready again.
        let is_registered = self.is_registered();
        let event = self.source().look(Ready::of(interest));
        if event.is_none() && is_registered {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let result = operation();
        let is_refuted = matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        if let Some(event) = event.filter(|_| is_refuted) {
            self.not_ready(interest, event);
        }
        result
    }

    /// An operation for `interest` found nothing. `true`: and yet `event` stays, for a side is
    /// closed, and which of the sides was tried is unknown.
    fn not_ready(&self, interest: Interest, event: ReadyEvent) -> bool {
        if interest.is_one_sided() {
            self.source().refute(event);
            return false;
        }
        self.source().clear(event);
        !(event.ready & Ready::CLOSED).is_empty()
    }
}

impl<S: AsFd> Deref for Evented<S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.get_ref()
    }
}

impl<S: AsFd> Drop for Evented<S> {
    fn drop(&mut self) {
        if let Some(inner) = &self.inner {
            // The descriptor is closed next. If it could not be deregistered, its events find no
            // source.
            let _ = self.registration.deregister(inner.as_fd());
        }
    }
}

/// What is shared is behind atomics and locks under which no foreign code runs.
impl<S: AsFd> UnwindSafe for Evented<S> {}
impl<S: AsFd> RefUnwindSafe for Evented<S> {}

impl<S: AsFd + fmt::Debug> fmt::Debug for Evented<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
