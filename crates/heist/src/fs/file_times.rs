//! `FileTimes`.

use std::time::SystemTime;

/// The times of a file's last access and modification, for
/// [`File::set_times`](super::File::set_times). Times that are not set are left unchanged.
///
/// # Examples
///
/// ```
/// use heist::fs::{File, FileTimes};
/// use std::time::{Duration, SystemTime};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("old");
/// let file = File::create(path).await?;
/// let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
/// file.set_times(FileTimes::new().set_modified(then)).await?;
/// assert_eq!(file.metadata().await?.modified()?, then);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "it changes nothing by itself; give it to File::set_times"]
pub struct FileTimes(std::fs::FileTimes);

impl FileTimes {
    /// Creates a value that changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::fs::{File, FileTimes};
    /// use std::time::SystemTime;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let dir = tempfile::tempdir()?;
    /// let file = File::create(dir.path().join("old")).await?;
    /// file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).await?;
    /// assert_eq!(file.metadata().await?.modified()?, SystemTime::UNIX_EPOCH);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        FileTimes::default()
    }

    /// Sets the time of the last access.
    pub fn set_accessed(self, time: SystemTime) -> Self {
        FileTimes(self.0.set_accessed(time))
    }

    /// Sets the time of the last modification.
    pub fn set_modified(self, time: SystemTime) -> Self {
        FileTimes(self.0.set_modified(time))
    }

    pub(super) fn into_std(self) -> std::fs::FileTimes {
        self.0
    }
}
