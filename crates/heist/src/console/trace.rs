//! Sending a trace to a client.

use super::http::{Refusal, Status, refuse};
use crate::env::without_signals;
use crate::scheduler::Scheduler;
use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, memfd_create, openat};
use std::env;
use std::fs::File;
use std::io::{self, BufWriter, Write};

pub(super) const PATH: &str = "/v1/trace";

/// Writes a trace to a private file, and returns that and its length. Because a client may be slow
/// and the recorder continues, it is a copy, preferably not in memory.
pub(super) fn dump(scheduler: &Scheduler) -> Result<(File, u64), Refusal> {
    let Some(subject) = scheduler.trace() else {
        let sentence = "this runtime does not record; leave out Config::record(false)";
        return Err(refuse(Status::NotFound, sentence));
    };
    let dump = || {
        let mut out = BufWriter::new(nameless()?);
        subject.write(&mut out)?;
        out.flush()?;
        let file = out.into_inner().map_err(|error| error.into_error())?;
        let length = file.metadata()?.len();
        Ok((file, length))
    };
    let failed = |error: io::Error| {
        refuse(Status::Unavailable, format!("the trace cannot be written: {error}"))
    };
    without_signals(dump).map_err(failed)
}

/// Creates an unnamed file, which is removed when it is closed.
fn nameless() -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(CWD, env::temp_dir(), flags, Mode::RUSR | Mode::WUSR);
    // Not every file system supports such files, and not every program may write to one.
    let file = file.or_else(|_| memfd_create("heist-trace", MemfdFlags::CLOEXEC))?;
    Ok(file.into())
}
