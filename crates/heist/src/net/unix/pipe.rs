//! Pipes: [`pipe`] makes one, [`OpenOptions`] opens one that has a name in the file system (a FIFO).

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

/// A new pipe: what is written to the one comes out of the other.
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
/// If the process has no descriptor left.
///
/// # Panics
/// If the calling thread is in no runtime, or the runtime does no I/O.
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (receiver, sender) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let (writable, readable) = (Interest::WRITABLE, Interest::READABLE);
    let sender = source::register("pipe", sender.into(), writable, Ready::WRITABLE);
    let receiver = source::register("pipe", receiver.into(), readable, Ready::EMPTY);
    Ok((Sender { io: sender }, Receiver { io: receiver }))
}

/// How to open a FIFO.
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
    /// Each for its own direction, and only what is a FIFO.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Whether it is opened for both directions. A sender then needs no receiver to be opened first,
    /// and a receiver sees no end when the last sender is gone; but only Linux can do that.
    pub fn read_write(&mut self, value: bool) -> &mut Self {
        self.read_write = value;
        self
    }

    /// Whether nobody looks if it is a FIFO. Something else that can be waited for works as far as it
    /// is like one; a regular file is an error all the same.
    pub fn unchecked(&mut self, value: bool) -> &mut Self {
        self.unchecked = value;
        self
    }

    /// Opens the end that reads. Until a sender has opened the other end, one waits for that too.
    ///
    /// # Errors
    /// If there is no such file, or it is no FIFO.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
    #[track_caller]
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        let file = self.open(path.as_ref(), std::fs::OpenOptions::new().read(true))?;
        let api = "OpenOptions::open_receiver";
        Ok(Receiver { io: source::register_now(api, file, Interest::READABLE)? })
    }

    /// Opens the end that writes.
    ///
    /// # Errors
    /// If there is no such file, or it is no FIFO; `ENXIO` if nobody has opened it to read.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, or the runtime does no I/O.
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

/// What both ends have. `$mode` is the way in which a file of that end is open, unless it is open in
/// both ways.
macro_rules! end_methods {
    ($name:literal, $interest:expr, $mode:expr) => {
        /// Takes over a file that is this end of a pipe, and makes it non-blocking.
        ///
        /// # Errors
        /// If it is no pipe, or the other end of it.
        ///
        /// # Panics
        /// If the calling thread is in no runtime, or the runtime does no I/O.
        #[track_caller]
        pub fn from_file(file: File) -> io::Result<Self> {
            expect_pipe(&file)?;
            make_nonblocking(&file, $mode)?;
            let io = source::register_now(concat!($name, "::from_file"), file, $interest)?;
            Ok(Self { io })
        }

        /// Takes over a descriptor of this end of a pipe, and makes it non-blocking.
        ///
        /// # Errors
        /// If it is no pipe, or the other end of it.
        ///
        /// # Panics
        /// If the calling thread is in no runtime, or the runtime does no I/O.
        #[track_caller]
        pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<Self> {
            Self::from_file(owned_fd.into())
        }

        /// As [`from_file`](Self::from_file) without looking: it must be a pipe or something like it,
        /// and non-blocking.
        ///
        /// # Errors
        /// If it cannot be waited for, as a regular file.
        ///
        /// # Panics
        /// If the calling thread is in no runtime, or the runtime does no I/O.
        #[track_caller]
        pub fn from_file_unchecked(file: File) -> io::Result<Self> {
            let api = concat!($name, "::from_file_unchecked");
            Ok(Self { io: source::register_now(api, file, $interest)? })
        }

        /// As [`from_owned_fd`](Self::from_owned_fd) without looking: it must be a pipe or something
        /// like it, and non-blocking.
        ///
        /// # Errors
        /// If it cannot be waited for, as a regular file.
        ///
        /// # Panics
        /// If the calling thread is in no runtime, or the runtime does no I/O.
        #[track_caller]
        pub fn from_owned_fd_unchecked(owned_fd: OwnedFd) -> io::Result<Self> {
            Self::from_file_unchecked(owned_fd.into())
        }

        /// Gives the descriptor away, as it is: non-blocking.
        ///
        /// # Errors
        /// If it cannot be taken out of its reactor.
        pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
            self.io.into_inner().map(OwnedFd::from)
        }

        /// Gives the descriptor away, and makes it blocking: for a child process, say.
        ///
        /// # Errors
        /// If it cannot be taken out of its reactor, or not be made blocking.
        pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
            let fd = self.into_nonblocking_fd()?;
            fcntl_setfl(&fd, fcntl_getfl(&fd)? - OFlags::NONBLOCK)?;
            Ok(fd)
        }

        ready_methods!();

        /// Calls `f`, an operation of your own on this end, if it may be ready. If `f` returns
        /// `WouldBlock`, the end counts as not ready from then on: so `f` must do that only if the pipe
        /// itself did.
        ///
        /// # Errors
        /// Those of `f`, and `WouldBlock` if `f` was not called.
        pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
            self.io.try_io($interest, |_| f())
        }
    };
}

/// The end of a pipe that writes.
///
/// Writing fails when the last receiver is gone. There is nothing to shut down: dropping the last
/// sender is the end.
pub struct Sender {
    io: Evented<File>,
}

impl Sender {
    end_methods!("Sender", Interest::WRITABLE, OFlags::WRONLY);
    writable_methods!(poll_write_ready);
    try_write_methods!();
}

async_write!(Sender, |_| Ok(()));
fd_traits!(Sender);

/// The end of a pipe that reads. It reads an end when the last sender is gone.
pub struct Receiver {
    io: Evented<File>,
}

impl Receiver {
    end_methods!("Receiver", Interest::READABLE, OFlags::RDONLY);
    readable_methods!(poll_read_ready);
    try_read_methods!();
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
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no pipe")),
    }
}

/// Fails if it is not open in this way, and not in both.
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
