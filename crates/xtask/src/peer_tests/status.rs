//! How tests and files come out.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How one test came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    /// It passed.
    Pass,
    /// Its own author has it ignored.
    Ignored,
    /// It needs something that the crate under test does not have.
    NoCompile,
    /// It did not end in time.
    Timeout,
    /// It failed, or took the process down.
    Fail,
}

/// How a file came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileStatus {
    /// All of it compiles and passes.
    Pass,
    /// Some of it does not compile; all that does, passes.
    Partial,
    /// The file's own conditions leave nothing of it here.
    Empty,
    /// No test of it compiles.
    NoCompile,
    /// A test did not end in time; none failed.
    Timeout,
    /// A test failed.
    Fail,
}

impl fmt::Display for TestStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TestStatus::Pass => "pass",
            TestStatus::Ignored => "ignored",
            TestStatus::NoCompile => "does not compile",
            TestStatus::Timeout => "timeout",
            TestStatus::Fail => "fail",
        })
    }
}

impl fmt::Display for FileStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FileStatus::Pass => "pass",
            FileStatus::Partial => "partial",
            FileStatus::Empty => "empty",
            FileStatus::NoCompile => "does not compile",
            FileStatus::Timeout => "timeout",
            FileStatus::Fail => "fail",
        })
    }
}

/// One test and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestResult {
    /// As libtest prints it. Of a test that does not compile only the part that can be read
    /// from the source is known: a macro around it may have put it into further modules.
    pub name: String,
    /// How it came out.
    pub status: TestStatus,
    /// What it said, or what the compiler said, if it did not pass.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl TestResult {
    /// A result that has nothing to say.
    pub fn new(name: impl Into<String>, status: TestStatus) -> TestResult {
        TestResult { name: name.into(), status, message: String::new() }
    }

    /// The same result with a message.
    pub fn with_message(mut self, message: impl Into<String>) -> TestResult {
        self.message = message.into();
        self
    }
}

/// What can be said of a file besides its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Something of it is left after its own `#![cfg]`.
    pub is_alive: bool,
    /// What is left of it after the cuts, which may be nothing, compiles.
    pub compiles: bool,
    /// Something was cut out of it.
    pub is_cut: bool,
    /// It has no tests that run: that it compiles is the test.
    pub is_compile_only: bool,
}

/// How many tests came out in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub pass: usize,
    pub fail: usize,
    pub timeout: usize,
    pub no_compile: usize,
    pub ignored: usize,
}

impl Counts {
    /// Counts `tests`.
    pub fn of(tests: &[TestResult]) -> Counts {
        let count = |status| tests.iter().filter(|test| test.status == status).count();
        Counts {
            pass: count(TestStatus::Pass),
            fail: count(TestStatus::Fail),
            timeout: count(TestStatus::Timeout),
            no_compile: count(TestStatus::NoCompile),
            ignored: count(TestStatus::Ignored),
        }
    }

    /// Adds two counts.
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            pass: self.pass + other.pass,
            fail: self.fail + other.fail,
            timeout: self.timeout + other.timeout,
            no_compile: self.no_compile + other.no_compile,
            ignored: self.ignored + other.ignored,
        }
    }
}

/// The worst that happened decides. A file in which nothing ran has not passed.
pub fn file_status(shape: Shape, counts: Counts) -> FileStatus {
    let has_run = counts.pass > 0 || (shape.is_alive && shape.is_compile_only);
    match counts {
        _ if !shape.compiles => FileStatus::NoCompile,
        Counts { fail: 1.., .. } => FileStatus::Fail,
        Counts { timeout: 1.., .. } => FileStatus::Timeout,
        Counts { no_compile: 1.., .. } if !has_run => FileStatus::NoCompile,
        _ if !has_run => FileStatus::Empty,
        _ if shape.is_cut => FileStatus::Partial,
        _ => FileStatus::Pass,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape =
        Shape { is_alive: true, compiles: true, is_cut: false, is_compile_only: false };
    const CUT: Shape = Shape { is_cut: true, ..SHAPE };

    fn status(shape: Shape, tests: &[TestStatus]) -> FileStatus {
        let tests: Vec<_> = tests.iter().map(|status| TestResult::new("a", *status)).collect();
        file_status(shape, Counts::of(&tests))
    }

    #[test]
    fn the_worst_decides() {
        use TestStatus::*;
        assert_eq!(status(SHAPE, &[Pass, Pass]), FileStatus::Pass);
        assert_eq!(status(SHAPE, &[Pass, Ignored]), FileStatus::Pass);
        assert_eq!(status(CUT, &[Pass, NoCompile]), FileStatus::Partial);
        assert_eq!(status(CUT, &[Pass]), FileStatus::Partial);
        assert_eq!(status(CUT, &[Pass, NoCompile, Timeout]), FileStatus::Timeout);
        assert_eq!(status(CUT, &[Pass, Timeout, Fail, NoCompile]), FileStatus::Fail);
    }

    #[test]
    fn nothing_is_not_a_pass() {
        use TestStatus::*;
        assert_eq!(status(SHAPE, &[]), FileStatus::Empty);
        assert_eq!(status(SHAPE, &[Ignored]), FileStatus::Empty);
        assert_eq!(status(CUT, &[NoCompile, Ignored]), FileStatus::NoCompile);
        let broken = Shape { compiles: false, ..SHAPE };
        assert_eq!(status(broken, &[]), FileStatus::NoCompile);
    }

    #[test]
    fn a_file_without_tests_passes_by_compiling() {
        let checks = Shape { is_compile_only: true, ..SHAPE };
        assert_eq!(status(checks, &[]), FileStatus::Pass);
        let cut = Shape { is_cut: true, ..checks };
        assert_eq!(status(cut, &[TestStatus::NoCompile]), FileStatus::Partial);
        let dead = Shape { is_alive: false, ..checks };
        assert_eq!(status(dead, &[]), FileStatus::Empty);
    }

    #[test]
    fn counts_add_up() {
        use TestStatus::*;
        let tests = [Pass, Fail, Timeout, NoCompile, Ignored, Pass];
        let tests: Vec<_> = tests.iter().map(|status| TestResult::new("a", *status)).collect();
        let counts = Counts::of(&tests);
        let once = Counts { pass: 2, fail: 1, timeout: 1, no_compile: 1, ignored: 1 };
        assert_eq!(counts, once);
        assert_eq!(counts.plus(once).pass, 4);
    }
}
