//! Files and directories.
//!
//! Most operations on files may block, so each is a closure on a blocking thread (see
//! [`spawn_blocking`](crate::task::spawn_blocking)). That costs well under a microsecond beside the
//! system calls. Still, reading or writing a whole file at once ([`read`], [`write()`]) is faster
//! than in pieces, and small reads and writes of a [`File`] profit from a
//! [`BufReader`](crate::io::BufReader) or [`BufWriter`](crate::io::BufWriter).
//!
//! A task reads a [`File`] itself, without a closure, if the system has the bytes in its cache; see
//! [`File`](File#reads-from-the-cache). It opens no files itself, even if their names are cached:
//! opening and closing run code of the file system, which may wait for the disk.
//!
//! # Examples
//!
//! ```
//! use heist::fs;
//! use heist::io::{AsyncBufReadExt, BufReader};
//!
//! # #[heist::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("list");
//! fs::write(&path, "bread\nbutter\n").await?;
//!
//! let mut lines = BufReader::new(fs::File::open(&path).await?).lines();
//! let mut count = 0;
//! while let Some(line) = lines.next_line().await? {
//!     count += usize::from(line.starts_with('b'));
//! }
//! assert_eq!(count, 2);
//! # Ok(())
//! # }
//! ```
//!
//! # Cancel safety
//!
//! An operation that has started on its thread cannot be stopped: if the future is dropped, the
//! operation still completes. When the runtime shuts down, operations that would have to wait
//! because [`max_blocking_threads`](crate::runtime::Builder::max_blocking_threads) is reached are
//! cancelled, except for writes that a [`File`] has accepted; the others run.
//!
//! # Panics
//!
//! All functions panic if the calling thread is in no runtime. In a runtime that has been shut down
//! they return an error for which
//! [`is_rt_shutdown_err`](crate::runtime::is_rt_shutdown_err) is true.

mod dirs;
mod file;
mod file_times;
mod open_options;
mod paths;
mod read_dir;
mod whole;

pub use dirs::{DirBuilder, create_dir, create_dir_all, remove_dir, remove_dir_all};
pub use file::File;
pub use file_times::FileTimes;
pub use open_options::OpenOptions;
pub use paths::{
    canonicalize, hard_link, metadata, read_link, remove_file, rename, set_permissions, symlink,
    symlink_metadata, try_exists,
};
pub use read_dir::{DirEntry, ReadDir, read_dir};
pub use whole::{copy, read, read_to_string, write};
