//! The standard streams of the process, through blocking threads.

use super::background::{Background, MAX_BUF_SIZE, poll_counted};
use super::{AsyncRead, AsyncWrite, ReadBuf};
use crate::runtime::Handle;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A handle on the standard input of the process.
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

/// The standard input of the process. Made by [`stdin`].
///
/// A read waits on a blocking thread, and nothing can stop it there. If it is cancelled it goes on,
/// and what it reads is given to the next read of the same handle: keep the handle, do not make one
/// for each read. If the runtime goes down it waits for such a read, until somebody presses Enter or
/// the other end closes; leave it with
/// [`shutdown_background`](crate::runtime::Runtime::shutdown_background), or read in a thread of your
/// own, where a person is at the other end.
///
/// All handles, and [`std::io::stdin`], share one buffer in the standard library.
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

/// A handle on the standard output of the process.
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

/// The standard output of the process. Made by [`stdout`].
///
/// A write returns when the bytes are in a buffer; a blocking thread writes them. What went wrong is
/// reported by the next write or flush, so end with a flush. What was accepted is written though the
/// handle be dropped or the runtime go down.
///
/// The bytes of one write stay together, up to two megabytes; those of `write_all` and of several
/// tasks may be mixed. The standard library keeps the end of a line that is not complete until there
/// is a flush.
#[derive(Debug)]
pub struct Stdout(Output<io::Stdout>);

/// A handle on the standard error of the process.
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

/// The standard error of the process. Made by [`stderr`].
///
/// As [`Stdout`], but the standard library keeps nothing back.
#[derive(Debug)]
pub struct Stderr(Output<io::Stderr>);

/// A stream that is written to.
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

    /// Waits for what is going on, and says what has come of it.
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

            /// Flushes: others may still write to the stream.
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
