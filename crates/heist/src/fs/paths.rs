//! Functions on paths: metadata, links, renaming, removing.

use crate::io::background::run;
use std::fs::{Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// Returns the absolute path with all links resolved and without `.` and `..`.
///
/// # Errors
///
/// Returns an error if the path does not exist, and the errors of [`std::fs::canonicalize`].
///
/// # Examples
///
/// ```
/// use heist::fs;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let path = fs::canonicalize("src/../Cargo.toml").await?;
/// assert!(path.is_absolute() && path.ends_with("Cargo.toml"));
/// # Ok(())
/// # }
/// ```
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref().to_owned();
    run("fs::canonicalize", move || std::fs::canonicalize(path)).await
}

/// Returns the metadata of a file or directory. Links are followed.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let metadata = heist::fs::metadata("Cargo.toml").await?;
/// assert!(metadata.is_file() && metadata.len() > 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`std::fs::metadata`].
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref().to_owned();
    run("fs::metadata", move || std::fs::metadata(path)).await
}

/// Returns the metadata of a file, a directory or a link. Links are not followed.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let link = dir.path().join("link");
/// heist::fs::symlink("target", &link).await?;
/// assert!(heist::fs::symlink_metadata(&link).await?.is_symlink());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`std::fs::symlink_metadata`].
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref().to_owned();
    run("fs::symlink_metadata", move || std::fs::symlink_metadata(path)).await
}

/// Returns whether a path exists. Links are followed.
///
/// The answer may be outdated when it is used. Prefer to open or create the file, and to handle the
/// error.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// assert!(heist::fs::try_exists(dir.path()).await?);
/// assert!(!heist::fs::try_exists(dir.path().join("missing")).await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the answer cannot be found, for example because of a directory's
/// permissions.
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    let path = path.as_ref().to_owned();
    run("fs::try_exists", move || std::fs::exists(path)).await
}

/// Changes the permissions of a file or directory.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("file");
/// heist::fs::write(&path, "text").await?;
/// let mut permissions = heist::fs::metadata(&path).await?.permissions();
/// permissions.set_readonly(true);
/// heist::fs::set_permissions(&path, permissions).await?;
/// assert!(heist::fs::metadata(&path).await?.permissions().readonly());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`std::fs::set_permissions`].
pub async fn set_permissions(path: impl AsRef<Path>, perm: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::set_permissions", move || std::fs::set_permissions(path, perm)).await
}

/// Renames a file or directory within one file system, replacing what has the new name.
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
/// // Readers see the old file or the new one, but never half of it.
/// fs::write(dir.join("settings.new"), "volume = 11").await?;
/// fs::rename(dir.join("settings.new"), dir.join("settings")).await?;
/// assert_eq!(fs::read_to_string(dir.join("settings")).await?, "volume = 11");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`std::fs::rename`].
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    run("fs::rename", move || std::fs::rename(from, to)).await
}

/// Removes a file, or a link itself. Programs that have the file open can continue to use it.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("file");
/// heist::fs::write(&path, "text").await?;
/// heist::fs::remove_file(&path).await?;
/// assert!(!heist::fs::try_exists(&path).await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error for a directory, and the errors of [`std::fs::remove_file`].
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::remove_file", move || std::fs::remove_file(path)).await
}

/// Creates a hard link: a second name, `link`, for a file.
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
///
/// Returns an error for a directory or across file systems, and the errors of
/// [`std::fs::hard_link`].
pub async fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    run("fs::hard_link", move || std::fs::hard_link(original, link)).await
}

/// Creates a symbolic link, `link`, to a path, which need not exist.
///
/// A relative path is relative to the directory of the link.
///
/// # Errors
///
/// Returns the errors of [`std::os::unix::fs::symlink`].
///
/// # Examples
///
/// ```
/// use heist::fs;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let link = dir.path().join("link");
/// fs::symlink("target", &link).await?;
/// assert_eq!(fs::read_link(&link).await?, std::path::Path::new("target"));
/// assert!(!fs::try_exists(&link).await?); // There is no target.
/// assert!(fs::symlink_metadata(&link).await?.is_symlink());
/// # Ok(())
/// # }
/// ```
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    run("fs::symlink", move || std::os::unix::fs::symlink(original, link)).await
}

/// Returns the path to which a symbolic link points.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let link = dir.path().join("link");
/// heist::fs::symlink("target", &link).await?;
/// assert_eq!(heist::fs::read_link(&link).await?, std::path::Path::new("target"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the path is not a link, and the errors of [`std::fs::read_link`].
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref().to_owned();
    run("fs::read_link", move || std::fs::read_link(path)).await
}
