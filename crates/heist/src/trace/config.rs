//! What a user asks of the recorder.

use std::path::{Path, PathBuf};

/// What is kept for each worker unless said otherwise: some hundred thousand events.
const CAPACITY: usize = 1 << 20;
/// Less is not worth it, and more is a mistake.
const LEAST: usize = 4096;
const MOST: usize = 1 << 30;
const WORD: usize = size_of::<u64>();

/// What a runtime records of itself; see [`Builder::trace`](crate::runtime::Builder::trace).
///
/// Dumps that are asked for here are written by a thread of their own (the one at the end by whoever ends the
/// runtime), to a file beside the one that is named, which then takes its place. If that fails, a warning says so.
/// Several may name the same file: the last one written is there.
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
#[must_use = "it is for Builder::trace"]
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
    /// Records, and dumps when it is told to:
    /// [`Handle::dump_trace`](crate::runtime::Handle::dump_trace).
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

    /// How much memory there is for the record of each worker, in bytes; 1 MiB unless said otherwise. It is
    /// rounded up to a power of two, and is 4 KiB at least and 1 GiB at most. An event takes 8 bytes, or 16 with its time.
    pub fn capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes;
        self
    }

    /// Whether the clock is read for every event. Not so unless said otherwise: then short polls get times
    /// between those of others. It is for tests of schedulers; it takes longer than most polls.
    pub fn exact(mut self, is_so: bool) -> Self {
        self.is_exact = is_so;
        self
    }

    /// Dumps when a task has kept its worker for too long, at most once a second; see
    /// [`Builder::stall_threshold`](crate::runtime::Builder::stall_threshold).
    pub fn dump_on_stall(mut self, file: impl Into<PathBuf>) -> Self {
        self.on_stall = Some(file.into());
        self
    }

    /// Dumps when a task panics, at most once a second.
    pub fn dump_on_panic(mut self, file: impl Into<PathBuf>) -> Self {
        self.on_panic = Some(file.into());
        self
    }

    /// Dumps when the process gets the signal SIGUSR2: `kill -USR2`.
    pub fn dump_on_signal(mut self, file: impl Into<PathBuf>) -> Self {
        self.on_signal = Some(file.into());
        self
    }

    /// Dumps when the runtime is shut down, after its threads have ended if that is waited for. One that lives until the process
    /// ends, as the global one does, is dumped when `main` returns or somebody calls `std::process::exit`; a signal that ends the process
    /// leaves no dump.
    pub fn dump_at_shutdown(mut self, file: impl Into<PathBuf>) -> Self {
        self.at_shutdown = Some(file.into());
        self
    }

    /// All of them, to one file.
    pub(crate) fn dump_always(self, file: &Path) -> Self {
        self.dump_on_stall(file).dump_on_panic(file).dump_on_signal(file).dump_at_shutdown(file)
    }

    /// The files that are named.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.on_stall, &self.on_panic, &self.on_signal, &self.at_shutdown];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Whether something that happens while the runtime runs makes it dump.
    pub(crate) fn is_watched(&self) -> bool {
        self.on_stall.is_some() || self.on_panic.is_some() || self.on_signal.is_some()
    }

    pub(super) fn words(&self) -> usize {
        self.capacity.clamp(LEAST, MOST).next_power_of_two() / WORD
    }
}
