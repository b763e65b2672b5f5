//! How a file is opened.

use super::File;
use crate::io::background::run;
use std::fs::OpenOptions as StdOpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How a file is opened: to be read, written, made, emptied. All is off to begin with.
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
    /// All is off.
    pub fn new() -> OpenOptions {
        OpenOptions(StdOpenOptions::new())
    }

    /// Whether it can be read.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.0.read(read);
        self
    }

    /// Whether it can be written. What is there is overwritten from its start; see
    /// [`truncate`](Self::truncate) and [`append`](Self::append).
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.0.write(write);
        self
    }

    /// Whether it can be written at its end, wherever that is at the time of the write.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.0.append(append);
        self
    }

    /// Whether what is there is thrown away. Needs [`write`](Self::write).
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.0.truncate(truncate);
        self
    }

    /// Whether it is made if it is not there. Needs [`write`](Self::write) or
    /// [`append`](Self::append).
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.0.create(create);
        self
    }

    /// Whether it must not be there, and is made; nobody can make it in between. Then
    /// [`create`](Self::create) and [`truncate`](Self::truncate) mean nothing.
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

    /// Who may do what with a file that is made; less what the process masks. 0o666 unless set.
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.0.mode(mode);
        self
    }

    /// More flags for the system's `open`. Those of how it is accessed are taken out; the last call
    /// counts.
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.0.custom_flags(flags);
        self
    }

    /// Opens the file.
    ///
    /// # Errors
    /// Those of [`std::fs::OpenOptions::open`]; options that contradict each other are
    /// [`InvalidInput`](io::ErrorKind::InvalidInput).
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let (options, path) = (self.0.clone(), path.as_ref().to_owned());
        let std = run("OpenOptions::open", move || options.open(path)).await?;
        Ok(File::from_std(std))
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
