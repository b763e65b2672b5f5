//! What is at a path: asking, linking, moving, removing.

use crate::io::background::run;
use std::fs::{Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// The absolute path, with all links followed and without `.` and `..`.
///
/// # Errors
/// If there is nothing at the path, and those of [`std::fs::canonicalize`].
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref().to_owned();
    run("fs::canonicalize", move || std::fs::canonicalize(path)).await
}

/// What the system knows about what is at the path; of a link, about what it leads to.
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let about = heist::fs::metadata("Cargo.toml").await?;
/// assert!(about.is_file() && about.len() > 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`std::fs::metadata`].
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref().to_owned();
    run("fs::metadata", move || std::fs::metadata(path)).await
}

/// As [`metadata`]; of a link, about the link itself.
///
/// # Errors
/// Those of [`std::fs::symlink_metadata`].
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref().to_owned();
    run("fs::symlink_metadata", move || std::fs::symlink_metadata(path)).await
}

/// Whether there is something at the path; of a link, whether it leads to something.
///
/// Whatever is done next may find it otherwise. Better open or make the file, and see what comes of
/// it.
///
/// # Errors
/// If it cannot be told, because a directory may not be searched for example.
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    let path = path.as_ref().to_owned();
    run("fs::try_exists", move || std::fs::exists(path)).await
}

/// Changes who may do what with a file or directory.
///
/// # Errors
/// Those of [`std::fs::set_permissions`].
pub async fn set_permissions(path: impl AsRef<Path>, perm: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::set_permissions", move || std::fs::set_permissions(path, perm)).await
}

/// Gives a file or directory another name, in the same file system. What had that name is replaced.
///
/// ```
/// use heist::fs;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// // Whoever opens it sees the old file or the new one, never half of it.
/// fs::write(dir.join("settings.new"), "volume = 11").await?;
/// fs::rename(dir.join("settings.new"), dir.join("settings")).await?;
/// # assert_eq!(fs::read_to_string(dir.join("settings")).await?, "volume = 11");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`std::fs::rename`].
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    run("fs::rename", move || std::fs::rename(from, to)).await
}

/// Removes a file; of a link, the link. Whoever has it open goes on using it.
///
/// # Errors
/// If it is a directory, and those of [`std::fs::remove_file`].
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::remove_file", move || std::fs::remove_file(path)).await
}

/// Gives a file another name, `link`, beside those it has.
///
/// ```
/// use heist::fs;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// fs::write(dir.join("file"), "one").await?;
/// fs::hard_link(dir.join("file"), dir.join("same")).await?;
/// fs::symlink("file", dir.join("pointer")).await?;
/// fs::remove_file(dir.join("file")).await?;
///
/// assert_eq!(fs::read_to_string(dir.join("same")).await?, "one");
/// assert_eq!(fs::read_link(dir.join("pointer")).await?, std::path::Path::new("file"));
/// assert!(!fs::try_exists(dir.join("pointer")).await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If it is a directory or in another file system, and those of [`std::fs::hard_link`].
pub async fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    run("fs::hard_link", move || std::fs::hard_link(original, link)).await
}

/// Makes a link, `link`, that leads to a path, whether there is something or not. A relative one is
/// meant from where the link is.
///
/// # Errors
/// Those of [`std::os::unix::fs::symlink`].
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    run("fs::symlink", move || std::os::unix::fs::symlink(original, link)).await
}

/// Where a link leads.
///
/// # Errors
/// If it is no link, and those of [`std::fs::read_link`].
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref().to_owned();
    run("fs::read_link", move || std::fs::read_link(path)).await
}
