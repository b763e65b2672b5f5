//! Guards: what a descriptor was ready for.

use super::AsyncFd;
use crate::reactor::io::{Ready, ReadyEvent};
use std::fmt;
use std::io;
use std::os::fd::AsRawFd;

/// A descriptor that was ready when a task waited for it.
///
/// The descriptor counts as ready until a guard clears that, with [`try_io`](Self::try_io) or
/// [`clear_ready`](Self::clear_ready).
///
/// # Examples
///
/// ```
/// use heist::io::unix::AsyncFd;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (mut writer, reader) = UnixStream::pair()?;
/// reader.set_nonblocking(true)?;
/// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
/// let reader = unsafe { AsyncFd::register(reader)? };
/// writer.write_all(b"ready")?;
/// let mut buf = [0; 8];
/// let count = loop {
///     let mut guard = reader.readable().await?;
///     if let Ok(result) = guard.try_io(|fd| fd.get_ref().read(&mut buf)) {
///         break result?;
///     }
/// };
/// assert_eq!(&buf[..count], b"ready");
/// # Ok(())
/// # }
/// ```
#[must_use = "say whether the descriptor is still ready: call try_io, clear_ready or retain_ready"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    async_fd: &'a AsyncFd<T>,
    event: Option<ReadyEvent>,
}

/// A descriptor that was ready when a task waited for it, with mutable access; see
/// [`AsyncFdReadyGuard`].
///
/// # Examples
///
/// ```
/// use heist::io::unix::AsyncFd;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (mut writer, reader) = UnixStream::pair()?;
/// reader.set_nonblocking(true)?;
/// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
/// let mut reader = unsafe { AsyncFd::register(reader)? };
/// writer.write_all(b"ready")?;
/// let mut buf = [0; 8];
/// let mut guard = reader.readable_mut().await?;
/// let count = guard.try_io(|fd| fd.get_mut().read(&mut buf)).unwrap()?;
/// assert_eq!(&buf[..count], b"ready");
/// # Ok(())
/// # }
/// ```
#[must_use = "say whether the descriptor is still ready: call try_io, clear_ready or retain_ready"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    async_fd: &'a mut AsyncFd<T>,
    event: Option<ReadyEvent>,
}

/// Methods of both guards.
macro_rules! guard {
    ($guard:ident, $debug:literal) => {
        impl<T: AsRawFd> $guard<'_, T> {
            /// Clears the readiness, after an operation has returned `WouldBlock`.
            ///
            /// Readiness that was reported since is kept, and so is the fact that the descriptor
            /// was closed.
            ///
            /// # Examples
            ///
            /// ```
            /// use heist::io::unix::AsyncFd;
            /// use std::io::{ErrorKind, Read, Write};
            /// use std::os::unix::net::UnixStream;
            ///
            /// # #[heist::main(flavor = "current_thread")]
            /// # async fn main() -> std::io::Result<()> {
            /// let (mut far, near) = UnixStream::pair()?;
            /// near.set_nonblocking(true)?;
            /// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
            /// let mut near = unsafe { AsyncFd::register(near)? };
            /// far.write_all(b"ping")?;
            /// let mut buf = [0; 3];
            /// loop {
            ///     let mut guard = near.readable_mut().await?;
            ///     match guard.get_inner_mut().read(&mut buf) {
            ///         Ok(0) => break,
            ///         Ok(_) => guard.retain_ready(), // There may be more.
            ///         Err(error) if error.kind() == ErrorKind::WouldBlock => {
            ///             guard.clear_ready();
            ///             break;
            ///         }
            ///         Err(error) => return Err(error),
            ///     }
            /// }
            /// # Ok(())
            /// # }
            /// ```
            pub fn clear_ready(&mut self) {
                if let Some(event) = self.event.take() {
                    self.async_fd.evented.clear_ready(event);
                }
            }

            /// Clears some of the readiness; see [`clear_ready`](Self::clear_ready).
            ///
            /// # Examples
            ///
            /// ```
            /// use heist::io::{Interest, Ready, unix::AsyncFd};
            /// use std::os::unix::net::UnixStream;
            ///
            /// # #[heist::main(flavor = "current_thread")]
            /// # async fn main() -> std::io::Result<()> {
            /// # let (far, near) = UnixStream::pair()?;
            /// # near.set_nonblocking(true)?;
            /// # drop(far);
            /// # // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
            /// # let mut near = unsafe { AsyncFd::register(near)? };
            /// let mut guard = near.ready_mut(Interest::READABLE | Interest::WRITABLE).await?;
            /// guard.clear_ready_matching(Ready::WRITABLE);
            /// assert!(guard.ready().is_readable());
            /// # drop(guard);
            /// # Ok(())
            /// # }
            /// ```
            pub fn clear_ready_matching(&mut self, ready: Ready) {
                if let Some(event) = self.event.take() {
                    self.async_fd.evented.clear_ready(event.with_ready(ready));
                    let left = event.with_ready(event.ready - ready);
                    self.event = Some(left).filter(|left| !left.ready.is_empty());
                }
            }

            /// Keeps the readiness. This does nothing, but makes the intention visible.
            pub fn retain_ready(&mut self) {}

            /// Returns what the descriptor was ready for, without what was cleared.
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

    /// Calls `f`, and clears the readiness if that returns `WouldBlock`.
    ///
    /// `f` must return `WouldBlock` only if the descriptor did.
    ///
    /// # Errors
    ///
    /// Returns an error if `f` returned `WouldBlock`. Other errors of `f` are in the `Ok` value.
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

    /// Returns the [`AsyncFd`].
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        self.async_fd
    }

    /// Returns the value that owns the descriptor.
    pub fn get_inner(&self) -> &'a T {
        self.async_fd.get_ref()
    }
}

impl<'a, T: AsRawFd> AsyncFdReadyMutGuard<'a, T> {
    pub(super) fn new(async_fd: &'a mut AsyncFd<T>, event: ReadyEvent) -> Self {
        AsyncFdReadyMutGuard { async_fd, event: Some(event) }
    }

    /// Calls `f` with mutable access, and clears the readiness if that returns `WouldBlock`.
    ///
    /// `f` must return `WouldBlock` only if the descriptor did.
    ///
    /// # Errors
    ///
    /// Returns an error if `f` returned `WouldBlock`. Other errors of `f` are in the `Ok` value.
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

    /// Returns the [`AsyncFd`].
    pub fn get_ref(&self) -> &AsyncFd<T> {
        self.async_fd
    }

    /// Returns a mutable reference to the [`AsyncFd`].
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        self.async_fd
    }

    /// Returns the value that owns the descriptor.
    pub fn get_inner(&self) -> &T {
        self.async_fd.get_ref()
    }

    /// Returns a mutable reference to the value that owns the descriptor.
    pub fn get_inner_mut(&mut self) -> &mut T {
        self.async_fd.get_mut()
    }
}

/// The error of a `try_io` that returned `WouldBlock`: the descriptor is not ready.
///
/// # Examples
///
/// ```
/// use heist::io::unix::AsyncFd;
/// use std::io::Read;
/// use std::os::unix::net::UnixStream;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (mut writer, reader) = UnixStream::pair()?;
/// reader.set_nonblocking(true)?;
/// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
/// let reader = unsafe { AsyncFd::register(reader)? };
/// std::io::Write::write_all(&mut writer, b"x")?;
/// let mut guard = reader.readable().await?;
/// assert_eq!(guard.try_io(|fd| fd.get_ref().read(&mut [0; 8])).unwrap()?, 1);
/// // Nothing is left: the readiness is cleared, and the error says to wait again.
/// assert!(guard.try_io(|fd| fd.get_ref().read(&mut [0; 8])).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TryIoError(());
