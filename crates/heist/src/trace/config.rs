//! `Config`: the settings of a recorder.

use std::path::{Path, PathBuf};

/// The default memory for each worker: more than a hundred thousand events.
const CAPACITY: usize = 1 << 20;
/// The limits of the capacity: less is of no use, and more is a mistake.
const LEAST: usize = 4096;
const MOST: usize = 1 << 30;
const WORD: usize = size_of::<u64>();

/// The settings of a runtime's recorder; see [`Builder::trace`](crate::runtime::Builder::trace).
///
/// The dumps that are set here are written by a thread of their own, except for the one at
/// shutdown, which the thread that shuts down the runtime writes. A dump is written to a temporary
/// file, which then replaces the named one. If that fails, a warning says so. Several settings may
/// name the same file, which then contains the latest dump.
///
/// # Examples
///
/// ```
/// use heist::runtime::Builder;
/// use heist::trace;
///
/// let config = trace::Config::new().capacity(1 << 18);
/// let runtime = Builder::new_multi_thread().worker_threads(2).trace(config).build()?;
/// runtime.block_on(async { heist::spawn(async { 1 }).await })?;
/// let mut bytes = Vec::new();
/// runtime.handle().dump_trace_to(&mut bytes)?;
/// let trace = trace::Trace::from_bytes(bytes)?;
/// assert_eq!(trace.seats(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a configuration does nothing until it is given to Builder::trace"]
pub struct Config {
    capacity: usize,
    pub(crate) is_exact: bool,
    pub(crate) on_stall: Option<PathBuf>,
    pub(crate) on_panic: Option<PathBuf>,
    pub(crate) on_signal: Option<PathBuf>,
    pub(crate) at_shutdown: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    /// Creates settings that record, and write a dump only on request; see
    /// [`Handle::dump_trace`](crate::runtime::Handle::dump_trace).
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use heist::trace::Config;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("out.trace");
    /// let rt = Builder::new_multi_thread().trace(Config::new()).build()?;
    /// rt.handle().dump_trace(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new() -> Self {
        Config {
            capacity: CAPACITY,
            is_exact: false,
            on_stall: None,
            on_panic: None,
            on_signal: None,
            at_shutdown: None,
        }
    }

    /// Sets the size of each worker's buffer in bytes. The default is 1 MiB.
    ///
    /// It is rounded up to a power of two, between 4 KiB and 1 GiB. An event takes 8 bytes, or 16
    /// with its time.
    pub fn capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes;
        self
    }

    /// Sets whether the clock is read for every event. The default is `false`, so that the times of
    /// short polls are interpolated.
    ///
    /// This is meant for tests of schedulers; reading the clock takes longer than most polls.
    pub fn exact(mut self, is_so: bool) -> Self {
        self.is_exact = is_so;
        self
    }

    /// Writes a dump when a stall is detected, at most once a second; see
    /// [`Builder::stall_threshold`](crate::runtime::Builder::stall_threshold).
    pub fn dump_on_stall(mut self, file: impl Into<PathBuf>) -> Self {
        self.on_stall = Some(file.into());
        self
    }

    /// Writes a dump when a task panics, at most once a second.
    pub fn dump_on_panic(mut self, file: impl Into<PathBuf>) -> Self {
        self.on_panic = Some(file.into());
        self
    }

    /// Writes a dump when the process receives `SIGUSR2`, as by `kill -USR2`.
    pub fn dump_on_signal(mut self, file: impl Into<PathBuf>) -> Self {
        self.on_signal = Some(file.into());
        self
    }

    /// Writes a dump when the runtime is shut down, after its threads have ended if they are waited
    /// for.
    ///
    /// A runtime that exists until the process ends, like the global one, writes it when `main`
    /// returns or `std::process::exit` is called. A signal that ends the process leaves no dump.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use heist::trace::{Config, Trace};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("last.trace");
    /// let config = Config::new().dump_at_shutdown(&path);
    /// let rt = Builder::new_multi_thread().worker_threads(2).trace(config).build()?;
    /// rt.block_on(rt.spawn(async {}))?;
    /// drop(rt);
    /// assert_eq!(Trace::open(&path)?.seats(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dump_at_shutdown(mut self, file: impl Into<PathBuf>) -> Self {
        self.at_shutdown = Some(file.into());
        self
    }

    /// Writes all kinds of dumps to one file.
    pub(crate) fn dump_always(self, file: &Path) -> Self {
        self.dump_on_stall(file).dump_on_panic(file).dump_on_signal(file).dump_at_shutdown(file)
    }

    /// The files that the settings name.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.on_stall, &self.on_panic, &self.on_signal, &self.at_shutdown];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Whether a dump may be triggered while the runtime runs.
    pub(crate) fn is_watched(&self) -> bool {
        self.on_stall.is_some() || self.on_panic.is_some() || self.on_signal.is_some()
    }

    pub(super) fn words(&self) -> usize {
        self.capacity.clamp(LEAST, MOST).next_power_of_two() / WORD
    }
}
