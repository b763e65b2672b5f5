//! Files and directories.
//!
//! Operating systems have no way to ask for a file without waiting for it, so each operation is a
//! closure on a blocking thread (see [`spawn_blocking`](crate::task::spawn_blocking)). One costs well
//! under a microsecond beside the system calls; still, reading or writing a whole file in one go
//! ([`read`], [`write()`]) is quicker than piece by piece, and small reads and writes of a [`File`] gain
//! from a [`BufReader`](crate::io::BufReader) or [`BufWriter`](crate::io::BufWriter).
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
//! # Cancellation
//!
//! An operation that has begun on its thread cannot be stopped. A future that is dropped stops
//! waiting, and what it asked for is done; if no thread has begun it when the runtime goes down, it is
//! not, unless it is a write to a [`File`] that was accepted.
//!
//! # Panics
//!
//! All of it panics on a thread that is in no runtime. In a runtime that has gone down it fails with
//! an error that [`is_rt_shutdown_err`](crate::runtime::is_rt_shutdown_err) knows.

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
