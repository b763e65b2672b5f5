//! Errors of `Builder::build`, which say what to do about them.

use std::io;

pub(super) fn no_sysmon(error: &io::Error) -> io::Error {
    let message =
        format!("Builder::build: the monitor has no thread: {error}; raise the system's limits");
    io::Error::new(error.kind(), message)
}

pub(super) fn no_keeper(error: &io::Error) -> io::Error {
    let message =
        format!("Builder::build: nobody to write traces: {error}; raise the system's limits");
    io::Error::new(error.kind(), message)
}

pub(super) fn no_reactors(workers: usize, error: &io::Error) -> io::Error {
    let message = format!(
        "Builder::build: no pollers for {workers} workers, which need two open files each: {error}; ask \
         for fewer workers, or raise the system's limits"
    );
    io::Error::new(error.kind(), message)
}

pub(super) fn not_started(index: usize, count: usize, error: &io::Error) -> io::Error {
    let advice = match error.kind() {
        // It says itself what was wrong with what.
        io::ErrorKind::InvalidInput => "",
        _ => "; ask for fewer workers or a smaller stack, or raise the system's limits",
    };
    let message =
        format!("Builder::build: worker {index} of {count} has no thread: {error}{advice}");
    io::Error::new(error.kind(), message)
}
