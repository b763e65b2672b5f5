//! How findings are printed.

use super::exam::Diagnosis;
use super::finding::{Finding, Severity, grouped, plural, time};
use super::waiting::Verdict;
use crate::style::{Colour, Style};
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// The share of their time without a core from which the report mentions it. Guessed.
const WITHOUT_CORE: f64 = 0.1;

/// What was examined.
#[derive(Debug, Serialize)]
pub(super) struct Subject<'a> {
    pub(super) program: &'a str,
    pub(super) pid: u32,
    pub(super) seats: usize,
    /// The file ends in the middle of something.
    pub(super) is_truncated: bool,
    /// The buffers had been overwritten.
    pub(super) has_lost_events: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    version: u32,
    subject: &'a Subject<'a>,
    #[serde(flatten)]
    diagnosis: &'a Diagnosis,
}

pub(super) fn print_json(
    out: &mut impl Write,
    subject: &Subject<'_>,
    diagnosis: &Diagnosis,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Json { version: 1, subject, diagnosis })?;
    writeln!(out)
}

pub(super) fn print(
    out: &mut impl Write,
    style: Style,
    subject: &Subject<'_>,
    diagnosis: &Diagnosis,
) -> io::Result<()> {
    print_subject(out, style, subject, diagnosis)?;
    writeln!(out)?;
    print_findings(out, style, "", diagnosis)?;
    print_waiting(out, style, diagnosis)
}

fn print_subject(
    out: &mut impl Write,
    style: Style,
    subject: &Subject<'_>,
    diagnosis: &Diagnosis,
) -> io::Result<()> {
    let basis = &diagnosis.basis;
    writeln!(
        out,
        "{} (pid {}): {}, {}, {} polls, {} events",
        style.bold(subject.program),
        subject.pid,
        plural(subject.seats as u64, "worker"),
        time(Duration::from_secs_f64(basis.seconds)),
        grouped(basis.polls),
        grouped(basis.events),
    )?;
    let mut note = |is_so, text: &str| {
        if is_so { writeln!(out, "{}", style.dim(text)) } else { Ok(()) }
    };
    note(subject.has_lost_events, "Older events were overwritten; what is left is examined.")?;
    note(subject.is_truncated, "The file is cut off; what is there is examined.")?;
    let late = format!(
        "The machine had too few cores: for {:.0} % of their time workers waited for one.",
        basis.without_core * 100.0
    );
    note(basis.without_core >= WITHOUT_CORE, &late)
}

/// All findings, each line behind `indent`; or that there are none.
pub(crate) fn print_findings(
    out: &mut impl Write,
    style: Style,
    indent: &str,
    diagnosis: &Diagnosis,
) -> io::Result<()> {
    if diagnosis.findings.is_empty() {
        return match diagnosis.verdict {
            Verdict::Idle => print_idle(out, style, indent, diagnosis),
            _ => writeln!(out, "{indent}{} nothing found", style.colour(Colour::Green, "healthy:")),
        };
    }
    for (number, finding) in diagnosis.findings.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        print_finding(out, style, indent, finding)?;
    }
    Ok(())
}

/// Nothing was found, but that says little.
fn print_idle(
    out: &mut impl Write,
    style: Style,
    indent: &str,
    diagnosis: &Diagnosis,
) -> io::Result<()> {
    let basis = &diagnosis.basis;
    let text = format!(
        "idle: nothing found, but there is little to judge by: tasks ran for {:.1} % of the time, \
         and none in the last {}.",
        basis.somebody_busy * 100.0,
        time(Duration::from_secs_f64(basis.quiet_seconds))
    );
    style.wrap(out, indent, &format!("{indent}  "), &text)
}

/// Prints the waiting tasks. This is information: a program that waits may do what it should.
fn print_waiting(out: &mut impl Write, style: Style, diagnosis: &Diagnosis) -> io::Result<()> {
    if diagnosis.waiting.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    writeln!(out, "{}", style.bold("waiting longest (for information)"))?;
    for waiting in &diagnosis.waiting {
        style.wrap(out, "  ", "    ", &waiting.to_string())?;
    }
    let note = match diagnosis.verdict {
        Verdict::Idle => {
            "A server without requests looks like this. If the program should be doing something: \
             tasks that wait for each other's locks, or whose waker was lost, look the same."
        }
        _ => return Ok(()),
    };
    style.wrap(out, "  ", "  ", note)
}

fn print_finding(
    out: &mut impl Write,
    style: Style,
    indent: &str,
    finding: &Finding,
) -> io::Result<()> {
    let (colour, word) = match finding.severity {
        Severity::Warning => (Colour::Yellow, "warning"),
        Severity::Problem => (Colour::Red, "problem"),
    };
    writeln!(out, "{indent}{}: {}", style.colour(colour, word), style.bold(finding.id))?;
    style.wrap(out, &format!("{indent}  "), &format!("{indent}  "), &finding.sentence)?;
    let mut item = |title: &str, text: String| {
        if text.is_empty() {
            return Ok(());
        }
        let first = format!("{indent}  {title:<9}");
        let rest = " ".repeat(first.chars().count());
        style.wrap(out, &first, &rest, &text)
    };
    let evidence: Vec<_> = finding.evidence.iter().map(|evidence| evidence.to_string()).collect();
    item("evidence", evidence.join("; "))?;
    item("spawned", finding.lines.join(", "))?;
    let tasks: Vec<_> = finding.tasks.iter().map(|task| task.to_string()).collect();
    item(if tasks.len() == 1 { "task" } else { "tasks" }, tasks.join(", "))?;
    item("do", finding.advice.to_owned())
}
