//! `heist doctor`: what is wrong with a program, why, and what to do.
//!
//! | module | what |
//! |---|---|
//! | `exam` | an examination: events in, findings out |
//! | `picture` | what the workers and tasks are doing at one moment of a trace |
//! | `detect` | what is looked for, one module for each kind of trouble |
//! | `finding` | what is said |
//! | `report` | how it is printed |

mod detect;
mod exam;
mod finding;
mod picture;
mod report;

#[cfg(test)]
mod tests;

pub use exam::{Basis, Diagnosis, Exam};
pub(crate) use finding::time;
pub use finding::{Evidence, Finding, Severity, TaskRef, Texts, Unit};
pub(crate) use report::print_findings;

use crate::style::Style;
use heist::trace::{Lane, ReadError, StringId, TaskId, Trace};
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What it is asked for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  HEIST_TRACE=out.trace ./my-server     record; the file is written at the end, and on a stall
  heist doctor out.trace                what is wrong, in plain words
  heist doctor --json out.trace         the same for programs

Exit codes: 0, nothing was found; 1, something was; 2, the trace could not be read.")]
pub struct Args {
    /// A trace file, as HEIST_TRACE or Handle::dump_trace write it.
    trace: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Examines a whole trace.
pub fn examine(trace: &Trace) -> Result<Diagnosis, ReadError> {
    let mut exam = Exam::new(trace.seats(), complete_from(trace)?);
    for event in trace.events()? {
        exam.see(&event?);
    }
    Ok(exam.conclude(trace))
}

/// From when on all lanes are there. The rings of the busiest workers go back least.
fn complete_from(trace: &Trace) -> Result<Duration, ReadError> {
    let mut from = Duration::ZERO;
    for lane in trace.lanes().filter(|lane| trace.lost(*lane) > 0) {
        if let Some(first) = trace.lane_events(lane)?.next() {
            from = from.max(first?.at);
        }
    }
    Ok(from)
}

impl Texts for Trace {
    fn text(&self, id: StringId) -> &str {
        Trace::text(self, id)
    }

    fn name(&self, task: TaskId) -> Option<&str> {
        Trace::name(self, task)
    }
}

/// Examines, prints, and tells by the exit code whether anything was found.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let path = args.trace.display();
    let trace = Trace::open(&args.trace).map_err(|error| format!("{path}: {error}"))?;
    let diagnosis = examine(&trace).map_err(|error| format!("{path}: {error}"))?;
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
