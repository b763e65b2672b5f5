//! Pipes: [`pipe`] creates one, and [`OpenOptions`] opens one that has a name in the file system (a
//! FIFO).

use crate::net::{receive, source};
use crate::reactor::io::{Direction, Evented, Interest, Ready};
use crate::tokio_parts::io::{AsyncRead, AsyncWrite, ReadBuf};
use bytes::BufMut;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, io};

/// Creates a pipe: bytes that are written to the [`Sender`] can be read from the [`Receiver`].
///
/// # Examples
///
/// ```
/// use heist::io::{AsyncReadExt, AsyncWriteExt};
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let (mut sender, mut receiver) = heist::net::unix::pipe::pipe()?;
///     sender.write_all(b"hello").await?;
///     drop(sender);
///
///     let mut said = String::new();
///     receiver.read_to_string(&mut said).await?;
///     assert_eq!(said, "hello");
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// Returns an error if the process has no file descriptor left.
///
/// # Panics
///
/// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
/// [`enable_io`](crate::runtime::Builder::enable_io).
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (receiver, sender) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let (writable, readable) = (Interest::WRITABLE, Interest::READABLE);
    let sender = source::register("pipe", sender.into(), writable, Ready::WRITABLE);
    let receiver = source::register("pipe", receiver.into(), readable, Ready::EMPTY);
    Ok((Sender { io: sender }, Receiver { io: receiver }))
}

/// Opens a FIFO.
///
/// # Examples
///
/// ```
/// use heist::io::{AsyncReadExt, AsyncWriteExt};
/// use heist::net::unix::pipe;
/// # fn make_fifo(path: &std::path::Path) {
/// #     assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
/// # }
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let path = std::env::temp_dir().join(format!("heist-fifo-{}", std::process::id()));
///     make_fifo(&path);
///     let mut receiver = pipe::OpenOptions::new().open_receiver(&path)?;
///     let mut sender = pipe::OpenOptions::new().open_sender(&path)?;
///     sender.write_all(b"hello").await?;
///     let mut buf = [0; 5];
///     receiver.read_exact(&mut buf).await?;
///     assert_eq!(&buf, b"hello");
///     std::fs::remove_file(path)
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    read_write: bool,
    unchecked: bool,
}

impl OpenOptions {
    /// Creates options that open one direction, and only FIFOs.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Sets whether the FIFO is opened for both directions. The default is `false`.
    ///
    /// A sender can then be opened without a receiver, and a receiver never reads the end when the
    /// last sender is closed. This works only on Linux.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::net::unix::pipe;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("fifo");
    /// # assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
    /// // Without a reader, opening for writing only fails with `ENXIO`.
    /// assert!(pipe::OpenOptions::new().open_sender(&path).is_err());
    /// let sender = pipe::OpenOptions::new().read_write(true).open_sender(&path)?;
    /// sender.writable().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_write(&mut self, value: bool) -> &mut Self {
        self.read_write = value;
        self
    }

    /// Sets whether to omit the check that the file is a FIFO. The default is `false`.
    ///
    /// Other files that can be polled work as far as they behave like a FIFO. A regular file is an
    /// error in any case.
    pub fn unchecked(&mut self, value: bool) -> &mut Self {
        self.unchecked = value;
        self
    }

    /// Opens the read end. Until a sender opens the other end, readers wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist or is not a FIFO.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::AsyncWriteExt;
    /// use heist::net::unix::pipe;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("fifo");
    /// # assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
    /// let receiver = pipe::OpenOptions::new().open_receiver(&path)?;
    /// let mut sender = pipe::OpenOptions::new().open_sender(&path)?;
    /// sender.write_all(b"ping").await?;
    /// receiver.readable().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        let file = self.open(path.as_ref(), std::fs::OpenOptions::new().read(true))?;
        let api = "OpenOptions::open_receiver";
        Ok(Receiver { io: source::register_now(api, file, Interest::READABLE)? })
    }

    /// Opens the write end.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist or is not a FIFO, and `ENXIO` if it has no
    /// reader.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
    /// [`enable_io`](crate::runtime::Builder::enable_io).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::AsyncWriteExt;
    /// use heist::net::unix::pipe;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("fifo");
    /// # assert!(std::process::Command::new("mkfifo").arg(&path).status()?.success());
    /// let options = pipe::OpenOptions::new();
    /// assert!(options.open_sender(&path).is_err(), "there is no reader");
    /// let _receiver = options.open_receiver(&path)?;
    /// options.open_sender(&path)?.write_all(b"ping").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        let file = self.open(path.as_ref(), std::fs::OpenOptions::new().write(true))?;
        let api = "OpenOptions::open_sender";
        Ok(Sender { io: source::register_now(api, file, Interest::WRITABLE)? })
    }

    fn open(&self, path: &Path, options: &mut std::fs::OpenOptions) -> io::Result<File> {
        if self.read_write {
            options.read(true).write(true);
        }
        let file = options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
        if !self.unchecked {
            expect_pipe(&file)?;
        }
        Ok(file)
    }
}

/// Methods of both ends. `$mode` is the access mode of this end, unless it is open for both.
macro_rules! end_methods {
    ($name:literal, $interest:expr, $mode:expr, $end:literal, $setup:literal) => {
        /// Converts a file that is this end of a pipe, and makes it non-blocking.
        ///
        /// # Errors
        ///
        /// Returns an error if the file is not a pipe, or if it is the other end of one.
        ///
        /// # Panics
        ///
        /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
        /// [`enable_io`](crate::runtime::Builder::enable_io).
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::AsyncWriteExt;
        /// use heist::net::unix::pipe;
        /// use std::fs::File;
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        /// # let (sender, receiver) = pipe::pipe()?;
        /// # let (write_end, read_end) = (sender.into_blocking_fd()?, receiver.into_blocking_fd()?);
        /// // Two ends that were made elsewhere, as files.
        /// let mut sender = pipe::Sender::from_file(File::from(write_end))?;
        /// let receiver = pipe::Receiver::from_file(File::from(read_end))?;
        /// sender.write_all(b"ping").await?;
        /// receiver.readable().await?;
        /// # Ok(())
        /// # }
        /// ```
        #[track_caller]
        pub fn from_file(file: File) -> io::Result<Self> {
            expect_pipe(&file)?;
            make_nonblocking(&file, $mode)?;
            let io = source::register_now(concat!($name, "::from_file"), file, $interest)?;
            Ok(Self { io })
        }

        /// Converts a descriptor of this end of a pipe, and makes it non-blocking.
        ///
        /// # Errors
        ///
        /// Returns an error if it is not a pipe, or if it is the other end of one.
        ///
        /// # Panics
        ///
        /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
        /// [`enable_io`](crate::runtime::Builder::enable_io).
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::AsyncWriteExt;
        /// use heist::net::unix::pipe;
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        /// # let (sender, receiver) = pipe::pipe()?;
        /// # let (write_end, read_end) = (sender.into_blocking_fd()?, receiver.into_blocking_fd()?);
        /// // Two ends that were made elsewhere.
        /// let mut sender = pipe::Sender::from_owned_fd(write_end)?;
        /// let receiver = pipe::Receiver::from_owned_fd(read_end)?;
        /// sender.write_all(b"ping").await?;
        /// receiver.readable().await?;
        /// # Ok(())
        /// # }
        /// ```
        #[track_caller]
        pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<Self> {
            Self::from_file(owned_fd.into())
        }

        /// Converts a file without checks; see [`from_file`](Self::from_file).
        ///
        /// It must be a pipe, or behave like one, and be non-blocking.
        ///
        /// # Errors
        ///
        /// Returns an error if it cannot be polled, as for a regular file.
        ///
        /// # Panics
        ///
        /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
        /// [`enable_io`](crate::runtime::Builder::enable_io).
        #[track_caller]
        pub fn from_file_unchecked(file: File) -> io::Result<Self> {
            let api = concat!($name, "::from_file_unchecked");
            Ok(Self { io: source::register_now(api, file, $interest)? })
        }

        /// Converts a descriptor without checks; see [`from_owned_fd`](Self::from_owned_fd).
        ///
        /// It must be a pipe, or behave like one, and be non-blocking.
        ///
        /// # Errors
        ///
        /// Returns an error if it cannot be polled, as for a regular file.
        ///
        /// # Panics
        ///
        /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
        /// [`enable_io`](crate::runtime::Builder::enable_io).
        #[track_caller]
        pub fn from_owned_fd_unchecked(owned_fd: OwnedFd) -> io::Result<Self> {
            Self::from_file_unchecked(owned_fd.into())
        }

        /// Converts into a descriptor, which remains non-blocking.
        ///
        /// # Errors
        ///
        /// Returns an error if the descriptor cannot be deregistered from its reactor.
        pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
            self.io.into_inner().map(OwnedFd::from)
        }

        /// Converts into a descriptor and makes it blocking, for example for a child process.
        ///
        /// # Errors
        ///
        /// Returns an error if the descriptor cannot be deregistered from its reactor, or not be
        /// made blocking.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::net::unix::pipe;
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        /// let (sender, receiver) = pipe::pipe()?;
        /// let input = receiver.into_blocking_fd()?;
        /// let mut cat = std::process::Command::new("cat").stdin(input).spawn()?;
        /// drop(sender);
        /// assert!(cat.wait()?.success());
        /// # Ok(())
        /// # }
        /// ```
        pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
            let fd = self.into_nonblocking_fd()?;
            fcntl_setfl(&fd, fcntl_getfl(&fd)? - OFlags::NONBLOCK)?;
            Ok(fd)
        }

        ready_methods!($end, $setup);

        /// Calls `f`, an operation of your own on this end, if it may be ready.
        ///
        /// If `f` returns `WouldBlock`, this end counts as not ready. `f` must therefore return it
        /// only if the pipe itself did.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if `f` was not called, and errors of `f`.
        pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
            self.io.try_io($interest, |_| f())
        }
    };
}

/// The write end of a pipe.
///
/// Writing fails when the last receiver has been dropped. `shutdown` does nothing: readers see the
/// end when the last sender is dropped.
///
/// # Examples
///
/// ```
/// use heist::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (mut sender, mut receiver) = heist::net::unix::pipe::pipe()?;
/// sender.write_all(b"ping").await?;
/// let mut buf = [0; 4];
/// receiver.read_exact(&mut buf).await?;
/// assert_eq!(&buf, b"ping");
/// # Ok(())
/// # }
/// ```
pub struct Sender {
    io: Evented<File>,
}

impl Sender {
    end_methods!(
        "Sender",
        Interest::WRITABLE,
        OFlags::WRONLY,
        "sender",
        "# let (sender, _receiver) = heist::net::unix::pipe::pipe()?;"
    );
    writable_methods!(poll_write_ready);
    try_write_methods!("sender", "# let (sender, _receiver) = heist::net::unix::pipe::pipe()?;");
}

async_write!(Sender, poll_write, |_| Ok(()));
fd_traits!(Sender);

/// The read end of a pipe, which reads the end when the last sender has been dropped.
///
/// # Examples
///
/// ```
/// use heist::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (mut sender, mut receiver) = heist::net::unix::pipe::pipe()?;
/// sender.write_all(b"all of it").await?;
/// drop(sender);
/// let mut text = String::new();
/// receiver.read_to_string(&mut text).await?;
/// assert_eq!(text, "all of it");
/// # Ok(())
/// # }
/// ```
pub struct Receiver {
    io: Evented<File>,
}

impl Receiver {
    end_methods!(
        "Receiver",
        Interest::READABLE,
        OFlags::RDONLY,
        "receiver",
        r#"# let (mut sender, receiver) = heist::net::unix::pipe::pipe()?;
# heist::io::AsyncWriteExt::write_all(&mut sender, b"ping").await?;"#
    );
    readable_methods!(poll_read_ready);
    try_read_methods!(
        "receiver",
        r#"# let (mut sender, receiver) = heist::net::unix::pipe::pipe()?;
# heist::io::AsyncWriteExt::write_all(&mut sender, b"ping").await?;"#
    );
}

async_read!(Receiver, poll_read);
fd_traits!(Receiver);

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("fd", &self.as_raw_fd()).finish()
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("fd", &self.as_raw_fd()).finish()
    }
}

fn expect_pipe(fd: &File) -> io::Result<()> {
    match FileType::from_raw_mode(fstat(fd)?.st_mode) {
        FileType::Fifo => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a pipe")),
    }
}

/// Fails unless the file is open with this access mode, or for both directions.
fn make_nonblocking(fd: &File, mode: OFlags) -> io::Result<()> {
    let flags = fcntl_getfl(fd)?;
    if ![mode, OFlags::RDWR].contains(&(flags & OFlags::RWMODE)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is the other end of the pipe"));
    }
    if !flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(fd, flags | OFlags::NONBLOCK)?;
    }
    Ok(())
}
