//! What a descriptor was ready for.

use super::AsyncFd;
use crate::reactor::io::{Ready, ReadyEvent};
use std::fmt;
use std::io;
use std::os::fd::AsRawFd;

/// That a descriptor was ready when somebody waited for it. It counts as ready until one of these says
/// that it is not, with [`try_io`](Self::try_io) or [`clear_ready`](Self::clear_ready).
#[must_use = "say whether the descriptor is still ready: call try_io, clear_ready or retain_ready"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    async_fd: &'a AsyncFd<T>,
    event: Option<ReadyEvent>,
}

/// As [`AsyncFdReadyGuard`], with the sole use of the descriptor.
#[must_use = "say whether the descriptor is still ready: call try_io, clear_ready or retain_ready"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    async_fd: &'a mut AsyncFd<T>,
    event: Option<ReadyEvent>,
}

/// What both guards can do.
macro_rules! guard {
    ($guard:ident, $debug:literal) => {
        impl<T: AsRawFd> $guard<'_, T> {
            /// It is not ready any more, as an operation has shown. What became ready since is kept, and
            /// so is that it was closed.
            pub fn clear_ready(&mut self) {
                if let Some(event) = self.event.take() {
                    self.async_fd.evented.clear_ready(event);
                }
            }

            /// The same for some of what it was ready for.
            pub fn clear_ready_matching(&mut self, ready: Ready) {
                if let Some(event) = self.event.take() {
                    self.async_fd.evented.clear_ready(event.with_ready(ready));
                    let left = event.with_ready(event.ready - ready);
                    self.event = Some(left).filter(|left| !left.ready.is_empty());
                }
            }

            /// It is still ready. Does nothing, and says so.
            pub fn retain_ready(&mut self) {}

            /// What it was ready for, without what was cleared.
            pub fn ready(&self) -> Ready {
                self.event.map_or(Ready::EMPTY, |event| event.ready)
            }
        }

        impl<T: AsRawFd + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($debug).field("async_fd", &self.async_fd).finish()
            }
        }
    };
}

guard!(AsyncFdReadyGuard, "ReadyGuard");
guard!(AsyncFdReadyMutGuard, "MutReadyGuard");

impl<'a, T: AsRawFd> AsyncFdReadyGuard<'a, T> {
    pub(super) fn new(async_fd: &'a AsyncFd<T>, event: ReadyEvent) -> Self {
        AsyncFdReadyGuard { async_fd, event: Some(event) }
    }

    /// Calls `f`. If that returns `WouldBlock`, which it must do only if the descriptor said so, it is
    /// not ready any more.
    ///
    /// # Errors
    /// If `f` returned `WouldBlock`. Its other errors are in the `Ok`.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&'a AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match f(self.async_fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.clear_ready();
                Err(TryIoError(()))
            }
            result => Ok(result),
        }
    }

    /// What was waited for.
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        self.async_fd
    }

    /// What its descriptor belongs to.
    pub fn get_inner(&self) -> &'a T {
        self.async_fd.get_ref()
    }
}

impl<'a, T: AsRawFd> AsyncFdReadyMutGuard<'a, T> {
    pub(super) fn new(async_fd: &'a mut AsyncFd<T>, event: ReadyEvent) -> Self {
        AsyncFdReadyMutGuard { async_fd, event: Some(event) }
    }

    /// Calls `f`. If that returns `WouldBlock`, which it must do only if the descriptor said so, it is
    /// not ready any more.
    ///
    /// # Errors
    /// If `f` returned `WouldBlock`. Its other errors are in the `Ok`.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&mut AsyncFd<T>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match f(self.async_fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.clear_ready();
                Err(TryIoError(()))
            }
            result => Ok(result),
        }
    }

    /// What was waited for.
    pub fn get_ref(&self) -> &AsyncFd<T> {
        self.async_fd
    }

    /// What was waited for.
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        self.async_fd
    }

    /// What its descriptor belongs to.
    pub fn get_inner(&self) -> &T {
        self.async_fd.get_ref()
    }

    /// What its descriptor belongs to.
    pub fn get_inner_mut(&mut self) -> &mut T {
        self.async_fd.get_mut()
    }
}

/// The descriptor was not ready after all.
#[derive(Debug)]
pub struct TryIoError(());
