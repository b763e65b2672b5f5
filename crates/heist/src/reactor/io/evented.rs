//! Something non-blocking, and its registration with a reactor.

use super::registration::{Registration, Subject};
use super::source::{ReadyEvent, Source, Wait};
use super::{Direction, Interest, Ready};
use crate::reactor::{Reactors, ShutDown};
use crate::task::coop;
use rustix::io::Errno;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::ReadBuf;

/// A non-blocking file descriptor and its registration. It is registered when it is first waited for,
/// with the reactor of the worker that waits; until then it is assumed to be ready, so that the first
/// operation is tried at once. Dropping it deregisters it, and then closes the descriptor.
pub(crate) struct Evented<S: AsFd> {
    /// There until it is dropped.
    inner: Option<S>,
    source: heist_sync::Arc<Source>,
    registration: Registration,
    interest: Interest,
    reactors: Arc<Reactors>,
}

impl<S: AsFd> Evented<S> {
    /// `inner` must be non-blocking. It is waited for with (at most) this `interest`, and assumed to be
    /// ready for all of it.
    pub(crate) fn new(reactors: Arc<Reactors>, inner: S, interest: Interest) -> Self {
        Self::assumed(reactors, inner, interest, Ready::of(interest) - Ready::CLOSED)
    }

    /// As [`new`](Self::new), assumed to be `ready` for no more than this.
    pub(crate) fn assumed(
        reactors: Arc<Reactors>,
        inner: S,
        interest: Interest,
        ready: Ready,
    ) -> Self {
        Evented {
            inner: Some(inner),
            source: heist_sync::Arc::new(Source::new(ready)),
            registration: Registration::new(),
            interest,
            reactors,
        }
    }

    /// Registered at once, and not ready before the reactor says so.
    pub(crate) fn registered(
        reactors: Arc<Reactors>,
        inner: S,
        interest: Interest,
    ) -> Result<Self, (S, io::Error)> {
        let mut evented = Self::assumed(reactors, inner, interest, Ready::EMPTY);
        match evented.registration.register(&*evented.reactors, evented.subject()) {
            Ok(()) => Ok(evented),
            Err(error) => {
                let inner = evented.inner.take();
                Err((inner.expect(TAKEN), error))
            }
        }
    }

    /// Deregisters it.
    pub(crate) fn into_inner(mut self) -> io::Result<S> {
        self.deregister()?;
        Ok(self.inner.take().expect(TAKEN))
    }

    /// The reactors, for another source that comes from this one (accepted streams).
    pub(crate) fn reactors(&self) -> &Arc<Reactors> {
        &self.reactors
    }

    fn get(&self) -> &S {
        self.inner.as_ref().expect(TAKEN)
    }

    pub(crate) fn get_mut(&mut self) -> &mut S {
        self.inner.as_mut().expect(TAKEN)
    }

    fn subject(&self) -> Subject<'_> {
        let mut interest = self.interest;
        if interest.is_readable() {
            // What is urgent makes reads end early, see poll_read().
            interest |= Interest::PRIORITY;
        }
        Subject { source: &self.source, fd: self.get().as_fd(), interest }
    }

    fn deregister(&self) -> io::Result<()> {
        let result = self.registration.deregister(&*self.reactors, self.get().as_fd());
        self.source.abandon();
        result
    }
}

/// Waiting.
impl<S: AsFd> Evented<S> {
    /// Waits until it may be ready in this direction. Takes no budget. One waker a direction is kept:
    /// the last.
    #[inline]
    pub(crate) fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<io::Result<ReadyEvent>> {
        let event = match self.source.look(direction.interest()) {
            Some(event) => event,
            None => {
                self.registration.prepare(&*self.reactors, self.subject())?;
                ready!(self.source.poll(direction, cx))
            }
        };
        Poll::Ready(alive(event))
    }

    /// It was not ready after all: what `event` says, unless something came since. What is closed stays so.
    pub(crate) fn clear_ready(&self, event: ReadyEvent) {
        self.source.clear(event);
    }

    /// Waits until it may be ready for some of `interest`. Any number of tasks may wait so.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<ReadyEvent> {
        let mut wait = Wait::new(&self.source, interest);
        poll_fn(|cx| self.poll_wait(&mut wait, interest, cx)).await
    }

    fn poll_wait(
        &self,
        wait: &mut Wait<'_>,
        interest: Interest,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<ReadyEvent>> {
        let event = match self.source.look(interest) {
            Some(event) => event,
            None => {
                self.registration.prepare(&*self.reactors, self.subject())?;
                ready!(wait.poll(cx))
            }
        };
        Poll::Ready(alive(event))
    }
}

/// Operations.
impl<S: AsFd> Evented<S> {
    /// Calls `operation` until it does not say `WouldBlock`, waiting in between; `Interrupted` is tried
    /// again. Takes one unit of the task's budget if it ends (W9).
    pub(crate) fn poll_io<R>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        mut operation: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let progress = ready!(coop::poll_proceed(cx));
        loop {
            let event = ready!(self.poll_ready(cx, direction))?;
            match operation(self.get()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.source.refute(event);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => {
                    progress.made_progress();
                    return Poll::Ready(result);
                }
            }
        }
    }

    /// The same for any number of tasks at once.
    pub(crate) async fn io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        let mut wait = Wait::new(&self.source, interest);
        poll_fn(|cx| {
            let progress = ready!(coop::poll_proceed(cx));
            loop {
                let event = ready!(self.poll_wait(&mut wait, interest, cx))?;
                match operation(self.get()) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        ready!(self.poll_not_ready(interest, event, cx));
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

    /// An operation for `interest` found nothing. `Pending`: nothing more can be learnt, later perhaps.
    fn poll_not_ready(
        &self,
        interest: Interest,
        event: ReadyEvent,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if interest.is_single() {
            self.source.refute(event);
            return Poll::Ready(());
        }
        // Nobody knows which of the sides was tried: the other may well be closed.
        self.source.clear(event);
        if (event.ready & Ready::CLOSED).is_empty() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Calls `operation` once if it may be ready, else returns `WouldBlock`; clears the readiness if that
    /// is what `operation` returns.
    pub(crate) fn try_io<R>(
        &self,
        interest: Interest,
        operation: impl FnOnce(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        // Without a reactor nobody says that it is ready again.
        let is_unknown = !self.registration.is_registered();
        let event = self.source.look(interest);
        if event.is_none() && !is_unknown {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let result = operation(self.get());
        let is_refuted = matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        match event.filter(|_| is_refuted) {
            Some(event) if interest.is_single() => self.source.refute(event),
            Some(event) => self.source.clear(event),
            None => {}
        }
        result
    }

    /// Reads into `buf`. A read that fills less than the buffer clears the readiness: there is no more,
    /// and an event will come with the next.
    ///
    /// So it is for TCP and pipes. A Unix socket ends a read where somebody has sent a descriptor along,
    /// too: see [`poll_read_all`](Self::poll_read_all).
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_read_and(cx, buf, |event, is_short| {
            // A read of TCP ends before an urgent byte, too, and there may be more behind that. Whoever
            // sent it, an event told of it or will.
            if is_short && !event.is_priority() {
                self.source.clear(event);
            }
        })
    }

    /// The same for sources whose reads may end before all was read.
    pub(crate) fn poll_read_all(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_read_and(cx, buf, |_, _| {})
    }

    #[inline]
    fn poll_read_and(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        then: impl FnOnce(ReadyEvent, bool),
    ) -> Poll<io::Result<()>> {
        let progress = ready!(coop::poll_proceed(cx));
        loop {
            let event = ready!(self.poll_ready(cx, Direction::Read))?;
            // SAFETY: (type) nothing is ever made uninitialised: rustix only writes to it.
            let room = unsafe { buf.unfilled_mut() };
            let capacity = room.len();
            match rustix::io::read(self.get(), room) {
                Ok((filled, _)) => {
                    let len = filled.len();
                    // SAFETY: (type) the next `len` bytes have just been filled.
                    unsafe { buf.assume_init(len) };
                    buf.advance(len);
                    then(event, 0 < len && len < capacity);
                    progress.made_progress();
                    return Poll::Ready(Ok(()));
                }
                Err(Errno::AGAIN) => self.source.refute(event),
                Err(Errno::INTR) => {}
                Err(error) => {
                    progress.made_progress();
                    return Poll::Ready(Err(error.into()));
                }
            }
        }
    }

    /// Writes; the same as in [`poll_read`](Self::poll_read) for less than all.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>
    where
        for<'a> &'a S: io::Write,
    {
        self.poll_write_of(cx, buf.len(), |mut inner| io::Write::write(&mut inner, buf))
    }

    /// Writes several buffers.
    pub(crate) fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>>
    where
        for<'a> &'a S: io::Write,
    {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.poll_write_of(cx, len, |mut inner| io::Write::write_vectored(&mut inner, bufs))
    }

    #[inline]
    fn poll_write_of(
        &self,
        cx: &mut Context<'_>,
        len: usize,
        write: impl Fn(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let progress = ready!(coop::poll_proceed(cx));
        loop {
            let event = ready!(self.poll_ready(cx, Direction::Write))?;
            let result = write(self.get());
            match &result {
                Ok(written) if 0 < *written && *written < len => self.source.clear(event),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.source.refute(event);
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                _ => {}
            }
            progress.made_progress();
            return Poll::Ready(result);
        }
    }
}

const TAKEN: &str = "only into_inner and drop take it";

fn alive(event: ReadyEvent) -> io::Result<ReadyEvent> {
    if event.is_shutdown() { Err(ShutDown.into()) } else { Ok(event) }
}

impl<S: AsFd> Deref for Evented<S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.get()
    }
}

impl<S: AsFd> Drop for Evented<S> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            // The descriptor is closed next; what cannot be deregistered is gone then.
            let _ = self.deregister();
        }
    }
}

impl<S: AsFd + fmt::Debug> fmt::Debug for Evented<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
