//! `heist doctor`: what is wrong with a program, why, and what to do (M2).
//!
//! | module | what |
//! |---|---|
//! | `exam` | an examination: events in, findings out |
//! | `picture` | what the workers and tasks are doing at one moment of a trace |
//! | `detect` | what is looked for, one module for each kind of trouble |
//! | `finding` | what is said |
//! | `waiting` | which tasks wait, and whether the program does anything else |
//! | `report` | how it is printed |

mod detect;
mod exam;
mod finding;
mod picture;
mod report;
mod waiting;

#[cfg(test)]
mod tests;

pub use exam::{Basis, Diagnosis, Exam, Start};
pub(crate) use finding::time;
pub use finding::{Evidence, Finding, Severity, TaskRef, Texts, Unit};
pub(crate) use report::print_findings;
pub use waiting::{Verdict, Waiting};

use crate::live::{Endpoint, LiveError};
use crate::style::Style;
use heist::trace::{EventKind, Lane, ReadError, StringId, TaskId, Trace};
use std::error::Error;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::ExitCode;

/// What it is asked for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  HEIST_TRACE=out.trace ./my-server     record; the file is written at the end, and on a stall
  heist doctor out.trace                what is wrong, in plain words
  heist doctor --json out.trace         the same for programs
  HEIST_CONSOLE=1 ./my-server &         ask a program that runs, by its pid
  heist doctor $!

Exit codes: 0, nothing was found (the program may only have waited); 1, something was; 2, there was
nothing to examine.")]
pub struct Args {
    /// A trace file, as HEIST_TRACE or Handle::dump_trace write it; or a running program: a pid,
    /// the path of its console's socket, or its address. Without any of these, the only console
    /// there is.
    target: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Examines a whole trace.
pub fn examine(trace: &Trace) -> Result<Diagnosis, ReadError> {
    let mut exam = Exam::new(trace.seats(), late_starts(trace)?);
    for event in trace.events()? {
        exam.see(&event?);
    }
    Ok(exam.conclude(trace))
}

/// Where the lanes begin whose older events were overwritten. The buffers of the busiest workers go
/// back least, and those of spare workers, which are short.
fn late_starts(trace: &Trace) -> Result<Vec<Start>, ReadError> {
    let lanes = trace.lanes().filter(|lane| trace.lost(*lane) > 0);
    let starts = lanes.map(|lane| start_of(trace, lane));
    Ok(starts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn start_of(trace: &Trace, lane: Lane) -> Result<Option<Start>, ReadError> {
    let mut events = trace.lane_events(lane)?;
    let Some(first) = events.next().transpose()? else { return Ok(None) };
    let mut in_poll = None;
    for event in std::iter::once(Ok(first)).chain(events) {
        match event?.kind {
            EventKind::PollEnd { task, .. } => {
                in_poll = Some(task);
                break;
            }
            EventKind::PollStart { .. } | EventKind::Park | EventKind::SearchFailed => break,
            _ => {}
        }
    }
    Ok(Some(Start { lane, at: first.at, in_poll }))
}

impl Texts for Trace {
    fn text(&self, id: StringId) -> &str {
        Trace::text(self, id)
    }

    fn name(&self, task: TaskId) -> Option<&str> {
        Trace::name(self, task)
    }
}

/// The trace, and what it is called: a file, or what a running program has recorded.
fn open(target: Option<&str>) -> Result<(String, Trace), Box<dyn Error>> {
    if let Some(path) = target.filter(|target| !is_live(target)) {
        let trace = Trace::open(path).map_err(|error| format!("{path}: {error}"))?;
        return Ok((path.to_owned(), trace));
    }
    let (endpoint, mut bytes) = (Endpoint::find(target)?, Vec::new());
    endpoint.trace(&mut bytes)?;
    match Trace::from_bytes(bytes) {
        Ok(trace) => Ok((endpoint.to_string(), trace)),
        Err(error) => Err(LiveError::NotUnderstood { endpoint, why: error.to_string() }.into()),
    }
}

/// Nothing has happened in it, as far as it goes: to call that healthy would be a guess.
fn is_empty(trace: &Trace) -> Result<bool, ReadError> {
    for event in trace.events()? {
        if event?.kind != EventKind::Dumped {
            return Ok(false);
        }
    }
    Ok(true)
}

/// If it is empty.
fn what_to_do(trace: &Trace) -> &'static str {
    if trace.is_truncated() {
        "the file is cut off before its first event, so there is nothing to examine; copy it again, \
         or record a new one with HEIST_TRACE=file"
    } else {
        "no worker has done anything yet, so there is nothing to examine; let the program run tasks, \
         then record or ask again"
    }
}

/// Anything else is a file.
fn is_live(target: &str) -> bool {
    let is_socket =
        |path: &str| fs::metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let is_number = target.parse::<u32>().is_ok() && !Path::new(target).exists();
    is_number || target.parse::<SocketAddr>().is_ok() || is_socket(target)
}

/// Examines, prints, and tells by the exit code whether anything was found.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let (name, trace) = open(args.target.as_deref())?;
    let because = |error: ReadError| format!("{name}: {error}");
    if is_empty(&trace).map_err(because)? {
        return Err(format!("{name}: {}", what_to_do(&trace)).into());
    }
    let diagnosis = examine(&trace).map_err(because)?;
    let lost = trace.lanes().chain([Lane::Outside]).any(|lane| trace.lost(lane) > 0);
    let subject = report::Subject {
        program: trace.program(),
        pid: trace.pid(),
        seats: trace.seats(),
        is_truncated: trace.is_truncated(),
        has_lost_events: lost,
    };
    let mut out = io::stdout().lock();
    let printed = if args.json {
        report::print_json(&mut out, &subject, &diagnosis)
    } else {
        report::print(&mut out, Style::of_stdout(), &subject, &diagnosis)
    };
    crate::style::unless_nobody_reads(printed)?;
    Ok(ExitCode::from(u8::from(!diagnosis.findings.is_empty())))
}
