//! What is in a directory.

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

/// How many entries a blocking thread reads at a time; Tokio's figure.
const AHEAD: usize = 32;

/// Begins to read a directory.
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
/// Those of [`std::fs::read_dir`].
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref().to_owned();
    let batch = run("fs::read_dir", || Ok(Batch::new(std::fs::read_dir(path)?).refill())).await?;
    Ok(ReadDir(State::Idle(batch)))
}

/// The entries of a directory, in no order, without `.` and `..`. Made by [`read_dir`].
///
/// A blocking thread reads some entries ahead. What is changed in the directory meanwhile may be
/// seen or not.
#[derive(Debug)]
#[must_use = "it reads nothing by itself; call next_entry"]
pub struct ReadDir(State);

#[derive(Debug)]
enum State {
    Idle(Batch),
    Reading(JoinHandle<Batch>),
    /// What was left to read went down with the runtime.
    Lost,
}

/// Entries that were read, and where more come from.
#[derive(Debug)]
struct Batch {
    entries: VecDeque<io::Result<DirEntry>>,
    std: StdReadDir,
    is_last: bool,
}

impl Batch {
    fn new(std: StdReadDir) -> Batch {
        Batch { entries: VecDeque::with_capacity(AHEAD), std, is_last: false }
    }

    fn refill(mut self) -> Batch {
        while self.entries.len() < AHEAD {
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
    /// The next entry, or `None` after the last. Cancelled, it has taken none.
    ///
    /// # Errors
    /// If an entry cannot be read; there may be others after it.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// As [`next_entry`](Self::next_entry), for futures written by hand: `Pending` leaves the waker
    /// of the last call to be woken.
    ///
    /// # Errors
    /// As above.
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        poll_counted(cx, |cx| {
            loop {
                match &mut self.0 {
                    State::Idle(batch) => {
                        if let Some(entry) = batch.entries.pop_front() {
                            return Poll::Ready(entry.map(Some));
                        }
                        if batch.is_last {
                            return Poll::Ready(Ok(None));
                        }
                        self.read_on();
                    }
                    State::Reading(reading) => match ready!(reading.poll_output(cx.waker())) {
                        Ok(batch) => self.0 = State::Idle(batch),
                        Err(error) => {
                            self.0 = State::Lost;
                            return Poll::Ready(Err(failure(error)));
                        }
                    },
                    State::Lost => {
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
        if let State::Idle(batch) = std::mem::replace(&mut self.0, State::Lost) {
            self.0 = State::Reading(handle.spawn_blocking(move || batch.refill()));
        }
    }
}

/// Something in a directory.
#[derive(Debug)]
pub struct DirEntry {
    std: Arc<StdDirEntry>,
    /// Comes with the entry in most file systems, so that nobody has to ask for it.
    file_type: Option<FileType>,
}

impl DirEntry {
    /// On a blocking thread: in some file systems the kind has to be asked for.
    fn new(std: StdDirEntry) -> DirEntry {
        DirEntry { file_type: std.file_type().ok(), std: Arc::new(std) }
    }

    /// Where it is: the path that was given to [`read_dir`], and its name.
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// Its name in the directory.
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// What the system knows about it; of a link, about the link itself.
    ///
    /// # Errors
    /// If it is gone, and those of [`std::fs::DirEntry::metadata`].
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let std = Arc::clone(&self.std);
        run("DirEntry::metadata", move || std.metadata()).await
    }

    /// What it is: a file, a directory, a link. Most often known without asking the system.
    ///
    /// # Errors
    /// Those of [`std::fs::DirEntry::file_type`].
    pub async fn file_type(&self) -> io::Result<FileType> {
        match self.file_type {
            Some(file_type) => Ok(file_type),
            None => {
                let std = Arc::clone(&self.std);
                run("DirEntry::file_type", move || std.file_type()).await
            }
        }
    }

    /// The number that its file system knows it by.
    pub fn ino(&self) -> u64 {
        self.std.ino()
    }
}
