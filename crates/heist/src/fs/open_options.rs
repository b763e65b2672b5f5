//! `OpenOptions`.

use super::File;
use crate::io::background::run;
use std::fs::OpenOptions as StdOpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Options for opening a file. All of them are off at first.
///
/// # Examples
///
/// ```
/// use heist::fs::OpenOptions;
/// use heist::io::AsyncWriteExt;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("log");
/// for line in ["one\n", "two\n"] {
///     let mut log = OpenOptions::new().append(true).create(true).open(&path).await?;
///     log.write_all(line.as_bytes()).await?;
///     log.flush().await?;
/// }
/// assert_eq!(heist::fs::read_to_string(&path).await?, "one\ntwo\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions(StdOpenOptions);

impl OpenOptions {
    /// Creates options that are all off.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::OpenOptions;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// OpenOptions::new().write(true).create(true).open(&path).await?;
    /// let error = OpenOptions::new().open(&path).await.unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> OpenOptions {
        OpenOptions(StdOpenOptions::new())
    }

    /// Sets whether the file can be read.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.0.read(read);
        self
    }

    /// Sets whether the file can be written.
    ///
    /// Existing contents are overwritten from the start; see [`truncate`](Self::truncate) and
    /// [`append`](Self::append).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::OpenOptions;
    /// use heist::io::AsyncWriteExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// heist::fs::write(&path, "0123456789").await?;
    /// let mut file = OpenOptions::new().write(true).open(&path).await?;
    /// file.write_all(b"ab").await?;
    /// file.flush().await?;
    /// assert_eq!(heist::fs::read(&path).await?, b"ab23456789");
    /// # Ok(())
    /// # }
    /// ```
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.0.write(write);
        self
    }

    /// Sets whether writes go to the end of the file, wherever that is at the time of each write.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::OpenOptions;
    /// use heist::io::AsyncWriteExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("log");
    /// for line in ["first\n", "second\n"] {
    ///     let mut file = OpenOptions::new().append(true).create(true).open(&path).await?;
    ///     file.write_all(line.as_bytes()).await?;
    ///     file.flush().await?;
    /// }
    /// assert_eq!(heist::fs::read_to_string(&path).await?, "first\nsecond\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.0.append(append);
        self
    }

    /// Sets whether existing contents are removed. This requires [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::OpenOptions;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// heist::fs::write(&path, "0123456789").await?;
    /// OpenOptions::new().write(true).truncate(true).open(&path).await?;
    /// assert_eq!(heist::fs::read(&path).await?, b"");
    /// # Ok(())
    /// # }
    /// ```
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.0.truncate(truncate);
        self
    }

    /// Sets whether the file is created if it does not exist. This requires [`write`](Self::write)
    /// or [`append`](Self::append).
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.0.create(create);
        self
    }

    /// Sets whether the file must not exist and is created, in one atomic step.
    ///
    /// [`create`](Self::create) and [`truncate`](Self::truncate) then have no effect.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::OpenOptions;
    /// use std::io::ErrorKind;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("lock");
    /// let mut options = OpenOptions::new();
    /// options.write(true).create_new(true);
    /// let lock = options.open(&path).await?;
    /// let again = options.open(&path).await;
    /// assert_eq!(again.unwrap_err().kind(), ErrorKind::AlreadyExists);
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.0.create_new(create_new);
        self
    }

    /// Sets the permissions of a file that is created, to which the process's umask is applied. The
    /// default is 0o666.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::OpenOptions;
    /// use std::os::unix::fs::PermissionsExt;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// let file = OpenOptions::new().write(true).create(true).mode(0o600).open(&path).await?;
    /// assert_eq!(file.metadata().await?.permissions().mode() & 0o777, 0o600);
    /// # Ok(())
    /// # }
    /// ```
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.0.mode(mode);
        self
    }

    /// Sets additional flags for the system call `open`, replacing those of earlier calls.
    ///
    /// Flags for the access mode are ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::OpenOptions;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("data");
    /// std::os::unix::fs::symlink("/etc/passwd", &path)?;
    /// let open = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&path).await;
    /// assert!(open.is_err(), "links are not followed");
    /// # Ok(())
    /// # }
    /// ```
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.0.custom_flags(flags);
        self
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`std::fs::OpenOptions::open`]. Options that contradict each other are
    /// [`InvalidInput`](io::ErrorKind::InvalidInput).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::OpenOptions;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let file = OpenOptions::new().read(true).open("Cargo.toml").await?;
    /// assert!(file.metadata().await?.is_file());
    /// let error = OpenOptions::new().truncate(true).open("Cargo.toml").await.unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "not without write(true)");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let (options, path) = (self.0.clone(), path.as_ref().to_owned());
        run("OpenOptions::open", move || options.open(path).map(File::from_own)).await
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions::new()
    }
}

impl From<StdOpenOptions> for OpenOptions {
    fn from(options: StdOpenOptions) -> OpenOptions {
        OpenOptions(options)
    }
}
