//! Warnings: what is rare and serious, and would not be noticed otherwise.
//!
//! With the feature `tracing` each is an event of that crate, else a line on stderr.

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

/// Whoever listens is code of others: its panic goes no further.
fn warn(message: &str) {
    quietly(|| sink::warn(message));
}

/// Says a thing the first time only: there is one for each thing and runtime.
#[derive(Debug, Default)]
pub(crate) struct Once(AtomicBool);

impl Once {
    pub(crate) fn warn(&self, message: impl Display) {
        // Relaxed: who comes first says it, and nothing else depends on that.
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
    /// The system starts no thread.
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

/// Tasks wait, and nobody sits on a seat whose worker blocks or is stuck.
pub(crate) fn no_spare(once: &Once, why: &NoSpare) {
    once.warn(format_args!(
        "a worker blocks or is stuck, and no spare worker can take its place: {why}. Until a thread \
         comes back tasks may have to wait for it. RuntimeMetrics::spare_shortage_count counts on, \
         this is said once"
    ));
}

/// What the environment asks for cannot be had.
pub(crate) fn no_console(why: &str) {
    warn(&format!("there is no console. {why}"));
}

/// A variable asks for a recorder, in vain.
pub(crate) fn no_trace(variable: &str, error: &io::Error) {
    warn(&format!("{variable}: nothing is recorded: {error}"));
}

/// A variable asks for dumps while the runtime runs, in vain.
pub(crate) fn trace_only_at_the_end(variable: &str, error: &io::Error) {
    warn(&format!("{variable}: stalls, panics and SIGUSR2 leave no trace: {error}"));
}

/// A dump that was to happen by itself has not, or not all of it.
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

/// A runtime has been shut down, and these threads have not ended within the time it was given.
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
