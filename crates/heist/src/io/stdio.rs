//! The standard streams of the process, through blocking threads.

use super::background::{Background, MAX_BUF_SIZE, poll_counted};
use super::{AsyncRead, AsyncWrite, ReadBuf};
use crate::runtime::Handle;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Returns a handle to the standard input of the process.
///
/// # Examples
///
/// ```no_run
/// use heist::io::{self, AsyncBufReadExt, BufReader};
///
/// # #[heist::main]
/// # async fn main() -> io::Result<()> {
/// let mut lines = BufReader::new(io::stdin()).lines();
/// while let Some(line) = lines.next_line().await? {
///     println!("{} characters", line.chars().count());
/// }
/// # Ok(())
/// # }
/// ```
pub fn stdin() -> Stdin {
    Stdin { std: Arc::new(io::stdin()), background: Background::new() }
}

/// The standard input of the process, returned by [`stdin`].
///
/// A read waits on a blocking thread, where nothing can stop it. The shutdown of the runtime waits
/// for it, until the user presses Enter or the other end closes. Therefore, end an interactive
/// program with [`shutdown_background`](crate::runtime::Runtime::shutdown_background), or read in a
/// thread of your own.
///
/// All handles, and [`std::io::stdin`], share one buffer in the standard library.
///
/// # Cancel safety
///
/// A cancelled read continues, and its bytes go to the next read of the same handle. Keep one
/// handle instead of making one for each read.
///
/// # Examples
///
/// ```
/// use heist::io::{AsyncBufReadExt, BufReader, stdin};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # if false {
/// let mut lines = BufReader::new(stdin()).lines();
/// while let Some(line) = lines.next_line().await? {
///     println!("{line}");
/// }
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stdin {
    std: Arc<io::Stdin>,
    background: Background<io::Result<()>>,
}

impl AsyncRead for Stdin {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Stdin { std, background } = self.get_mut();
        poll_counted(cx, |cx| {
            if !background.is_running() {
                if room.remaining() == 0 || !background.buffer.is_empty() {
                    background.buffer.move_to(room);
                    return Poll::Ready(Ok(()));
                }
                let (std, max) = (Arc::clone(std), room.remaining().min(MAX_BUF_SIZE));
                background.start("Stdin", move |buffer| buffer.read_from(&*std, max));
            }
            if let Some(done) = ready!(background.poll_done(cx)) {
                done??;
            }
            background.buffer.move_to(room);
            Poll::Ready(Ok(()))
        })
    }
}

impl AsFd for Stdin {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.std.as_fd()
    }
}

impl AsRawFd for Stdin {
    fn as_raw_fd(&self) -> RawFd {
        self.std.as_raw_fd()
    }
}

/// Returns a handle to the standard output of the process.
///
/// # Examples
///
/// ```
/// use heist::io::{self, AsyncWriteExt};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> io::Result<()> {
/// let mut stdout = io::stdout();
/// stdout.write_all(b"to be or not to be\n").await?;
/// stdout.flush().await?;
/// # Ok(())
/// # }
/// ```
pub fn stdout() -> Stdout {
    Stdout(Output::new("Stdout", io::stdout()))
}

/// The standard output of the process, returned by [`stdout`].
///
/// A write completes when the bytes are in a buffer, which a blocking thread then writes. Its error
/// is returned by the next write or flush, so end with a flush. Accepted bytes are written even if
/// the handle is dropped or the runtime is shut down.
///
/// The bytes of one write stay together, up to 2 MiB; those of `write_all` and of several tasks may
/// be interleaved. The standard library holds back an incomplete last line until a flush.
///
/// # Examples
///
/// ```
/// use heist::io::{AsyncWriteExt, stdout};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut out = stdout();
/// out.write_all(b"done\n").await?;
/// out.flush().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stdout(Output<io::Stdout>);

/// Returns a handle to the standard error of the process.
///
/// # Examples
///
/// ```
/// use heist::io::{self, AsyncWriteExt};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> io::Result<()> {
/// let mut stderr = io::stderr();
/// stderr.write_all(b"that is the question\n").await?;
/// stderr.flush().await?;
/// # Ok(())
/// # }
/// ```
pub fn stderr() -> Stderr {
    Stderr(Output::new("Stderr", io::stderr()))
}

/// The standard error of the process, returned by [`stderr`].
///
/// It works like [`Stdout`], but the standard library holds nothing back.
///
/// # Examples
///
/// ```
/// use heist::io::{AsyncWriteExt, stderr};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// stderr().write_all(b"no space left\n").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stderr(Output<io::Stderr>);

/// A stream for writing.
#[derive(Debug)]
struct Output<T> {
    api: &'static str,
    std: Arc<T>,
    background: Background<io::Result<()>>,
    /// Whether something was written since the last flush.
    needs_flush: bool,
}

impl<T: Send + Sync + 'static> Output<T>
where
    for<'a> &'a T: Write,
{
    fn new(api: &'static str, std: T) -> Self {
        Output { api, std: Arc::new(std), background: Background::new(), needs_flush: false }
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_quiet(cx))?;
        let handle = Handle::current_for(self.api);
        let count = self.background.buffer.copy_from(slices, MAX_BUF_SIZE);
        if count > 0 {
            let std = Arc::clone(&self.std);
            self.background.start_mandatory(&handle, move |buffer| buffer.write_to(&*std))?;
            self.needs_flush = true;
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_quiet(cx))?;
        if self.needs_flush {
            let (handle, std) = (Handle::current_for(self.api), Arc::clone(&self.std));
            self.background.start_mandatory(&handle, move |_| (&*std).flush())?;
            self.needs_flush = false;
            ready!(self.poll_quiet(cx))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Waits for the operation in progress, and returns its result.
    fn poll_quiet(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(done) = ready!(self.background.poll_done(cx)) {
            done??;
        }
        Poll::Ready(Ok(()))
    }
}

macro_rules! output {
    ($($Type:ident)*) => { $(
        impl AsyncWrite for $Type {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bytes: &[u8],
            ) -> Poll<io::Result<usize>> {
                poll_counted(cx, |cx| self.0.poll_write(cx, &[IoSlice::new(bytes)]))
            }

            fn poll_write_vectored(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                slices: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                poll_counted(cx, |cx| self.0.poll_write(cx, slices))
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                poll_counted(cx, |cx| self.0.poll_flush(cx))
            }

            /// Only flushes, because other handles may still write to the stream.
            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }

        impl AsFd for $Type {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.std.as_fd()
            }
        }

        impl AsRawFd for $Type {
            fn as_raw_fd(&self) -> RawFd {
                self.0.std.as_raw_fd()
            }
        }
    )* };
}

output! { Stdout Stderr }
