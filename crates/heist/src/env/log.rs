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
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// A worker is stuck, tasks wait, and there is nobody to lend its seat to. There may be so many threads
/// beside the workers.
pub(crate) fn no_spare(once: &Once, limit: usize) {
    once.warn(format_args!(
        "a worker is stuck and no spare worker can be had: all {limit} threads that \
         Builder::max_blocking_threads allows are busy, or the system starts no more. Until a thread \
         comes back tasks may have to wait for it. Raise the limit, or block in fewer tasks at once. \
         RuntimeMetrics::spare_shortage_count counts on, this is said once"
    ));
}

/// What the environment asks for cannot be had.
pub(crate) fn no_console(why: &str) {
    warn(&format!("there is no console. {why}"));
}

/// A variable asks for a recorder, in vain.
pub(crate) fn no_trace(variable: &str, error: &std::io::Error) {
    warn(&format!("{variable}: nothing is recorded: {error}"));
}

/// A variable asks for dumps while the runtime runs, in vain.
pub(crate) fn trace_only_at_the_end(variable: &str, error: &std::io::Error) {
    warn(&format!("{variable}: stalls, panics and SIGUSR2 leave no trace: {error}"));
}

/// A dump that was to happen by itself has not, or not all of it.
pub(crate) fn not_dumped(once: &Once, file: &Path, error: &std::io::Error) {
    let rest = match error.kind() {
        std::io::ErrorKind::FileTooLarge => "; what fits of it, if anything, is there",
        _ => "",
    };
    once.warn(format_args!(
        "a trace could not be written to {}: {error}{rest}. Of this runtime's traces, this is said once",
        file.display()
    ));
}

/// A runtime has been shut down, and the time it was given was not enough for these threads to end.
pub(crate) fn left_behind(threads: &[String]) {
    let (is, s) = match threads.len() {
        0 => return,
        1 => ("is", ""),
        _ => ("are", "s"),
    };
    warn(&format!(
        "a runtime was shut down, and {} thread{s} {is} left behind, busy with something that does \
         not end: {threads:?}. Have it end, or give Runtime::shutdown_timeout more time",
        threads.len()
    ));
}
