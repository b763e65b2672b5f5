//! An open file.

use super::{FileTimes, OpenOptions};
use crate::io::background::{self, Background, Buffer, MAX_BUF_SIZE, poll_counted};
use crate::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use crate::runtime::Handle;
use crate::task;
use crate::tokio_parts::sync::{Mutex, MutexGuard};
use std::fmt;
use std::fs::{File as StdFile, Metadata, Permissions};
use std::future::poll_fn;
use std::io::{self, IoSlice, Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

/// An open file, read and written on blocking threads.
///
/// A write returns when the bytes are in a buffer; a blocking thread writes them to the file. What
/// went wrong is reported by the next write or flush. **So flush before you drop it**, with
/// [`flush`] or [`shutdown`], if you want to know; what was accepted is written in any case, though
/// the runtime go down. That it reaches the disk is what [`sync_all`](Self::sync_all) is for.
///
/// A read or seek that is cancelled goes on, and leaves the file as if it had not been begun: what
/// was read is given to the next read, and a write, a seek or [`set_len`](Self::set_len) goes from
/// where the last read that returned has ended.
///
/// It belongs to no runtime: each operation uses blocking threads of the runtime it is called in,
/// and panics where there is none. If that one has gone down the operation fails, and
/// [`is_rt_shutdown_err`](crate::runtime::is_rt_shutdown_err) knows the error.
///
/// ```
/// use heist::fs::File;
/// use heist::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("song");
/// let mut file = File::create_new(path).await?;
/// file.write_all(b"row, row, row your boat").await?;
/// file.seek(SeekFrom::Start(10)).await?;
/// let mut rest = String::new();
/// file.read_to_string(&mut rest).await?;
/// assert_eq!(rest, "row your boat");
/// # Ok(())
/// # }
/// ```
///
/// For ordinary files only: a read of a pipe or a terminal may wait for ever, and keeps its thread,
/// and the runtime from going down, for as long.
///
/// [`flush`]: crate::io::AsyncWriteExt::flush
/// [`shutdown`]: crate::io::AsyncWriteExt::shutdown
pub struct File {
    std: Arc<StdFile>,
    /// Locked by the methods that take `&self` and wait.
    inner: Mutex<Inner>,
    max_buf_size: usize,
}

/// What is going on. There is one operation at a time, but for those that look at nothing that
/// another changes: they are not counted here.
struct Inner {
    background: Background<Done>,
    /// Of a write that has ended and that nobody has asked about.
    write_error: Option<io::Error>,
    /// Where the last seek has led.
    position: u64,
}

/// What an operation was, and what has come of it. What was read is in the buffer.
#[derive(Debug)]
enum Done {
    Read(io::Result<()>),
    Write(io::Result<()>),
    Seek(io::Result<u64>),
    Other(io::Result<()>),
}

impl File {
    /// Opens a file to be read.
    ///
    /// # Errors
    /// If it is not there, may not be read, and for all the other reasons of
    /// [`std::fs::File::open`].
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        File::options().read(true).open(path).await
    }

    /// Opens a file to be written; makes it if it is not there, empties it if it is.
    ///
    /// # Errors
    /// Those of [`std::fs::File::create`].
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        File::options().write(true).create(true).truncate(true).open(path).await
    }

    /// Makes a file and opens it to be read and written.
    ///
    /// # Errors
    /// If there is something of that name, a dangling link included, and those of
    /// [`std::fs::File::create_new`].
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(path).await
    }

    /// How a file is opened, to be changed; as [`OpenOptions::new`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Makes one of a file of the standard library.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let std = std::fs::File::open("Cargo.toml")?;
    /// let file = heist::fs::File::from_std(std);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_std(std: StdFile) -> File {
        let inner = Inner { background: Background::new(), write_error: None, position: 0 };
        File { std: Arc::new(std), inner: Mutex::new(inner), max_buf_size: MAX_BUF_SIZE }
    }

    /// Waits until all that was written, and what the system knows about the file, is on the disk.
    ///
    /// A write in the background is waited for. If it fails, the next write or flush says so.
    ///
    /// # Errors
    /// Those of [`std::fs::File::sync_all`].
    pub async fn sync_all(&self) -> io::Result<()> {
        let _lock = self.quiet().await;
        self.run("File::sync_all", StdFile::sync_all).await
    }

    /// As [`sync_all`](Self::sync_all), without what is not needed to read the file: the time of its
    /// last change, for example.
    ///
    /// # Errors
    /// Those of [`std::fs::File::sync_data`].
    pub async fn sync_data(&self) -> io::Result<()> {
        let _lock = self.quiet().await;
        self.run("File::sync_data", StdFile::sync_data).await
    }

    /// Cuts the file off, or makes it longer with zeros. Where the next read or write begins does not
    /// change.
    ///
    /// # Errors
    /// If it was not opened to be written, and those of [`std::fs::File::set_len`].
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        let mut inner = self.quiet().await;
        let std = Arc::clone(&self.std);
        // Cancelled, it is an operation that is going on, like all others.
        inner.background.start("File::set_len", move |buffer| {
            Done::Other(forget_unread(&std, buffer).and_then(|()| std.set_len(size)))
        });
        match poll_fn(|cx| inner.background.poll_done(cx)).await {
            Some(Ok(Done::Other(result))) => result,
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => unreachable!("the file is locked"),
        }
    }

    /// What the system knows about the file. Does not wait for a write in the background: flush first.
    ///
    /// # Errors
    /// Those of [`std::fs::File::metadata`].
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.run("File::metadata", StdFile::metadata).await
    }

    /// Another handle on the same open file: reads, writes and seeks of one move the other.
    ///
    /// # Errors
    /// If there are too many open files, and those of [`std::fs::File::try_clone`].
    pub async fn try_clone(&self) -> io::Result<File> {
        self.quiet().await.forget_unread(&self.std).await;
        let std = self.run("File::try_clone", StdFile::try_clone).await?;
        Ok(File { max_buf_size: self.max_buf_size, ..File::from_std(std) })
    }

    /// The file of the standard library, once nothing is going on any more. It is where the last
    /// read or write has ended.
    pub async fn into_std(mut self) -> StdFile {
        let inner = self.inner.get_mut();
        inner.quiet().await;
        inner.forget_unread(&self.std).await;
        let mut shared = self.std;
        loop {
            shared = match Arc::try_unwrap(shared) {
                Ok(std) => return std,
                Err(shared) => shared,
            };
            // A `metadata` that was cancelled is still at it.
            match shared.try_clone() {
                Ok(std) => return std,
                Err(_) => task::yield_now().await,
            }
        }
    }

    /// The file of the standard library, if nothing is going on. What a cancelled read has read is
    /// lost; [`into_std`](Self::into_std) goes back.
    ///
    /// # Errors
    /// The file itself if a read, a write or something else is going on.
    pub fn try_into_std(mut self) -> Result<StdFile, File> {
        match Arc::try_unwrap(self.std) {
            Ok(std) => Ok(std),
            Err(shared) => {
                self.std = shared;
                Err(self)
            }
        }
    }

    /// Changes who may do what with the file.
    ///
    /// # Errors
    /// If the user may not, and those of [`std::fs::File::set_permissions`].
    pub async fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        self.run("File::set_permissions", move |std| std.set_permissions(perm)).await
    }

    /// Sets when the file was last read and changed. Waits for a read or write in the background,
    /// which would set them again.
    ///
    /// # Errors
    /// Those of [`std::fs::File::set_times`].
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let _lock = self.quiet().await;
        self.run("File::set_times", move |std| std.set_times(times.into_std())).await
    }

    /// Sets when the file was last changed; as [`set_times`](Self::set_times).
    ///
    /// # Errors
    /// Those of [`std::fs::File::set_modified`].
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }

    /// Sets how much one operation reads or writes at most. It is two megabytes else.
    ///
    /// # Panics
    /// If it is zero.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(
            max_buf_size > 0,
            "File::set_max_buf_size: `max_buf_size` must be greater than 0, or nothing could be \
             read or written"
        );
        self.max_buf_size = max_buf_size;
    }

    /// How much one operation reads or writes at most.
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }

    /// Has a thread do something beside what is going on.
    async fn run<T: Send + 'static>(
        &self,
        api: &'static str,
        operation: impl FnOnce(&StdFile) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let std = Arc::clone(&self.std);
        background::run(api, move || operation(&std)).await
    }

    /// Locks it once nothing is going on.
    async fn quiet(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock().await;
        inner.quiet().await;
        inner
    }

    fn poll_write_slices(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let inner = self.inner.get_mut();
        ready!(inner.poll_flush(cx))?;
        if slices.iter().all(|slice| slice.is_empty()) {
            return Poll::Ready(Ok(0));
        }
        let handle = Handle::current_for("File::write");
        let unread = inner.background.buffer.len();
        let count = inner.background.buffer.copy_from(slices, self.max_buf_size);
        let std = Arc::clone(&self.std);
        inner.background.start_mandatory(&handle, move |buffer| {
            Done::Write(go_back(&std, unread).and_then(|()| buffer.write_to(&*std)))
        })?;
        Poll::Ready(Ok(count))
    }
}

impl Inner {
    /// Waits for what is going on; if it is a write, what went wrong is kept for the next one.
    async fn quiet(&mut self) {
        let waited = poll_fn(|cx| self.poll_quiet(cx)).await;
        self.write_error = self.write_error.take().or(waited.err());
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(done) = ready!(self.background.poll_done(cx)) {
            self.note(done?);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_quiet(cx))?;
        Poll::Ready(self.write_error.take().map_or(Ok(()), Err))
    }

    /// An operation has ended that nobody waits for. What a cancelled one has met is nobody's
    /// business, but a write was not cancelled.
    fn note(&mut self, done: Done) {
        match done {
            Done::Write(Err(error)) => self.write_error = Some(error),
            Done::Seek(Ok(position)) => self.position = position,
            Done::Write(Ok(())) | Done::Seek(Err(_)) | Done::Read(_) | Done::Other(_) => {}
        }
    }

    /// If nothing is going on: goes back to where the last read that returned has ended.
    async fn forget_unread(&mut self, std: &Arc<StdFile>) {
        if self.background.buffer.is_empty() {
            return;
        }
        let std = Arc::clone(std);
        self.background.start("File", move |buffer| Done::Other(forget_unread(&std, buffer)));
        self.quiet().await;
    }
}

/// Goes back to where the last read that returned has ended. What cannot be read again is kept.
fn forget_unread(std: &StdFile, buffer: &mut Buffer) -> io::Result<()> {
    go_back(std, buffer.len())?;
    buffer.clear();
    Ok(())
}

fn go_back(mut std: &StdFile, unread: usize) -> io::Result<()> {
    if unread > 0 {
        let unread = i64::try_from(unread).expect("a buffer is not larger than memory");
        std.seek(SeekFrom::Current(-unread))?;
    }
    Ok(())
}

impl AsyncRead for File {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let File { std, inner, max_buf_size } = self.get_mut();
        let inner = inner.get_mut();
        poll_counted(cx, |cx| {
            loop {
                match ready!(inner.background.poll_done(cx)).transpose()? {
                    Some(Done::Read(result)) => {
                        result?;
                        inner.background.buffer.move_to(room);
                        return Poll::Ready(Ok(()));
                    }
                    Some(other) => inner.note(other),
                    None => {
                        if room.remaining() == 0 || !inner.background.buffer.is_empty() {
                            inner.background.buffer.move_to(room);
                            return Poll::Ready(Ok(()));
                        }
                        let (std, max) = (Arc::clone(std), room.remaining().min(*max_buf_size));
                        inner.background.start("File::read", move |buffer| {
                            Done::Read(buffer.read_from(&*std, max))
                        });
                    }
                }
            }
        })
    }
}

impl AsyncWrite for File {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let file = self.get_mut();
        poll_counted(cx, |cx| file.poll_write_slices(cx, &[IoSlice::new(bytes)]))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let file = self.get_mut();
        poll_counted(cx, |cx| file.poll_write_slices(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_counted(cx, |cx| self.inner.get_mut().poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl AsyncSeek for File {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        let file = self.get_mut();
        let background = &mut file.inner.get_mut().background;
        if background.is_running() {
            return Err(io::Error::other(
                "File::start_seek: another operation is going on; call poll_complete first",
            ));
        }
        let std = Arc::clone(&file.std);
        background.start("File::seek", move |buffer| {
            // Also if it is from the start or the end: it may fail.
            Done::Seek(forget_unread(&std, buffer).and_then(|()| (&*std).seek(position)))
        });
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let inner = self.inner.get_mut();
        poll_counted(cx, |cx| {
            loop {
                match ready!(inner.background.poll_done(cx)).transpose()? {
                    Some(Done::Seek(Err(error))) => return Poll::Ready(Err(error)),
                    Some(other) => inner.note(other),
                    None => return Poll::Ready(Ok(inner.position)),
                }
            }
        })
    }
}

impl From<StdFile> for File {
    fn from(std: StdFile) -> File {
        File::from_std(std)
    }
}

impl From<OwnedFd> for File {
    fn from(fd: OwnedFd) -> File {
        File::from_std(fd.into())
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.std.as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.std.as_raw_fd()
    }
}

impl FromRawFd for File {
    unsafe fn from_raw_fd(fd: RawFd) -> File {
        // SAFETY: (FFI) the caller has the same contract to keep.
        File::from_std(unsafe { StdFile::from_raw_fd(fd) })
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("heist::fs::File").field("std", &self.std).finish()
    }
}
