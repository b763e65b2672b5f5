//! Something non-blocking, and its registration with a reactor.

use super::{Interest, Ready};
use crate::reactor::Reactors;
use std::future::Future;
use std::io;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::ReadBuf;

/// Which side of a source one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// What a source was ready for at some moment. Clearing it clears nothing that came later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadyEvent {
    pub(crate) ready: Ready,
    pub(crate) is_shutdown: bool,
}

/// A non-blocking file descriptor and its registration. It is registered when it is first waited for, with the
/// reactor of the worker that waits; until then it counts as ready for everything, so that the first
/// operation is tried at once. Dropping it deregisters it, and then closes the descriptor.
pub(crate) struct Evented<S: AsFd> {
    inner: S,
    reactors: Arc<Reactors>,
}

impl<S: AsFd> Evented<S> {
    /// `inner` must be non-blocking. It is waited for with (at most) this `interest`.
    pub(crate) fn new(_reactors: Arc<Reactors>, _inner: S, _interest: Interest) -> Self {
        todo!()
    }

    /// Deregisters it.
    pub(crate) fn into_inner(self) -> io::Result<S> {
        todo!()
    }

    /// The reactors, for another source that comes from this one (accepted streams).
    pub(crate) fn reactors(&self) -> &Arc<Reactors> {
        &self.reactors
    }

    /// Waits until it may be ready in this direction. Takes no budget. One waker a direction is kept: the last.
    pub(crate) fn poll_ready(&self, _cx: &mut Context<'_>, _direction: Direction) -> Poll<io::Result<ReadyEvent>> {
        todo!()
    }

    /// It was not ready after all: what `event` says, unless something came since.
    pub(crate) fn clear_ready(&self, _event: ReadyEvent) {
        todo!()
    }

    /// Waits until it may be ready for some of `interest`. Any number of tasks may wait so.
    pub(crate) fn ready(&self, _interest: Interest) -> impl Future<Output = io::Result<ReadyEvent>> + Send + '_
    where
        S: Sync,
    {
        async { todo!() }
    }

    /// Calls `operation` until it does not say `WouldBlock`, waiting in between; `Interrupted` is tried again. Takes
    /// one unit of the task's budget if it ends.
    pub(crate) fn poll_io<R>(
        &self,
        _cx: &mut Context<'_>,
        _direction: Direction,
        _operation: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        todo!()
    }

    /// The same for any number of tasks at once.
    pub(crate) fn io<R>(
        &self,
        _interest: Interest,
        _operation: impl FnMut(&S) -> io::Result<R>,
    ) -> impl Future<Output = io::Result<R>> {
        async { todo!() }
    }

    /// Calls `operation` once if it may be ready, else returns `WouldBlock`; clears the readiness if that is what
    /// `operation` returns.
    pub(crate) fn try_io<R>(&self, _interest: Interest, _operation: impl FnOnce(&S) -> io::Result<R>) -> io::Result<R> {
        todo!()
    }

    /// Reads into `buf`. A read that fills less than the buffer clears the readiness: there is no more.
    pub(crate) fn poll_read(&self, _cx: &mut Context<'_>, _buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>>
    where
        for<'a> &'a S: io::Read,
    {
        todo!()
    }

    /// Writes; the same for less than all.
    pub(crate) fn poll_write(&self, _cx: &mut Context<'_>, _buf: &[u8]) -> Poll<io::Result<usize>>
    where
        for<'a> &'a S: io::Write,
    {
        todo!()
    }

    /// Writes several buffers.
    pub(crate) fn poll_write_vectored(&self, _cx: &mut Context<'_>, _bufs: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>>
    where
        for<'a> &'a S: io::Write,
    {
        todo!()
    }
}

impl<S: AsFd> Deref for Evented<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.inner
    }
}
