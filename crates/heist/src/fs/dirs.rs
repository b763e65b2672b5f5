//! Creating and removing directories.

use crate::io::background::run;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Creates a directory. Its parent must exist; see [`create_dir_all`].
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("new");
/// heist::fs::create_dir(&path).await?;
/// let error = heist::fs::create_dir(&path).await.unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the path exists, and the errors of [`std::fs::create_dir`].
pub async fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::create_dir", move || std::fs::create_dir(path)).await
}

/// Creates a directory and all of its parents that do not exist. It may exist already.
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
///
/// Returns an error if something else than a directory is in the way, and the errors of
/// [`std::fs::create_dir_all`]. Some of the directories may have been created.
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::create_dir_all", move || std::fs::create_dir_all(path)).await
}

/// Removes an empty directory.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("empty");
/// heist::fs::create_dir(&path).await?;
/// heist::fs::remove_dir(&path).await?;
/// assert!(!heist::fs::try_exists(&path).await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the directory is not empty, and the errors of [`std::fs::remove_dir`].
pub async fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::remove_dir", move || std::fs::remove_dir(path)).await
}

/// Removes a directory with **all of its contents**. Symbolic links are removed, not followed.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("a");
/// heist::fs::create_dir_all(path.join("b/c")).await?;
/// heist::fs::remove_dir_all(&path).await?;
/// assert!(!heist::fs::try_exists(&path).await?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`std::fs::remove_dir_all`]. Some of the contents may have been removed.
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run("fs::remove_dir_all", move || std::fs::remove_dir_all(path)).await
}

/// Creates directories with options.
///
/// # Examples
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
    /// Creates a builder with the behavior of [`create_dir`].
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::DirBuilder;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("private");
    /// DirBuilder::new().mode(0o700).create(&path).await?;
    /// assert!(path.is_dir());
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        DirBuilder::default()
    }

    /// Sets whether missing parents are created, and whether the directory may exist already.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::DirBuilder;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("some/depth");
    /// assert!(DirBuilder::new().create(&path).await.is_err());
    /// DirBuilder::new().recursive(true).create(&path).await?;
    /// DirBuilder::new().recursive(true).create(&path).await?; // It may exist already.
    /// # Ok(())
    /// # }
    /// ```
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.is_recursive = recursive;
        self
    }

    /// Sets the permissions of the directory, to which the process's umask is applied. The default
    /// is 0o777.
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Creates the directory.
    ///
    /// # Errors
    ///
    /// Returns errors like [`create_dir`], or like [`create_dir_all`] if it is
    /// [`recursive`](Self::recursive).
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
