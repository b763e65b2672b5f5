//! The pipes of a child.

use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use crate::reactor::Reactors;
use crate::reactor::io::{Evented, Interest};
use crate::runtime::Handle;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::{Context, Poll};

/// This end of a pipe. It is non-blocking; the child's end, which is another file, is blocking.
struct Pipe(Evented<File>);

impl Pipe {
    fn new(end: OwnedFd, interest: Interest, reactors: &Arc<Reactors>) -> io::Result<Pipe> {
        rustix::io::ioctl_fionbio(&end, true)?;
        Ok(Pipe(Evented::new(Arc::clone(reactors), File::from(end), interest)))
    }

    /// Makes it blocking again, as other processes expect of their standard streams.
    fn into_owned_fd(self) -> io::Result<OwnedFd> {
        let end = OwnedFd::from(self.0.into_inner()?);
        rustix::io::ioctl_fionbio(&end, false)?;
        Ok(end)
    }
}

macro_rules! pipe {
    ($(#[$doc:meta])* $name:ident, $interest:expr) => {
        $(#[$doc])*
        pub struct $name {
            pipe: Pipe,
        }

        impl $name {
            /// Converts a pipe of the standard library.
            ///
            /// # Errors
            ///
            /// Returns an error if a system call fails.
            ///
            /// # Panics
            ///
            /// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
            /// [`enable_io`](crate::runtime::Builder::enable_io).
            ///
            /// # Examples
            ///
            /// ```
            /// use heist::io::{AsyncReadExt, AsyncWriteExt};
            /// use heist::process::{ChildStderr, ChildStdin, ChildStdout};
            /// use std::process::Stdio;
            ///
            /// # #[heist::main(flavor = "current_thread")]
            /// # async fn main() -> std::io::Result<()> {
            /// // Children of the standard library can be read and written like those of this crate.
            /// let mut cat = std::process::Command::new("cat")
            ///     .stdin(Stdio::piped())
            ///     .stdout(Stdio::piped())
            ///     .stderr(Stdio::piped())
            ///     .spawn()?;
            /// let mut stdin = ChildStdin::from_std(cat.stdin.take().unwrap())?;
            /// let mut stdout = ChildStdout::from_std(cat.stdout.take().unwrap())?;
            /// let mut stderr = ChildStderr::from_std(cat.stderr.take().unwrap())?;
            /// stdin.write_all(b"meow").await?;
            /// drop(stdin);
            /// let (mut out, mut err) = (String::new(), String::new());
            /// stdout.read_to_string(&mut out).await?;
            /// stderr.read_to_string(&mut err).await?;
            /// assert_eq!((out.as_str(), err.as_str()), ("meow", ""));
            /// cat.wait()?;
            /// # Ok(())
            /// # }
            /// ```
            #[track_caller]
            pub fn from_std(inner: std::process::$name) -> io::Result<Self> {
                const API: &str = concat!(stringify!($name), "::from_std");
                $name::new(inner, &Handle::current_for(API).reactors_for_io(API))
            }

            pub(super) fn new(
                inner: std::process::$name,
                reactors: &Arc<Reactors>,
            ) -> io::Result<Self> {
                Ok($name { pipe: Pipe::new(inner.into(), $interest, reactors)? })
            }

            /// Converts into a descriptor, which is made blocking.
            ///
            /// # Errors
            ///
            /// Returns an error if a system call fails.
            pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
                self.pipe.into_owned_fd()
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.pipe.0.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.pipe.0.as_raw_fd()
            }
        }

        /// Connects this end to another child.
        impl TryFrom<$name> for Stdio {
            type Error = io::Error;

            fn try_from(pipe: $name) -> io::Result<Stdio> {
                pipe.into_owned_fd().map(Stdio::from)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("fd", &self.as_raw_fd()).finish()
            }
        }
    };
}

pipe! {
    /// The write end of a child's standard input. Dropping it ends that input; `shutdown` does not.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::AsyncWriteExt;
    /// use heist::process::Command;
    /// use std::process::Stdio;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// let mut stdin = cat.stdin.take().unwrap();
    /// stdin.write_all(b"meow").await?;
    /// drop(stdin); // `cat` reads the end.
    /// assert_eq!(cat.wait_with_output().await?.stdout, b"meow");
    /// # Ok(())
    /// # }
    /// ```
    ChildStdin, Interest::WRITABLE
}

pipe! {
    /// The read end of a child's standard output.
    ///
    /// # Examples
    ///
    /// One child can read what another writes, without passing through this process:
    ///
    /// ```
    /// use heist::process::Command;
    /// use std::process::Stdio;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut echo = Command::new("echo").arg("pipes").stdout(Stdio::piped()).spawn()?;
    /// let pipe: Stdio = echo.stdout.take().unwrap().try_into()?;
    /// let output = Command::new("tr").args(["a-z", "A-Z"]).stdin(pipe).output().await?;
    /// assert_eq!(output.stdout, b"PIPES\n");
    /// echo.wait().await?;
    /// # Ok(())
    /// # }
    /// ```
    ChildStdout, Interest::READABLE
}

pipe! {
    /// The read end of a child's standard error.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::AsyncReadExt;
    /// use heist::process::Command;
    /// use std::process::Stdio;
    ///
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("sh").args(["-c", "echo oops >&2"]).stderr(Stdio::piped()).spawn()?;
    /// let mut text = String::new();
    /// child.stderr.take().unwrap().read_to_string(&mut text).await?;
    /// child.wait().await?;
    /// assert_eq!(text, "oops\n");
    /// # Ok(())
    /// # }
    /// ```
    ChildStderr, Interest::READABLE
}

impl AsyncRead for ChildStdout {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.pipe.0.poll_read(cx, buf)
    }
}

impl AsyncRead for ChildStderr {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.pipe.0.poll_read(cx, buf)
    }
}

impl AsyncWrite for ChildStdin {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.pipe.0.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.pipe.0.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
