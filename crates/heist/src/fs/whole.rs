//! Reading and writing whole files, the fastest way if they fit into memory.
//!
//! A file is opened and closed on a blocking thread, so the same closure reads it: one more way to
//! a thread and back would cost more than reading small files.

use crate::io::background::run;
use std::io;
use std::path::Path;

/// Reads a whole file.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let bytes = heist::fs::read("Cargo.toml").await?;
/// assert!(bytes.starts_with(b"[package]"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`std::fs::read`].
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref().to_owned();
    run("fs::read", move || std::fs::read(path)).await
}

/// Reads a whole file of UTF-8 text.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let text = heist::fs::read_to_string("Cargo.toml").await?;
/// assert!(text.starts_with("[package]"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`InvalidData`](io::ErrorKind::InvalidData) if the file is not UTF-8, and the errors of
/// [`std::fs::read_to_string`].
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref().to_owned();
    run("fs::read_to_string", move || std::fs::read_to_string(path)).await
}

/// Writes a whole file, creating it or replacing its contents.
///
/// The bytes are copied, because another thread writes them.
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
/// fs::write(dir.join("poem"), "tyger tyger").await?;
/// assert_eq!(fs::copy(dir.join("poem"), dir.join("copy")).await?, 11);
/// assert_eq!(fs::read_to_string(dir.join("copy")).await?, "tyger tyger");
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// If the future is dropped after the write has started, the write still completes.
///
/// # Errors
///
/// Returns the errors of [`std::fs::write`]. Part of the file may have been written.
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, contents) = (path.as_ref().to_owned(), contents.as_ref().to_owned());
    run("fs::write", move || std::fs::write(path, contents)).await
}

/// Copies the contents and permissions of a file, replacing `to`. Returns the number of bytes.
///
/// # Errors
///
/// Returns the errors of [`std::fs::copy`].
///
/// # Examples
///
/// ```
/// use heist::fs;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let to = dir.path().join("copy");
/// let bytes = fs::copy("Cargo.toml", &to).await?;
/// assert_eq!(fs::metadata(&to).await?.len(), bytes);
/// # Ok(())
/// # }
/// ```
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    run("fs::copy", move || std::fs::copy(from, to)).await
}
