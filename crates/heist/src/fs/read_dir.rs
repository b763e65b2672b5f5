//! Reading directories.

use crate::io::background::{failure, poll_counted, run};
use crate::runtime::Handle;
use crate::task::JoinHandle;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{DirEntry as StdDirEntry, FileType, Metadata, ReadDir as StdReadDir};
use std::future::poll_fn;
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Number of entries that a blocking thread reads at a time; Tokio's figure.
const READ_DIR_BATCH: usize = 32;

/// Opens a directory for reading its entries.
///
/// # Examples
///
/// ```
/// use heist::fs;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// fs::write(dir.join("a"), "").await?;
/// fs::create_dir(dir.join("b")).await?;
///
/// let (mut files, mut directories) = (0, 0);
/// let mut entries = fs::read_dir(dir).await?;
/// while let Some(entry) = entries.next_entry().await? {
///     if entry.file_type().await?.is_dir() { directories += 1 } else { files += 1 }
/// }
/// assert_eq!((files, directories), (1, 1));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`std::fs::read_dir`].
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref().to_owned();
    let batch = run("fs::read_dir", || Ok(Batch::new(std::fs::read_dir(path)?).refill())).await?;
    Ok(ReadDir(Progress::Idle(batch)))
}

/// The entries of a directory, in no particular order and without `.` and `..`; opened by
/// [`read_dir`].
///
/// A blocking thread reads some entries ahead. Concurrent changes of the directory may or may not
/// be seen.
///
/// # Examples
///
/// ```
/// use heist::fs::read_dir;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut entries = read_dir(".").await?;
/// let mut names = Vec::new();
/// while let Some(entry) = entries.next_entry().await? {
///     names.push(entry.file_name());
/// }
/// assert!(names.contains(&"Cargo.toml".into()));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "it reads nothing by itself; call next_entry"]
pub struct ReadDir(Progress);

#[derive(Debug)]
enum Progress {
    Idle(Batch),
    Reading(JoinHandle<Batch>),
    /// The remaining entries were lost when the runtime was shut down.
    Lost,
}

/// Entries that were read, and the source of more.
#[derive(Debug)]
struct Batch {
    entries: VecDeque<io::Result<DirEntry>>,
    std: StdReadDir,
    is_last: bool,
}

impl Batch {
    fn new(std: StdReadDir) -> Batch {
        Batch { entries: VecDeque::with_capacity(READ_DIR_BATCH), std, is_last: false }
    }

    fn refill(mut self) -> Batch {
        while self.entries.len() < READ_DIR_BATCH {
            let Some(entry) = self.std.next() else {
                self.is_last = true;
                break;
            };
            let is_ok = entry.is_ok();
            self.entries.push_back(entry.map(DirEntry::new));
            if !is_ok {
                break;
            }
        }
        self
    }
}

impl ReadDir {
    /// Returns the next entry, or `None` after the last one.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: if the future is dropped before it completes, no entry is lost.
    ///
    /// # Errors
    ///
    /// Returns an error if an entry cannot be read. There may be further entries after it.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::read_dir;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # for name in ["a", "b"] { std::fs::write(dir.path().join(name), "")?; }
    /// let mut entries = read_dir(dir.path()).await?;
    /// let mut names = Vec::new();
    /// while let Some(entry) = entries.next_entry().await? {
    ///     names.push(entry.file_name());
    /// }
    /// names.sort(); // They come in no particular order.
    /// assert_eq!(names, ["a", "b"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// Polls for the next entry; see [`next_entry`](Self::next_entry). Only the most recent caller
    /// is woken.
    ///
    /// # Errors
    ///
    /// Returns errors like [`next_entry`](Self::next_entry).
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        poll_counted(cx, |cx| {
            loop {
                match &mut self.0 {
                    Progress::Idle(batch) => {
                        if let Some(entry) = batch.entries.pop_front() {
                            return Poll::Ready(entry.map(Some));
                        }
                        if batch.is_last {
                            return Poll::Ready(Ok(None));
                        }
                        self.read_on();
                    }
                    Progress::Reading(reading) => match ready!(reading.poll_output(cx.waker())) {
                        Ok(batch) => self.0 = Progress::Idle(batch),
                        Err(error) => {
                            self.0 = Progress::Lost;
                            return Poll::Ready(Err(failure(error)));
                        }
                    },
                    Progress::Lost => {
                        return Poll::Ready(Err(io::Error::other(
                            "ReadDir: a batch of entries could not be read, and the rest is lost \
                             with it; call read_dir again",
                        )));
                    }
                }
            }
        })
    }

    fn read_on(&mut self) {
        let handle = Handle::current_for("ReadDir::next_entry");
        if let Progress::Idle(batch) = std::mem::replace(&mut self.0, Progress::Lost) {
            self.0 = Progress::Reading(handle.spawn_blocking(move || batch.refill()));
        }
    }
}

/// An entry of a directory, returned by [`ReadDir::next_entry`].
///
/// # Examples
///
/// ```
/// use heist::fs::read_dir;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut entries = read_dir(".").await?;
/// while let Some(entry) = entries.next_entry().await? {
///     if entry.file_name() == "Cargo.toml" {
///         assert!(entry.file_type().await?.is_file());
///         assert!(entry.metadata().await?.len() > 0);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DirEntry {
    std: Arc<StdDirEntry>,
    /// Most file systems provide it with the entry, so that no system call is needed.
    file_type: Option<FileType>,
}

impl DirEntry {
    /// Called on a blocking thread, because some file systems need a system call for the type.
    fn new(std: StdDirEntry) -> DirEntry {
        DirEntry { file_type: std.file_type().ok(), std: Arc::new(std) }
    }

    /// Returns the path of the entry: the path that was given to [`read_dir`], followed by its
    /// name.
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// Returns the name of the entry in its directory.
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// Returns the metadata of the entry. Links are not followed.
    ///
    /// # Errors
    ///
    /// Returns an error if the entry is gone, and the errors of [`std::fs::DirEntry::metadata`].
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let std = Arc::clone(&self.std);
        run("DirEntry::metadata", move || std.metadata()).await
    }

    /// Returns the type of the entry, such as file, directory or link. Usually this needs no system
    /// call.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::DirEntry::file_type`].
    pub async fn file_type(&self) -> io::Result<FileType> {
        match self.file_type {
            Some(file_type) => Ok(file_type),
            None => {
                let std = Arc::clone(&self.std);
                run("DirEntry::file_type", move || std.file_type()).await
            }
        }
    }

    /// Returns the entry's inode number.
    pub fn ino(&self) -> u64 {
        self.std.ino()
    }
}
