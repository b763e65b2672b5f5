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
use std::sync::atomic::{AtomicBool, Ordering};

/// Whoever listens is code of others: its panic goes no further.
fn warn(message: &str) {
    quietly(|| sink::warn(message));
}

/// Says a thing the first time only: there is one for each thing and runtime.
#[derive(Debug, Default)]
pub(crate) struct Once(AtomicBool);

impl Once {
    fn warn(&self, message: impl Display) {
        // Relaxed: who comes first says it, and nothing else depends on that.
        if !self.0.swap(true, Ordering::Relaxed) {
            warn(&message.to_string());
        }
    }
}

/// Why there is no spare worker for a seat.
#[derive(Debug)]
pub(crate) enum NoSpare<'a> {
    /// There are so many threads, and there may be no more.
    Limit(usize),
    /// The system does not start another thread.
    Refused(&'a io::Error),
}

/// A worker is stuck, tasks wait, and there is nobody to lend its seat to.
pub(crate) fn no_spare(once: &Once, why: &NoSpare<'_>) {
    once.warn(format_args!(
        "a worker is stuck and no spare worker can be had, {why}; until it comes back tasks may \
         have to wait for it. RuntimeMetrics::spare_shortage_count counts on, this is said once"
    ));
}

impl Display for NoSpare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSpare::Limit(threads) => write!(
                f,
                "as there are {threads} threads already; raise Builder::max_blocking_threads, or \
                 block in fewer tasks at once"
            ),
            NoSpare::Refused(error) => write!(
                f,
                "as the system starts no thread for it ({error}); raise the system's limits, or \
                 block in fewer tasks at once"
            ),
        }
    }
}

/// A runtime has been shut down, and the time it was given was not enough for these threads to end.
pub(crate) fn left_behind(threads: &[&str]) {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_says_what_to_do() {
        let limit = NoSpare::Limit(512).to_string();
        assert!(limit.contains("512") && limit.contains("max_blocking_threads"), "{limit}");
        let error = io::Error::other("no more of them");
        let refused = NoSpare::Refused(&error).to_string();
        assert!(refused.contains("no more of them") && refused.contains("limits"), "{refused}");
    }
}
