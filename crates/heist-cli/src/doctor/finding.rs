//! What doctor says: a sentence, the numbers behind it, where to look and what to do.

use heist::trace::{StringId, TaskId};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// Something that is wrong with a program, or may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Which finding it is; the same word in each version.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence or two.
    pub sentence: String,
    /// The numbers that say so.
    pub evidence: Vec<Evidence>,
    /// Some of the tasks concerned.
    pub tasks: Vec<TaskRef>,
    /// The lines that spawn such tasks: `file:line:column`.
    pub lines: Vec<String>,
    /// What to do about it.
    pub advice: &'static str,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// It costs something.
    Warning,
    /// Others wait for it.
    Problem,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// What was counted or measured.
    pub what: String,
    /// How much it was.
    pub value: f64,
    /// The unit of the value.
    pub unit: Unit,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Unit {
    /// Things.
    Count,
    /// Things, on average.
    Mean,
    /// Time.
    Nanoseconds,
    /// A share of something.
    Percent,
}

/// A task, with all that is known to find it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TaskRef {
    /// Its number.
    pub id: u64,
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// The line that spawned it, if the trace has it.
    pub spawned_at: Option<String>,
}

/// The source of a trace's texts.
pub trait Texts {
    /// The text of this number.
    fn text(&self, id: StringId) -> &str;
    /// The name of a task, if it has one.
    fn name(&self, task: TaskId) -> Option<&str>;
}

impl Finding {
    pub(super) fn new(
        id: &'static str,
        severity: Severity,
        sentence: String,
        advice: &'static str,
    ) -> Self {
        let (evidence, tasks, lines) = (Vec::new(), Vec::new(), Vec::new());
        Finding { id, severity, sentence, evidence, tasks, lines, advice }
    }

    pub(super) fn count(self, what: impl Into<String>, value: u64) -> Self {
        self.number(what, value as f64, Unit::Count)
    }

    pub(super) fn mean(self, what: impl Into<String>, value: f64) -> Self {
        self.number(what, value, Unit::Mean)
    }

    pub(super) fn time(self, what: impl Into<String>, value: Duration) -> Self {
        self.number(what, value.as_nanos() as f64, Unit::Nanoseconds)
    }

    /// A share, from 0 to 1.
    pub(super) fn share(self, what: impl Into<String>, value: f64) -> Self {
        self.number(what, value * 100.0, Unit::Percent)
    }

    fn number(mut self, what: impl Into<String>, value: f64, unit: Unit) -> Self {
        // To a thousandth: more digits would only look precise.
        let value = (value * 1e3).round() / 1e3;
        self.evidence.push(Evidence { what: what.into(), value, unit });
        self
    }

    pub(super) fn line(mut self, line: Option<&str>) -> Self {
        let line = line.map(str::to_owned);
        self.lines.extend(line.filter(|line| !self.lines.contains(line)));
        self
    }

    pub(super) fn tasks(mut self, tasks: impl IntoIterator<Item = TaskRef>) -> Self {
        self.tasks.extend(tasks);
        self
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Evidence { what, value, unit } = self;
        match unit {
            Unit::Count => write!(f, "{what}: {}", grouped(*value as u64)),
            Unit::Mean => write!(f, "{what}: {value:.2}"),
            Unit::Percent => write!(f, "{what}: {value:.0} %"),
            Unit::Nanoseconds => write!(f, "{what}: {}", time(Duration::from_nanos(*value as u64))),
        }
    }
}

impl fmt::Display for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            // A name may be any text: what it has of control characters is not for the terminal.
            Some(name) => write!(f, "{} {name:?}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}

/// A time in the unit that suits it, with three digits.
pub(crate) fn time(time: Duration) -> String {
    let nanos = time.as_nanos() as f64;
    let (value, unit) = match nanos {
        n if n < 1e3 => return format!("{n:.0} ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

/// A number whose thousands are set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// `1 task`, `2 tasks`.
pub(crate) fn plural(number: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_the_unit_that_suits_them() {
        let nanos = [0, 999, 1_500, 12_340, 99_960, 1_000_000, 2_500_000_000, 123_000_000_000];
        let texts: Vec<_> = nanos.iter().map(|&n| time(Duration::from_nanos(n))).collect();
        let expected =
            ["0 ns", "999 ns", "1.50 µs", "12.3 µs", "100 µs", "1.00 ms", "2.50 s", "123 s"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn thousands_are_set_apart() {
        let texts: Vec<_> = [0, 12, 1234, 123_456, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(texts, ["0", "12", "1 234", "123 456", "1 234 567"]);
    }
}
