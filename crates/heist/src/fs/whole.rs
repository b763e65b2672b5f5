//! Whole files at once: the quickest way, if they fit into memory.

use crate::io::background::run;
use std::io;
use std::path::Path;

/// Reads a whole file.
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
/// Those of [`std::fs::read`].
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref().to_owned();
    run("fs::read", move || std::fs::read(path)).await
}

/// Reads a whole file of text.
///
/// # Errors
/// If it is not UTF-8: [`InvalidData`](io::ErrorKind::InvalidData); and those of
/// [`std::fs::read_to_string`].
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let path = path.as_ref().to_owned();
    run("fs::read_to_string", move || std::fs::read_to_string(path)).await
}

/// Writes a whole file; makes it if it is not there, and replaces what is in it. The bytes are copied
/// to be given to another thread.
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
/// If it is dropped while it writes, it goes on.
///
/// # Errors
/// Those of [`std::fs::write`]. Some of it may have been written.
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, contents) = (path.as_ref().to_owned(), contents.as_ref().to_owned());
    run("fs::write", move || std::fs::write(path, contents)).await
}

/// Copies a file and who may do what with it, over what is there; returns its length.
///
/// # Errors
/// Those of [`std::fs::copy`].
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    run("fs::copy", move || std::fs::copy(from, to)).await
}
