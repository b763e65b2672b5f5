//! The recorder of a runtime: `Handle::dump_trace`, and dumps that events trigger.

mod at_exit;

use super::Handle;
use crate::env::{Clock, log, quietly};
use crate::task;
use crate::trace::{self, DumpRequest, Recorder};
use crate::tuning::DUMP_INTERVAL;
use at_exit::AtExit;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const VARIABLE: &str = "HEIST_TRACE";

impl Handle {
    /// Writes the recorded events of this runtime to a file, for `heist doctor` and
    /// [`trace::Trace`].
    ///
    /// The data is written to a temporary file beside `path`, which then replaces `path`. Workers
    /// continue meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use heist::trace::{Config, Trace};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("run.trace");
    /// let rt = Builder::new_multi_thread().worker_threads(2).trace(Config::new()).build()?;
    /// rt.block_on(rt.spawn(async {}))?;
    /// rt.handle().dump_trace(&path)?;
    /// assert_eq!(Trace::from_bytes(std::fs::read(&path)?)?.seats(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::Unsupported`] if the runtime does not record; see
    /// [`Builder::trace`](super::Builder::trace). Also returns an error if the file cannot be
    /// written. If it would exceed the limit on file sizes, that is
    /// [`io::ErrorKind::FileTooLarge`], without the signal `SIGXFSZ`, and `path` contains the part
    /// of the trace that fits.
    pub fn dump_trace(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let subject = self.traced("Handle::dump_trace")?;
        trace::to_file(path, |out| subject.write(out)).map_err(|error| {
            let message = format!("Handle::dump_trace: {}: {error}", path.display());
            io::Error::new(error.kind(), message)
        })
    }

    /// Writes the recorded events of this runtime to a writer; see
    /// [`dump_trace`](Self::dump_trace).
    ///
    /// Signals that `out` raises are not suppressed.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::trace::Config;
    ///
    /// let rt = heist::runtime::Builder::new_multi_thread().trace(Config::new()).build()?;
    /// let mut dump = Vec::new();
    /// rt.handle().dump_trace_to(&mut dump)?;
    /// assert!(!dump.is_empty());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::Unsupported`] if the runtime does not record, and errors of `out`.
    pub fn dump_trace_to(&self, out: impl io::Write) -> io::Result<()> {
        self.traced("Handle::dump_trace_to")?.write(out)
    }

    fn traced(&self, api: &str) -> io::Result<trace::Subject<'_>> {
        self.scheduler.trace().ok_or_else(|| {
            let message = format!(
                "{api}: this runtime does not record: call Builder::trace, or set {VARIABLE}"
            );
            io::Error::new(io::ErrorKind::Unsupported, message)
        })
    }
}

/// Starts the recorder that the program or the environment asks for, or that a console's clients
/// may ask for.
///
/// # Errors
/// Only if the program asks for the recorder: if a file could not be written later, or if there are
/// no descriptors left.
pub(super) fn recorder(
    wanted: Option<&trace::Config>,
    by_console: bool,
) -> io::Result<Option<Arc<Recorder>>> {
    if let Some(config) = wanted {
        return start_recorder(config.clone()).map(Some);
    }
    match from_environment() {
        None if by_console => start_recorder(trace::Config::new()).map(Some),
        recorder => Ok(recorder),
    }
}

/// Starts the recorder that the environment asks for. If that fails, a warning says why, and
/// nothing is recorded.
fn from_environment() -> Option<Arc<Recorder>> {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let file = PathBuf::from(std::env::var_os(VARIABLE)?);
    let recorder = check_file(&file).and_then(|()| {
        // Relaxed: the numbers only have to differ.
        let number = TAKEN.fetch_add(1, Ordering::Relaxed) + 1;
        start_recorder(trace::Config::new().dump_always(&numbered(&file, number)))
    });
    recorder.inspect_err(|error| log::no_trace(VARIABLE, error)).ok()
}

/// The first runtime of a process has the file, the second `file.2`, and so on.
fn numbered(file: &Path, number: u64) -> PathBuf {
    let mut name = OsString::from(file);
    if number > 1 {
        name.push(format!(".{number}"));
    }
    name.into()
}

fn start_recorder(config: trace::Config) -> io::Result<Arc<Recorder>> {
    config.files().try_for_each(check_file)?;
    task::keep_ended();
    Recorder::new(config)
        .map_err(|error| io::Error::new(error.kind(), format!("Builder::trace: {error}")))
}

/// Checks what can be known in advance: the file has a name, and its directory exists.
fn check_file(file: &Path) -> io::Result<()> {
    let wrong = |kind, what: &str| {
        let message =
            format!("Builder::trace: {file:?} {what}; name a file in a directory that is there");
        Err(io::Error::new(kind, message))
    };
    if file.file_name().is_none() {
        return wrong(io::ErrorKind::InvalidInput, "is no name for a file");
    }
    if file.is_dir() {
        return wrong(io::ErrorKind::IsADirectory, "is a directory");
    }
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    match directory {
        Some(directory) if !directory.is_dir() => {
            wrong(io::ErrorKind::NotFound, "would be in a directory that does not exist")
        }
        _ => Ok(()),
    }
}

/// Writes the dumps that events trigger, and the last one when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    kept: Option<Kept>,
    /// Whether the drop waits for a dump that is being written.
    pub(super) waits: bool,
}

#[derive(Debug)]
struct Kept {
    handle: Handle,
    recorder: Arc<Recorder>,
    thread: Option<thread::JoinHandle<()>>,
    signal: Option<signal_hook_registry::SigId>,
    at_exit: Option<AtExit>,
}

impl Keeper {
    /// `is_own`: the program has asked for the recorder, not the environment.
    ///
    /// # Errors
    /// If `is_own`, and the thread cannot be started or the signal handler not be installed.
    pub(super) fn new(handle: &Handle, is_own: bool) -> io::Result<Self> {
        let Some(recorder) = handle.scheduler.recorder().map(Arc::clone) else {
            return Ok(Keeper::default());
        };
        let (thread, signal, at_exit) = (None, None, None);
        let mut kept = Kept { handle: handle.clone(), recorder, thread, signal, at_exit };
        match kept.watch() {
            Err(error) if is_own => return Err(error),
            Err(error) => log::trace_only_at_the_end(VARIABLE, &error),
            Ok(()) => {}
        }
        let file = kept.recorder.config().at_shutdown.clone();
        kept.at_exit = file.map(|file| AtExit::dump(handle.clone(), file));
        Ok(Keeper { kept: Some(kept), waits: true })
    }
}

impl Kept {
    /// Starts what writes dumps while the runtime runs, if the configuration asks for any.
    fn watch(&mut self) -> io::Result<()> {
        if self.recorder.config().is_watched() {
            self.thread = Some(start_thread(self.handle.clone(), Arc::clone(&self.recorder))?);
        }
        if self.recorder.config().on_signal.is_some() {
            self.signal = self.recorder.dump_requests().sender().map(listen).transpose()?;
        }
        Ok(())
    }
}

fn listen(sender: Arc<std::os::unix::net::UnixStream>) -> io::Result<signal_hook_registry::SigId> {
    let action = move || trace::send(&sender, DumpRequest::Signal);
    // SAFETY: (FFI) trace::send() is async-signal-safe.
    unsafe { signal_hook_registry::register(libc::SIGUSR2, action) }
}

fn start_thread(handle: Handle, recorder: Arc<Recorder>) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("heist-trace".into()).spawn(move || keep(&handle, &recorder))
}

/// Writes a dump for each request until the runtime ends.
fn keep(handle: &Handle, recorder: &Recorder) {
    let config = recorder.config();
    let mut last: [Option<Clock>; 2] = [None; 2];
    loop {
        let (file, last) = match recorder.dump_requests().wait() {
            DumpRequest::End => return,
            DumpRequest::Signal => (&config.on_signal, None),
            DumpRequest::Stall => (&config.on_stall, Some(&mut last[0])),
            DumpRequest::Panic => (&config.on_panic, Some(&mut last[1])),
        };
        let now = Clock::now();
        let is_new = last.is_none_or(|last| {
            let is_new = last.is_none_or(|last| now.since(last) >= DUMP_INTERVAL);
            *last = if is_new { Some(now) } else { *last };
            is_new
        });
        if let Some(file) = file.as_deref().filter(|_| is_new) {
            dump(handle, file);
        }
    }
}

/// Writes a dump that no caller waits for: errors are logged, and panics are swallowed.
fn dump(handle: &Handle, file: &Path) {
    quietly(|| {
        let Some(subject) = handle.scheduler.trace() else { return };
        if let Err(error) = trace::to_file(file, |out| subject.write(out)) {
            log::not_dumped(&subject.recorder.not_dumped, file, &error);
        }
    });
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let Some(Kept { handle, recorder, thread, signal, at_exit }) = self.kept.take() else {
            return;
        };
        // The last dump is written below, not at the exit of the process.
        drop(at_exit);
        signal.into_iter().for_each(|signal| _ = signal_hook_registry::unregister(signal));
        recorder.dump_requests().end();
        let this = thread::current().id();
        let thread = thread.filter(|thread| self.waits && thread.thread().id() != this);
        thread.into_iter().for_each(|thread| _ = thread.join());
        if let Some(file) = &recorder.config().at_shutdown {
            dump(&handle, file);
        }
    }
}
