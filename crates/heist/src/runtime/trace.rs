//! The recorder of a runtime, as its users have it: dumps on demand, and those that happen by themselves.

mod at_exit;

use super::Handle;
use crate::env::{Clock, log, quietly};
use crate::task;
use crate::trace::{self, Recorder, Wish, ring};
use at_exit::AtExit;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const VARIABLE: &str = "HEIST_TRACE";

/// Who has stalls all the time, or panics, gets a dump so often. Guessed.
const OFTEN_ENOUGH: Duration = Duration::from_secs(1);

impl Handle {
    /// Writes what the runtime has recorded lately to a file, for `heist doctor` and
    /// [`trace::Trace`]. The file is written beside `path` first, and takes its place when it is whole.
    /// Workers go on meanwhile.
    ///
    /// # Errors
    /// If nothing is recorded ([`Builder::trace`](super::Builder::trace)), with
    /// [`io::ErrorKind::Unsupported`]; and if the file cannot be written. Past a limit on the size
    /// of files that is [`io::ErrorKind::FileTooLarge`], without the signal SIGXFSZ; then `path`
    /// holds the part of the trace that fits.
    pub fn dump_trace(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let subject = self.traced("Handle::dump_trace")?;
        trace::to_file(path, |out| subject.write(out)).map_err(|error| {
            let message = format!("Handle::dump_trace: {}: {error}", path.display());
            io::Error::new(error.kind(), message)
        })
    }

    /// As [`dump_trace`](Self::dump_trace), to anything that can be written to. Signals that `out`
    /// raises are not held back.
    ///
    /// # Errors
    /// If nothing is recorded, with [`io::ErrorKind::Unsupported`]; and those of `out`.
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

/// The recorder that the program asks for, or the environment, or else clients of a console may.
///
/// # Errors
/// If the program asks for one and a file that is to be written could not be, or there are no
/// descriptors left.
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

/// If it cannot be had, a warning says why, and nothing is recorded.
fn from_environment() -> Option<Arc<Recorder>> {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let file = PathBuf::from(std::env::var_os(VARIABLE)?);
    let recorder = check_file(&file).and_then(|()| {
        // Relaxed: that the numbers differ is all that is asked of them.
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

/// What can be known beforehand: there is a directory for it.
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

/// Dumps what is to be dumped by itself, as long as the runtime lives; when this is dropped, for the last time.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    kept: Option<Kept>,
    /// Whether the end waits for a dump that is being written.
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
    /// `is_own`: the program has asked for the recorder, and not the environment.
    ///
    /// # Errors
    /// If it has no thread, or the signal no handler, and the program has asked for it.
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
    /// Has dumps written while the runtime runs, if any are wanted.
    fn watch(&mut self) -> io::Result<()> {
        if self.recorder.config().is_watched() {
            self.thread = Some(start_thread(self.handle.clone(), Arc::clone(&self.recorder))?);
        }
        if self.recorder.config().on_signal.is_some() {
            self.signal = self.recorder.wishes().bell().map(listen).transpose()?;
        }
        Ok(())
    }
}

fn listen(bell: Arc<std::os::unix::net::UnixStream>) -> io::Result<signal_hook_registry::SigId> {
    let action = move || ring(&bell, Wish::Signal);
    // SAFETY: (FFI) ring() does only what a handler may do.
    unsafe { signal_hook_registry::register(libc::SIGUSR2, action) }
}

fn start_thread(handle: Handle, recorder: Arc<Recorder>) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("heist-trace".into()).spawn(move || keep(&handle, &recorder))
}

/// Until there are no more wishes.
fn keep(handle: &Handle, recorder: &Recorder) {
    let config = recorder.config();
    let mut last: [Option<Clock>; 2] = [None; 2];
    loop {
        let (file, last) = match recorder.wishes().wait() {
            Wish::End => return,
            Wish::Signal => (&config.on_signal, None),
            Wish::Stall => (&config.on_stall, Some(&mut last[0])),
            Wish::Panic => (&config.on_panic, Some(&mut last[1])),
        };
        let now = Clock::now();
        let is_new = last.is_none_or(|last| {
            let is_new = last.is_none_or(|last| now.since(last) >= OFTEN_ENOUGH);
            *last = if is_new { Some(now) } else { *last };
            is_new
        });
        if let Some(file) = file.as_deref().filter(|_| is_new) {
            dump(handle, file);
        }
    }
}

/// Dumps for nobody who could be told of an error, or of a panic.
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
        // From here on it is dumped below.
        drop(at_exit);
        signal.into_iter().for_each(|signal| _ = signal_hook_registry::unregister(signal));
        recorder.wishes().end();
        let this = thread::current().id();
        let thread = thread.filter(|thread| self.waits && thread.thread().id() != this);
        thread.into_iter().for_each(|thread| _ = thread.join());
        if let Some(file) = &recorder.config().at_shutdown {
            dump(&handle, file);
        }
    }
}
