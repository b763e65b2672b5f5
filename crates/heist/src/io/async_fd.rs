//! `AsyncFd`: file descriptors of your own.

mod guard;

pub use guard::{AsyncFdReadyGuard, AsyncFdReadyMutGuard, TryIoError};

use crate::reactor::io::{Direction, Evented, Interest, ReadyEvent};
use crate::runtime::Handle;
use crate::task::coop;
use crate::trace::Resource;
use rustix::io::Errno;
use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll, ready};

/// Waits for a file descriptor of your own to become ready: a socket of another crate, a pipe, a
/// timerfd, a device. It must be non-blocking.
///
/// The descriptor is registered with the current runtime, and deregistered before `T` is dropped,
/// which closes it.
///
/// The runtime learns when a descriptor *becomes* ready, and assumes that it remains so until it is
/// told otherwise. Therefore read or write until that returns `WouldBlock`, and clear the readiness
/// then, or the next wait returns at once. [`AsyncFdReadyGuard::try_io`],
/// [`async_io`](Self::async_io) and [`try_io`](Self::try_io) do that. Never clear readiness in
/// other cases: no task is woken until the descriptor becomes ready once more.
///
/// Any number of tasks may wait with [`readable`](Self::readable), [`writable`](Self::writable) and
/// [`ready`](Self::ready). The `poll_` methods wake only the most recent caller in each direction.
///
/// # Examples
///
/// ```
/// use heist::io::unix::AsyncFd;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// # #[heist::main]
/// # async fn main() -> std::io::Result<()> {
/// let (near, mut far) = UnixStream::pair()?;
/// near.set_nonblocking(true)?;
/// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
/// let near = unsafe { AsyncFd::register(near)? };
///
/// far.write_all(b"ping")?;
/// let mut bytes = [0; 8];
/// let len = loop {
///     let mut guard = near.readable().await?;
///     match guard.try_io(|near| near.get_ref().read(&mut bytes)) {
///         Ok(result) => break result?,
///         Err(_would_block) => continue,
///     }
/// };
/// assert_eq!(&bytes[..len], b"ping");
/// # Ok(())
/// # }
/// ```
pub struct AsyncFd<T: AsRawFd> {
    evented: Evented<Lender<T>>,
}

/// Implements `AsFd` for types that only have `AsRawFd`.
struct Lender<T>(T);

impl<T: AsRawFd> AsFd for Lender<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: (FFI) callers of register() promise that the descriptor stays open and the same.
        unsafe { BorrowedFd::borrow_raw(self.0.as_raw_fd()) }
    }
}

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// # Construction
impl<T: AsRawFd> AsyncFd<T> {
    /// Registers the descriptor of `inner` for reading and writing.
    ///
    /// # Safety
    ///
    /// `inner.as_raw_fd()` must return the same open descriptor each time, until `inner` is dropped
    /// or returned by [`into_inner`](Self::into_inner).
    ///
    /// # Errors
    ///
    /// Returns an error that contains `inner` if the descriptor cannot be polled, or if there are
    /// too many.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::unix::AsyncFd;
    /// use std::io::Write;
    /// use std::os::unix::net::UnixStream;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (near, mut far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
    /// let near = unsafe { AsyncFd::register(near)? };
    /// far.write_all(b"ping")?;
    /// near.readable().await?.retain_ready();
    ///
    /// // A regular file cannot be polled; the error returns it.
    /// // SAFETY: a File keeps its descriptor open until it is dropped.
    /// let error = unsafe { AsyncFd::register(std::fs::File::open("Cargo.toml")?) }.unwrap_err();
    /// let (_file, cause) = error.into_parts();
    /// assert_eq!(cause.kind(), std::io::ErrorKind::PermissionDenied);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub unsafe fn register(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::make(inner, BOTH, "AsyncFd::register")
    }

    /// Registers the descriptor of `inner` for the given `interest`; see
    /// [`register`](Self::register).
    ///
    /// # Safety
    ///
    /// The conditions are those of [`register`](Self::register).
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
    /// let (near, mut far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// use heist::io::Interest;
    ///
    /// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
    /// let near = unsafe { AsyncFd::register_with_interest(near, Interest::READABLE)? };
    /// far.write_all(b"ping")?;
    /// drop(near.readable().await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns errors like [`register`](Self::register).
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O.
    #[track_caller]
    pub unsafe fn register_with_interest(
        inner: T,
        interest: Interest,
    ) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::make(inner, interest, "AsyncFd::register_with_interest")
    }

    #[track_caller]
    fn make(inner: T, interest: Interest, api: &str) -> Result<Self, AsyncFdRegisterError<T>> {
        let reactors = Handle::current_for(api).reactors_for_io(api);
        if inner.as_raw_fd() < 0 {
            return Err(AsyncFdRegisterError { inner, cause: Errno::BADF.into() });
        }
        match Evented::registered(reactors, Lender(inner), interest) {
            Ok(evented) => Ok(AsyncFd { evented }),
            Err((Lender(inner), cause)) => Err(AsyncFdRegisterError { inner, cause }),
        }
    }

    /// Registers the descriptor of `inner` like [`register`](Self::register), without its safety
    /// conditions being stated.
    ///
    /// # Errors
    ///
    /// Returns errors like [`register`](Self::register), without `inner`.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O.
    #[deprecated(note = "nobody promises that the descriptor stays open; use `AsyncFd::register`")]
    #[track_caller]
    pub fn new(inner: T) -> io::Result<Self> {
        Ok(Self::make(inner, BOTH, "AsyncFd::new")?)
    }

    /// Registers the descriptor of `inner` like
    /// [`register_with_interest`](Self::register_with_interest), without its safety conditions
    /// being stated.
    ///
    /// # Errors
    ///
    /// Returns errors like [`register`](Self::register), without `inner`.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O.
    #[deprecated(
        note = "nobody promises that the descriptor stays open; use `AsyncFd::register_with_interest`"
    )]
    #[track_caller]
    pub fn with_interest(inner: T, interest: Interest) -> io::Result<Self> {
        Ok(Self::make(inner, interest, "AsyncFd::with_interest")?)
    }

    /// Registers the descriptor of `inner` like [`register`](Self::register), without its safety
    /// conditions being stated.
    ///
    /// # Errors
    ///
    /// Returns errors like [`register`](Self::register).
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O.
    #[deprecated(note = "nobody promises that the descriptor stays open; use `AsyncFd::register`")]
    #[track_caller]
    pub fn try_new(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::make(inner, BOTH, "AsyncFd::try_new")
    }

    /// Registers the descriptor of `inner` like
    /// [`register_with_interest`](Self::register_with_interest), without its safety conditions
    /// being stated.
    ///
    /// # Errors
    ///
    /// Returns errors like [`register`](Self::register).
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O.
    #[deprecated(
        note = "nobody promises that the descriptor stays open; use `AsyncFd::register_with_interest`"
    )]
    #[track_caller]
    pub fn try_with_interest(
        inner: T,
        interest: Interest,
    ) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::make(inner, interest, "AsyncFd::try_with_interest")
    }

    /// Returns a reference to the value that owns the descriptor.
    pub fn get_ref(&self) -> &T {
        &self.evented.get_ref().0
    }

    /// Returns a mutable reference to the value that owns the descriptor, which must not be
    /// replaced.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.evented.get_mut().0
    }

    /// Deregisters the descriptor and returns the value that owns it.
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
    /// # let (near, mut far) = UnixStream::pair()?;
    /// # near.set_nonblocking(true)?;
    /// # let near = unsafe { AsyncFd::register(near)? };
    /// let near: UnixStream = near.into_inner();
    /// near.set_nonblocking(false)?;
    /// # far.write_all(b"ping")?;
    /// (&near).read_exact(&mut [0; 4])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_inner(self) -> T {
        self.evented.into_inner_anyway().0
    }
}

/// # Waiting
impl<T: AsRawFd> AsyncFd<T> {
    /// Polls for the descriptor to become readable. Only the most recent caller in this direction
    /// is woken.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::unix::AsyncFd;
    /// use std::future::poll_fn;
    /// use std::io::Write;
    /// use std::os::unix::net::UnixStream;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let (near, mut far) = UnixStream::pair()?;
    /// # near.set_nonblocking(true)?;
    /// # let near = unsafe { AsyncFd::register(near)? };
    /// let wait = poll_fn(|cx| near.poll_read_ready(cx).map_ok(|guard| guard.ready()));
    /// far.write_all(b"ping")?;
    /// assert!(wait.await?.is_readable());
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_read_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let event = ready!(self.poll_ready(cx, Direction::Read))?;
        Poll::Ready(Ok(AsyncFdReadyGuard::new(self, event)))
    }

    /// Polls for the descriptor to become readable, and returns a guard with mutable access; see
    /// [`poll_read_ready`](Self::poll_read_ready).
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    pub fn poll_read_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let event = ready!(self.poll_ready(cx, Direction::Read))?;
        Poll::Ready(Ok(AsyncFdReadyMutGuard::new(self, event)))
    }

    /// Polls for the descriptor to become writable. Only the most recent caller in this direction
    /// is woken.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    pub fn poll_write_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let event = ready!(self.poll_ready(cx, Direction::Write))?;
        Poll::Ready(Ok(AsyncFdReadyGuard::new(self, event)))
    }

    /// Polls for the descriptor to become writable, and returns a guard with mutable access; see
    /// [`poll_write_ready`](Self::poll_write_ready).
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    pub fn poll_write_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let event = ready!(self.poll_ready(cx, Direction::Write))?;
        Poll::Ready(Ok(AsyncFdReadyMutGuard::new(self, event)))
    }

    fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
    ) -> Poll<io::Result<ReadyEvent>> {
        let progress = ready!(coop::poll_proceed_with(cx, || Resource::Io));
        let event = ready!(self.evented.poll_ready(cx, direction));
        progress.made_progress();
        Poll::Ready(event)
    }

    /// Waits until the descriptor is ready for some of `interest`.
    ///
    /// This may be a false alarm: the operation that follows may still return `WouldBlock`.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::{Interest, unix::AsyncFd};
    /// use std::os::unix::net::UnixStream;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let (near, far) = UnixStream::pair()?;
    /// # near.set_nonblocking(true)?;
    /// # let near = unsafe { AsyncFd::register(near)? };
    /// drop(far);
    /// let guard = near.ready(Interest::READABLE | Interest::WRITABLE).await?;
    /// assert!(guard.ready().is_read_closed());
    /// # drop(guard);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ready(&self, interest: Interest) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        let event = self.evented.ready(interest).await?;
        Ok(AsyncFdReadyGuard::new(self, event))
    }

    /// Waits until the descriptor is ready for some of `interest`, and returns a guard with mutable
    /// access; see [`ready`](Self::ready).
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    pub async fn ready_mut(
        &mut self,
        interest: Interest,
    ) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        let event = self.evented.ready(interest).await?;
        Ok(AsyncFdReadyMutGuard::new(self, event))
    }

    /// Waits until the descriptor is readable; see [`ready`](Self::ready).
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
    /// let (near, mut far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
    /// let near = unsafe { AsyncFd::register(near)? };
    /// far.write_all(b"ping")?;
    ///
    /// let mut buf = [0; 8];
    /// let mut guard = near.readable().await?;
    /// let count = guard.try_io(|fd| fd.get_ref().read(&mut buf)).unwrap()?;
    /// assert_eq!(&buf[..count], b"ping");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    pub async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::READABLE).await
    }

    /// Waits until the descriptor is readable, and returns a guard with mutable access; see
    /// [`ready`](Self::ready).
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
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
    /// # let (near, mut far) = UnixStream::pair()?;
    /// # near.set_nonblocking(true)?;
    /// # let mut near = unsafe { AsyncFd::register(near)? };
    /// far.write_all(b"ping")?;
    /// let mut buf = [0; 8];
    /// let mut guard = near.readable_mut().await?;
    /// let count = guard.try_io(|fd| fd.get_mut().read(&mut buf)).unwrap()?;
    /// assert_eq!(&buf[..count], b"ping");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn readable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::READABLE).await
    }

    /// Waits until the descriptor is writable; see [`ready`](Self::ready).
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
    /// let (near, mut far) = UnixStream::pair()?;
    /// near.set_nonblocking(true)?;
    /// // SAFETY: a UnixStream keeps its descriptor open until it is dropped.
    /// let near = unsafe { AsyncFd::register(near)? };
    /// let mut guard = near.writable().await?;
    /// guard.try_io(|fd| fd.get_ref().write_all(b"ping")).unwrap()?;
    ///
    /// let mut buf = [0; 4];
    /// far.read_exact(&mut buf)?;
    /// assert_eq!(&buf, b"ping");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    pub async fn writable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::WRITABLE).await
    }

    /// Waits until the descriptor is writable, and returns a guard with mutable access; see
    /// [`ready`](Self::ready).
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime has been shut down.
    pub async fn writable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::WRITABLE).await
    }
}

/// # Operations
impl<T: AsRawFd> AsyncFd<T> {
    /// Calls `f` until it returns something else than `WouldBlock`, and waits for `interest` in
    /// between.
    ///
    /// `f` must return `WouldBlock` only if the descriptor did.
    ///
    /// # Errors
    ///
    /// Returns errors of `f`, and an error if the runtime has been shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::{Interest, unix::AsyncFd};
    /// use std::net::UdpSocket;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_nonblocking(true)?;
    /// let address = socket.local_addr()?;
    /// // SAFETY: a UdpSocket keeps its descriptor open until it is dropped.
    /// let socket = unsafe { AsyncFd::register(socket)? };
    ///
    /// socket.async_io(Interest::WRITABLE, |socket| socket.send_to(b"ping", address)).await?;
    /// let mut bytes = [0; 8];
    /// let len = socket.async_io(Interest::READABLE, |socket| socket.recv(&mut bytes)).await?;
    /// assert_eq!(&bytes[..len], b"ping");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.evented.io(interest, |inner| f(&inner.0)).await
    }

    /// Calls `f` with mutable access until it returns something else than `WouldBlock`; see
    /// [`async_io`](Self::async_io).
    ///
    /// # Errors
    ///
    /// Returns errors of `f`, and an error if the runtime has been shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::{Interest, unix::AsyncFd};
    /// use std::io::{Read, Write};
    /// use std::os::unix::net::UnixStream;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let (near, mut far) = UnixStream::pair()?;
    /// # near.set_nonblocking(true)?;
    /// # let mut near = unsafe { AsyncFd::register(near)? };
    /// far.write_all(b"ping")?;
    /// let mut buf = [0; 8];
    /// let count = near.async_io_mut(Interest::READABLE, |near| near.read(&mut buf)).await?;
    /// assert_eq!(&buf[..count], b"ping");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn async_io_mut<R>(
        &mut self,
        interest: Interest,
        mut f: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.evented.io_mut(interest, |inner| f(&mut inner.0)).await
    }

    /// Calls `f` if the descriptor may be ready for some of `interest`. If `f` returns
    /// `WouldBlock`, the readiness is cleared.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if the descriptor is not ready, and errors of `f`.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::{Interest, unix::AsyncFd};
    /// use std::io::{Read, Write};
    /// use std::os::unix::net::UnixStream;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let (near, mut far) = UnixStream::pair()?;
    /// # near.set_nonblocking(true)?;
    /// # let near = unsafe { AsyncFd::register(near)? };
    /// let mut buf = [0; 8];
    /// let error = near.try_io(Interest::READABLE, |mut near| near.read(&mut buf)).unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    ///
    /// far.write_all(b"ping")?;
    /// near.readable().await?.retain_ready();
    /// assert_eq!(near.try_io(Interest::READABLE, |mut near| near.read(&mut buf))?, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.evented.try_io(interest, |inner| f(&inner.0))
    }

    /// Calls `f` with mutable access if the descriptor may be ready for some of `interest`; see
    /// [`try_io`](Self::try_io).
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if the descriptor is not ready, and errors of `f`.
    pub fn try_io_mut<R>(
        &mut self,
        interest: Interest,
        f: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        self.evented.try_io_mut(interest, |inner| f(&mut inner.0))
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl<T: AsRawFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.evented.get_ref().as_fd()
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd").field("inner", self.get_ref()).finish()
    }
}

/// The error of a descriptor that could not be registered. It contains the value that owns the
/// descriptor.
///
/// # Examples
///
/// ```
/// use heist::io::unix::AsyncFd;
/// use std::fs::File;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// // A regular file is always ready, so the system refuses to report its readiness.
/// let file = File::open("Cargo.toml").unwrap();
/// // SAFETY: a File keeps its descriptor open until it is dropped.
/// let error = unsafe { AsyncFd::register(file) }.unwrap_err();
/// let (file, cause) = error.into_parts();
/// assert_eq!(cause.kind(), std::io::ErrorKind::PermissionDenied);
/// assert!(file.metadata().unwrap().is_file());
/// # }
/// ```
pub struct AsyncFdRegisterError<T> {
    inner: T,
    cause: io::Error,
}

/// The former name of [`AsyncFdRegisterError`].
#[doc(hidden)]
#[deprecated(note = "use `AsyncFdRegisterError`")]
pub type AsyncFdTryNewError<T> = AsyncFdRegisterError<T>;

impl<T> AsyncFdRegisterError<T> {
    /// Returns the value that owns the descriptor, and the error.
    pub fn into_parts(self) -> (T, io::Error) {
        (self.inner, self.cause)
    }
}

impl<T> fmt::Display for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<T> fmt::Debug for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.cause, f)
    }
}

impl<T> Error for AsyncFdRegisterError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl<T> From<AsyncFdRegisterError<T>> for io::Error {
    fn from(error: AsyncFdRegisterError<T>) -> io::Error {
        error.cause
    }
}
