//! Errors of `Builder::build`, which say what to do about them.

use std::io;

pub(super) fn no_sysmon(error: &io::Error) -> io::Error {
    let message =
        format!("Builder::build: cannot start the monitor: {error}; raise the system's limits");
    io::Error::new(error.kind(), message)
}

pub(super) fn no_keeper(error: &io::Error) -> io::Error {
    let message =
        format!("Builder::build: cannot write traces: {error}; raise the system's limits");
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
        // The error already names the setting and the fix.
        io::ErrorKind::InvalidInput => "",
        _ => "; ask for fewer workers or a smaller stack, or raise the system's limits",
    };
    let message = format!(
        "Builder::build: worker {index} of {count} cannot start its thread: {error}{advice}"
    );
    io::Error::new(error.kind(), message)
}
