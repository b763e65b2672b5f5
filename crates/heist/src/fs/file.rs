//! `File`.

#[cfg(all(test, not(loom)))]
mod tests;

use super::{FileTimes, OpenOptions};
use crate::env::{self, Cached};
use crate::io::background::{self, Background, Buffer, MAX_BUF_SIZE, poll_counted};
use crate::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use crate::runtime::{Handle, context};
use crate::task::{self, coop};
use crate::tokio_parts::sync::{Mutex, MutexGuard};
use crate::tuning::READ_PER_UNIT;
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

/// An open file, which is read and written on blocking threads, or read from the system's cache by
/// the task itself.
///
/// A write completes when the bytes are in a buffer, which a blocking thread then writes to the
/// file. Its error is returned by the next write or flush. **Flush a file before you drop it**,
/// with [`flush`] or [`shutdown`], to learn about errors; accepted bytes are written in any case,
/// even if the runtime is shut down. [`sync_all`](Self::sync_all) waits until they are on the disk.
///
/// Operations can be used in any runtime, and use its blocking threads; they panic outside of
/// runtimes. If the runtime has been shut down they return an error for which
/// [`is_rt_shutdown_err`](crate::runtime::is_rt_shutdown_err) is true.
///
/// This type is for regular files. A read of a pipe or a terminal may block forever, and then keeps
/// its thread and delays the shutdown of the runtime.
///
/// # Examples
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
/// # Reads from the cache
///
/// A task first tries to read without waiting (`preadv2` with `RWF_NOWAIT`), and leaves the read to
/// a blocking thread if the bytes are not in the system's cache. It also seeks without a blocking
/// thread, except relative to the end. Each 16 KiB takes a unit of the task's
/// [budget](crate::task::coop). A read returns fewer bytes than it has room for if the rest is not
/// in the cache, or if the budget is used up.
///
/// This needs Linux 5.11, a regular file on a file system that supports it, such as ext4, XFS and
/// Btrfs, and no `O_DIRECT`. It also needs a file that nobody else is using: others, who read from
/// the disk, would keep the task waiting for the position, which they share. So it is left out for
/// files that were not opened by heist ([`from_std`](Self::from_std)) and for those with a second
/// handle ([`try_clone`](Self::try_clone)). heist does not notice if a descriptor is copied
/// otherwise, such as by a fork. The position is the system's own in any case, so that blocking
/// threads and other handles see it.
///
/// # Cancel safety
///
/// Reads and seeks are cancel safe. A cancelled read continues in the background, and the next read
/// returns its bytes; a write, seek or [`set_len`](Self::set_len) starts from where the last
/// completed read ended.
///
/// [`flush`]: crate::io::AsyncWriteExt::flush
/// [`shutdown`]: crate::io::AsyncWriteExt::shutdown
pub struct File {
    std: Arc<StdFile>,
    /// Locked by the methods that take `&self` and wait.
    inner: Mutex<Inner>,
    max_buf_size: usize,
}

/// The operation in progress. There is at most one, not counting those that read nothing that
/// another operation changes.
struct Inner {
    background: Background<Done>,
    /// The error of a write that has ended, until it is reported.
    write_error: Option<io::Error>,
    /// The position after the last seek.
    position: u64,
    /// Whether reads and seeks that do not wait are done by the task itself: for files that
    /// support it, and that nobody else uses.
    is_immediate: bool,
}

/// An operation that has ended, and its result. Bytes that were read are in the buffer.
#[derive(Debug)]
enum Done {
    Read(io::Result<()>),
    Write(io::Result<()>),
    Seek(io::Result<u64>),
    Other(io::Result<()>),
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::File::open`], for example if the file does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use heist::io::AsyncReadExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut text = String::new();
    /// File::open("Cargo.toml").await?.read_to_string(&mut text).await?;
    /// assert!(text.starts_with("[package]"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        File::options().read(true).open(path).await
    }

    /// Opens a file for writing. It is created if it does not exist, and truncated if it does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::File::create`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use heist::io::AsyncWriteExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("note");
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"remember").await?;
    /// file.flush().await?;
    /// assert_eq!(heist::fs::read(&path).await?, b"remember");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        File::options().write(true).create(true).truncate(true).open(path).await
    }

    /// Creates a file and opens it for reading and writing.
    ///
    /// # Errors
    ///
    /// Returns an error if the path exists, even as a dangling link, and the errors of
    /// [`std::fs::File::create_new`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use std::io::ErrorKind;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("lock");
    /// File::create_new(&path).await?;
    /// assert_eq!(File::create_new(&path).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        File::options().read(true).write(true).create_new(true).open(path).await
    }

    /// Returns options for opening a file; the same as [`OpenOptions::new`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Converts a file of the standard library.
    ///
    /// All of its reads run on blocking threads, because others may be using the same open file.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::AsyncReadExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let std = std::fs::File::open("Cargo.toml")?;
    /// let mut file = heist::fs::File::from_std(std);
    /// let mut first = [0; 9];
    /// file.read_exact(&mut first).await?;
    /// assert_eq!(&first, b"[package]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_std(std: StdFile) -> File {
        File::new(std, false)
    }

    /// Converts a file that was just opened, so that nobody else uses it. May block.
    pub(super) fn from_own(std: StdFile) -> File {
        let is_immediate = env::is_cacheable(&std);
        File::new(std, is_immediate)
    }

    fn new(std: StdFile, is_immediate: bool) -> File {
        let background = Background::new();
        let inner = Inner { background, write_error: None, position: 0, is_immediate };
        File { std: Arc::new(std), inner: Mutex::new(inner), max_buf_size: MAX_BUF_SIZE }
    }

    /// Waits until all data and metadata of the file are on the disk, including writes in progress.
    ///
    /// The error of such a write is returned by the next write or flush.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::File::sync_all`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use heist::io::AsyncWriteExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let mut file = File::create(dir.path().join("journal")).await?;
    /// file.write_all(b"transfer 7").await?;
    /// file.sync_all().await?; // From here on the entry survives a power failure.
    /// # Ok(())
    /// # }
    /// ```
    pub async fn sync_all(&self) -> io::Result<()> {
        let _lock = self.quiet().await;
        self.run("File::sync_all", StdFile::sync_all).await
    }

    /// Waits until the data of the file is on the disk, like [`sync_all`](Self::sync_all), without
    /// metadata that is not needed to read it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::File::sync_data`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use heist::io::AsyncWriteExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"entry").await?;
    /// file.sync_data().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn sync_data(&self) -> io::Result<()> {
        let _lock = self.quiet().await;
        self.run("File::sync_data", StdFile::sync_data).await
    }

    /// Truncates the file, or extends it with zeros. The current position does not change.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not open for writing, and the errors of
    /// [`std::fs::File::set_len`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let file = File::create(dir.path().join("log")).await?;
    /// file.set_len(1 << 20).await?;
    /// assert_eq!(file.metadata().await?.len(), 1 << 20);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        let mut inner = self.quiet().await;
        let std = Arc::clone(&self.std);
        // If this is cancelled, the operation continues in the background like all others.
        inner.background.start("File::set_len", move |buffer| {
            Done::Other(forget_unread(&std, buffer).and_then(|()| std.set_len(size)))
        });
        match poll_fn(|cx| inner.background.poll_done(cx)).await {
            Some(Ok(Done::Other(result))) => result,
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => unreachable!("the file is locked"),
        }
    }

    /// Returns the metadata of the file. It does not wait for writes in progress; flush first.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::File::metadata`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use heist::io::AsyncWriteExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"five!").await?;
    /// file.flush().await?; // Otherwise the write may be in progress.
    /// assert_eq!(file.metadata().await?.len(), 5);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.run("File::metadata", StdFile::metadata).await
    }

    /// Returns a second handle to the same open file, which shares its position.
    ///
    /// From then on, reads and seeks of both run on blocking threads.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many open files, and the errors of
    /// [`std::fs::File::try_clone`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use heist::io::{AsyncReadExt, AsyncSeekExt};
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut file = File::open("Cargo.toml").await?;
    /// let mut clone = file.try_clone().await?;
    /// file.read_exact(&mut [0; 9]).await?;
    /// assert_eq!(clone.stream_position().await?, 9);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn try_clone(&self) -> io::Result<File> {
        let mut inner = self.quiet().await;
        inner.is_immediate = false;
        inner.forget_unread(&self.std).await;
        drop(inner);
        let std = self.run("File::try_clone", StdFile::try_clone).await?;
        Ok(File { max_buf_size: self.max_buf_size, ..File::from_std(std) })
    }

    /// Converts into a file of the standard library, after waiting for operations in progress.
    ///
    /// Its position is where the last completed read or write ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use std::io::Read;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut file = File::open("Cargo.toml").await?.into_std().await;
    /// let mut start = [0; 9];
    /// file.read_exact(&mut start)?; // Blocks the thread.
    /// assert_eq!(&start, b"[package]");
    /// # Ok(())
    /// # }
    /// ```
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
            // A cancelled `metadata` is still running.
            match shared.try_clone() {
                Ok(std) => return std,
                Err(_) => task::yield_now().await,
            }
        }
    }

    /// Converts into a file of the standard library, if no operation is in progress.
    ///
    /// Bytes that a cancelled read has read are skipped; [`into_std`](Self::into_std) goes back
    /// instead.
    ///
    /// # Errors
    ///
    /// Returns the file itself if an operation is in progress.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use std::io::Write;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// let file = File::create(&path).await?;
    /// let mut file = file.try_into_std().expect("no operation is in progress");
    /// file.write_all(b"data")?; // Blocks the thread.
    /// # Ok(())
    /// # }
    /// ```
    #[expect(clippy::result_large_err, reason = "Tokio's signature")]
    pub fn try_into_std(mut self) -> Result<StdFile, File> {
        match Arc::try_unwrap(self.std) {
            Ok(std) => Ok(std),
            Err(shared) => {
                self.std = shared;
                Err(self)
            }
        }
    }

    /// Changes the permissions of the file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::File::set_permissions`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// let file = File::create(&path).await?;
    /// let mut permissions = file.metadata().await?.permissions();
    /// permissions.set_readonly(true);
    /// file.set_permissions(permissions).await?;
    /// assert!(file.metadata().await?.permissions().readonly());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        self.run("File::set_permissions", move |std| std.set_permissions(perm)).await
    }

    /// Changes the times of the file's last access and modification.
    ///
    /// It waits for reads and writes in progress, which would change the times again.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::File::set_times`].
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let _lock = self.quiet().await;
        self.run("File::set_times", move |std| std.set_times(times.into_std())).await
    }

    /// Changes the time of the file's last modification; see [`set_times`](Self::set_times).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::File::set_modified`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use std::time::SystemTime;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// let file = File::create(&path).await?;
    /// file.set_modified(SystemTime::UNIX_EPOCH).await?;
    /// assert_eq!(file.metadata().await?.modified()?, SystemTime::UNIX_EPOCH);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }

    /// Sets the maximum number of bytes that one operation reads or writes. The default is 2 MiB.
    ///
    /// # Panics
    ///
    /// Panics if `max_buf_size` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::File;
    /// use heist::io::AsyncReadExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut file = File::open("Cargo.toml").await?;
    /// file.set_max_buf_size(4);
    /// assert!(file.read(&mut [0; 100]).await? <= 4);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(
            max_buf_size > 0,
            "File::set_max_buf_size: `max_buf_size` must be greater than 0, or nothing could be \
             read or written"
        );
        self.max_buf_size = max_buf_size;
    }

    /// Returns the maximum number of bytes that one operation reads or writes.
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }

    /// Runs an operation that is independent of the one in progress.
    async fn run<T: Send + 'static>(
        &self,
        api: &'static str,
        operation: impl FnOnce(&StdFile) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let std = Arc::clone(&self.std);
        background::run(api, move || operation(&std)).await
    }

    /// Locks the state when no operation is in progress.
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
    /// Waits for the operation in progress. The error of a write is kept for the next one.
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

    /// Notes the result of an operation that no caller waits for. Errors of cancelled operations
    /// are dropped, but a write was not cancelled.
    fn note(&mut self, done: Done) {
        match done {
            Done::Write(Err(error)) => self.write_error = Some(error),
            Done::Seek(Ok(position)) => self.position = position,
            Done::Write(Ok(())) | Done::Seek(Err(_)) | Done::Read(_) | Done::Other(_) => {}
        }
    }

    /// Reads up to `max` bytes that are in the system's cache. Returns whether it has: bytes, or
    /// the end of the file. No operation may be in progress, and the buffer must be empty.
    ///
    /// Takes a unit of budget for each piece (W9), the first of which the caller has taken: a task
    /// that reads a large file does not keep its worker.
    fn read_cached(&mut self, std: &StdFile, room: &mut ReadBuf<'_>, mut max: usize) -> bool {
        let mut has_read = false;
        while self.may_be_immediate() {
            let piece = max.min(READ_PER_UNIT);
            match env::read_cached(std, room.initialize_unfilled_to(piece)) {
                Cached::Bytes(count) => {
                    room.advance(count);
                    max -= count;
                    has_read = true;
                    if count < piece || max == 0 || !coop::take_another() {
                        break;
                    }
                }
                Cached::Missing => break,
                Cached::Unsupported => self.is_immediate = false,
            }
        }
        has_read
    }

    /// Without a runtime, or after its shutdown, operations fail, whether they need a thread or
    /// not.
    fn may_be_immediate(&self) -> bool {
        self.is_immediate && context::is_up()
    }

    /// Moves the position back to where the last completed read ended. No operation may be in
    /// progress.
    async fn forget_unread(&mut self, std: &Arc<StdFile>) {
        if self.background.buffer.is_empty() {
            return;
        }
        let std = Arc::clone(std);
        self.background.start("File", move |buffer| Done::Other(forget_unread(&std, buffer)));
        self.quiet().await;
    }
}

/// Moves the position back to where the last completed read ended. If that fails, the bytes are
/// kept.
fn forget_unread(std: &StdFile, buffer: &mut Buffer) -> io::Result<()> {
    go_back(std, buffer.len())?;
    buffer.clear();
    Ok(())
}

fn seek(mut std: &StdFile, buffer: &mut Buffer, position: SeekFrom) -> io::Result<u64> {
    // Even for a seek from the start or the end, because that may fail.
    forget_unread(std, buffer)?;
    std.seek(position)
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
                        let max = room.remaining().min(*max_buf_size);
                        if inner.read_cached(std, room, max) {
                            return Poll::Ready(Ok(()));
                        }
                        let std = Arc::clone(std);
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
        let inner = file.inner.get_mut();
        if inner.background.is_running() {
            return Err(io::Error::other(
                "File::start_seek: another operation is going on; call poll_complete first",
            ));
        }
        // To find the end may mean asking a server.
        if inner.may_be_immediate() && !matches!(position, SeekFrom::End(_)) {
            inner.position = seek(&file.std, &mut inner.background.buffer, position)?;
            return Ok(());
        }
        let std = Arc::clone(&file.std);
        inner
            .background
            .start("File::seek", move |buffer| Done::Seek(seek(&std, buffer, position)));
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
