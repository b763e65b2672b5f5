//! When a file was read and changed.

use std::time::SystemTime;

/// When a file was last read and changed, for [`File::set_times`](super::File::set_times). What is
/// not set stays as it is.
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
    /// Changes nothing.
    pub fn new() -> Self {
        FileTimes::default()
    }

    /// Sets when the file was last read.
    pub fn set_accessed(self, time: SystemTime) -> Self {
        FileTimes(self.0.set_accessed(time))
    }

    /// Sets when the file was last changed.
    pub fn set_modified(self, time: SystemTime) -> Self {
        FileTimes(self.0.set_modified(time))
    }

    pub(super) fn into_std(self) -> std::fs::FileTimes {
        self.0
    }
}
