//! Warnings about rare and serious problems that would go unnoticed otherwise.
//!
//! With the feature `tracing` each is an event of that crate, and otherwise a line on stderr.

#[cfg(feature = "tracing")]
#[path = "log/events.rs"]
mod sink;
#[cfg(not(feature = "tracing"))]
#[path = "log/lines.rs"]
mod sink;

use super::quietly;
use std::fmt::{self, Display};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A subscriber is foreign code, whose panic is swallowed.
fn warn(message: &str) {
    quietly(|| sink::warn(message));
}

/// Reports a problem only the first time. Each runtime has one for each kind of problem.
#[derive(Debug, Default)]
pub(crate) struct Once(AtomicBool);

impl Once {
    pub(crate) fn warn(&self, message: impl Display) {
        // Relaxed: the first thread reports it, and nothing else depends on that.
        if !self.0.swap(true, Ordering::Relaxed) {
            warn(&message.to_string());
        }
    }
}

/// Why there is no spare worker.
#[derive(Debug)]
pub(crate) enum NoSpare {
    /// All threads that `Builder::max_blocking_threads` allows, this many, are busy.
    ThreadsBusy(usize),
    /// All spare workers that a runtime may have, this many, are at work.
    SparesBusy(usize),
    /// The system refused to start a thread.
    NotStarted(io::Error),
}

impl Display for NoSpare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSpare::ThreadsBusy(limit) => write!(
                f,
                "all {limit} threads that Builder::max_blocking_threads allows are busy. Raise that \
                 limit, or block in fewer tasks at once"
            ),
            NoSpare::SparesBusy(limit) => write!(
                f,
                "all {limit} spare workers that a runtime may have are at work. Block in fewer tasks \
                 at once"
            ),
            NoSpare::NotStarted(error) => write!(
                f,
                "no thread could be started: {error}. Raise the system's limits on threads and memory, \
                 or block in fewer tasks at once"
            ),
        }
    }
}

/// There is no spare worker for the seat of a blocked or stuck worker, while tasks wait.
pub(crate) fn no_spare(once: &Once, why: &NoSpare) {
    once.warn(format_args!(
        "a worker blocks or is stuck, and no spare worker can take its place: {why}. Until a thread \
         comes back tasks may have to wait for it. RuntimeMetrics::spare_shortage_count counts on, \
         this is said once"
    ));
}

/// The environment asks for a console that cannot be started.
pub(crate) fn no_console(why: &str) {
    warn(&format!("there is no console. {why}"));
}

/// A variable asks for a recorder that cannot be started.
pub(crate) fn no_trace(variable: &str, error: &io::Error) {
    warn(&format!("{variable}: nothing is recorded: {error}"));
}

/// A variable asks for dumps while the runtime runs, which cannot be written.
pub(crate) fn trace_only_at_the_end(variable: &str, error: &io::Error) {
    warn(&format!("{variable}: stalls, panics and SIGUSR2 leave no trace: {error}"));
}

/// An automatic dump failed, or is incomplete.
pub(crate) fn not_dumped(once: &Once, file: &Path, error: &io::Error) {
    let rest = match error.kind() {
        io::ErrorKind::FileTooLarge => "; what fits of it, if anything, is there",
        _ => "",
    };
    once.warn(format_args!(
        "a trace could not be written to {}: {error}{rest}. Of this runtime's traces, this is said once",
        file.display()
    ));
}

/// These threads have not ended within the timeout of a shutdown.
pub(crate) fn left_behind(threads: &[String], timeout: Duration) {
    let s = match threads.len() {
        0 => return,
        1 => "",
        _ => "s",
    };
    warn(&format!(
        "Runtime::shutdown_timeout: after {timeout:?}, {} thread{s} had not ended: {threads:?}. The \
         runtime no longer waits for them; if they should end in time, give it longer, or have them \
         end sooner",
        threads.len()
    ));
}
