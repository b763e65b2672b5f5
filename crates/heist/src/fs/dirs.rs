//! Making and removing directories.

use crate::io::background::run;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Makes a directory. The one above it must be there; see [`create_dir_all`].
///
/// # Errors
/// If there is something of that name, and those of [`std::fs::create_dir`].
pub async fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::create_dir", move || std::fs::create_dir(path)).await
}

/// Makes a directory and all above it that are not there. It is no error if it is there.
///
/// ```
/// use heist::fs;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// fs::create_dir_all(dir.join("a/b/c")).await?;
/// fs::create_dir_all(dir.join("a/b/c")).await?;
/// fs::remove_dir(dir.join("a/b/c")).await?;
/// fs::remove_dir_all(dir.join("a")).await?;
/// assert!(!fs::try_exists(dir.join("a")).await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If something that is no directory is in the way, and those of [`std::fs::create_dir_all`]. Some of
/// the directories may have been made.
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::create_dir_all", move || std::fs::create_dir_all(path)).await
}

/// Removes a directory that is empty.
///
/// # Errors
/// If it is not empty, and those of [`std::fs::remove_dir`].
pub async fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::remove_dir", move || std::fs::remove_dir(path)).await
}

/// Removes a directory and **all that is in it**. A link is removed, not what it leads to.
///
/// # Errors
/// Those of [`std::fs::remove_dir_all`]. Some of it may have been removed.
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::remove_dir_all", move || std::fs::remove_dir_all(path)).await
}

/// How a directory is made.
///
/// ```
/// use heist::fs::{self, DirBuilder};
/// use std::os::unix::fs::PermissionsExt;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("mine/only");
/// DirBuilder::new().recursive(true).mode(0o700).create(&path).await?;
/// assert_eq!(fs::metadata(&path).await?.permissions().mode() & 0o777, 0o700);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct DirBuilder {
    is_recursive: bool,
    mode: Option<u32>,
}

impl DirBuilder {
    /// As [`create_dir`] makes it.
    pub fn new() -> Self {
        DirBuilder::default()
    }

    /// Whether those above it are made, too, and it is no error if it is there.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.is_recursive = recursive;
        self
    }

    /// Who may do what with it; less what the process masks. 0o777 unless set.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Makes the directory.
    ///
    /// # Errors
    /// As [`create_dir`], or [`create_dir_all`] if it is [`recursive`](Self::recursive).
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.is_recursive);
        if let Some(mode) = self.mode {
            builder.mode(mode);
        }
        let path = path.as_ref().to_owned();
        run("DirBuilder::create", move || builder.create(path)).await
    }
}
