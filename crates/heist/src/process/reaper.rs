//! Waiting for a process to exit.

use crate::env::pidfd;
use crate::reactor::Reactors;
use crate::reactor::io::{Direction, Evented, Interest};
use crate::signal::unix::{Signal, SignalKind, listen};
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A process that has not been waited for, and what reports its exit.
pub(super) struct Reaper {
    child: Child,
    news: News,
}

/// What reports that the process may have exited.
enum News {
    /// A descriptor that becomes readable.
    Pidfd(Evented<OwnedFd>),
    /// `SIGCHLD`, which reports the exit of any child, so that each time this one must be checked.
    /// For systems without pidfds, sandboxes that forbid them, and processes that are traced.
    Sigchld(Signal),
}

/// The result of waiting.
pub(super) enum Waited {
    /// It has exited.
    Exited(ExitStatus),
    /// The status is lost, because other code has waited for the process.
    Lost(io::Error),
    /// The runtime reports nothing any more, probably because it was shut down; see
    /// [`Reaper::move_to`].
    NoNews(io::Error),
}

impl News {
    fn new(child: &Child, reactors: &Arc<Reactors>) -> io::Result<News> {
        match pidfd::open(child.id()) {
            Ok(pidfd) => {
                let reactors = Arc::clone(reactors);
                Ok(News::Pidfd(Evented::new(reactors, pidfd, Interest::READABLE)))
            }
            // For any reason. If descriptors are lacking, SIGCHLD may need none.
            Err(_) => News::sigchld(reactors),
        }
    }

    /// Reported in every runtime that waits for signals, so this one may be shut down.
    fn sigchld(reactors: &Arc<Reactors>) -> io::Result<News> {
        Ok(News::Sigchld(listen(SignalKind::child(), reactors)?))
    }
}

impl Reaper {
    /// Waits for `child` in the runtime of `reactors`. Returns the child if that is not possible.
    pub(super) fn new(child: Child, reactors: &Arc<Reactors>) -> Result<Self, (Child, io::Error)> {
        match News::new(&child, reactors) {
            Ok(news) => Ok(Reaper { child, news }),
            Err(error) => Err((child, error)),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn kill(&mut self) -> io::Result<()> {
        self.child.kill()
    }

    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    pub(super) fn into_child(self) -> Child {
        self.child
    }

    /// Waits in another runtime from now on.
    pub(super) fn move_to(&mut self, reactors: &Arc<Reactors>) -> io::Result<()> {
        self.news = News::new(&self.child, reactors)?;
        Ok(())
    }

    /// Whether it is the runtime of `reactors` that waits for it.
    pub(super) fn is_in(&self, reactors: &Arc<Reactors>) -> bool {
        matches!(&self.news, News::Pidfd(pidfd) if Arc::ptr_eq(pidfd.reactors(), reactors))
    }

    /// Waits until it has exited.
    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<Waited> {
        loop {
            match &mut self.news {
                News::Pidfd(pidfd) => {
                    let event = match ready!(pidfd.poll_ready(cx, Direction::Read)) {
                        Ok(event) => event,
                        Err(error) => return Poll::Ready(Waited::NoNews(error)),
                    };
                    if let Some(waited) = ask(&mut self.child) {
                        return Poll::Ready(waited);
                    }
                    if !pidfd::has_exited(&**pidfd) {
                        pidfd.clear_ready(event);
                        continue;
                    }
                    // It may have exited since it was asked.
                    if let Some(waited) = ask(&mut self.child) {
                        return Poll::Ready(waited);
                    }
                    // Another process traces it, and is told first. The descriptor reports nothing
                    // when it is our turn.
                    match News::sigchld(pidfd.reactors()) {
                        Ok(news) => self.news = news,
                        Err(error) => return Poll::Ready(Waited::NoNews(error)),
                    }
                }
                News::Sigchld(signal) => {
                    // The waker is registered before the process is asked, so that one of the two
                    // sees the exit.
                    let is_told = signal.poll_recv(cx).is_ready();
                    if let Some(waited) = ask(&mut self.child) {
                        return Poll::Ready(waited);
                    }
                    if !is_told {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

fn ask(child: &mut Child) -> Option<Waited> {
    match child.try_wait() {
        Ok(status) => status.map(Waited::Exited),
        Err(error) => Some(Waited::Lost(error)),
    }
}
