//! Runs the tests of one program.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::libtest;
use super::process::{self, Ending, Finished};
use super::scratch::PROBE;
use super::status::{TestResult, TestStatus};

/// A test that is known to hang gets no longer than this to show that it still does. Guessed: a
/// test that hangs no more is mostly done in milliseconds.
const KNOWN_TO_HANG: Duration = Duration::from_secs(3);

/// Time limits of programs.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// All tests of a file together.
    pub file: Duration,
    /// One test alone.
    pub test: Duration,
}

/// What a program's tests did.
#[derive(Debug)]
pub struct Ran {
    pub tests: Vec<TestResult>,
    /// Whether the file has anything in it here.
    pub is_alive: bool,
}

/// A program, and where it runs.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    /// Tests find their files from the package's root.
    root: PathBuf,
    /// What it prints is kept here, with endings of its own.
    log: PathBuf,
}

impl Program {
    pub fn new(path: &Path, root: &Path, log: &Path) -> Program {
        Program { path: path.into(), root: root.into(), log: log.into() }
    }

    /// Runs all tests at once, as everybody does. Tests that got no result that way, because
    /// one of them hung or took the process down, then run one by one. So do those that `hangs`
    /// knows to hang: the others need not wait for them.
    pub fn run(&self, limits: Limits, hangs: impl Fn(&str) -> bool) -> io::Result<Ran> {
        let listing = self.start(&["--list", "--format", "terse"], limits.test)?;
        let mut names = libtest::listed(&listing.stdout);
        let is_alive = names.iter().any(|name| name == PROBE);
        names.retain(|name| name != PROBE);
        let mut tests = Vec::new();
        let hanging: Vec<&str> = names.iter().map(String::as_str).filter(|n| hangs(n)).collect();
        if hanging.len() < names.len() {
            let mut args = vec!["--exact"];
            args.extend(hanging.iter().flat_map(|name| ["--skip", name]));
            let together = self.start(&args, limits.file)?;
            tests = libtest::reported(&together.stdout, &names);
        }
        let mut results = Vec::new();
        for name in &names {
            let known = tests.iter().position(|test| test.name == *name);
            let limit = if hangs(name) { limits.test.min(KNOWN_TO_HANG) } else { limits.test };
            results.push(match known.map(|index| tests.swap_remove(index)) {
                Some(test) if !is_unexplained(&test) => test,
                Some(test) => explained(test, self.run_alone(name, limit)?),
                None => self.run_alone(name, limit)?,
            });
        }
        Ok(Ran { tests: results, is_alive })
    }

    fn run_alone(&self, name: &str, limit: Duration) -> io::Result<TestResult> {
        let finished = self.start(&["--exact", name, "--test-threads", "1"], limit)?;
        Ok(judge_alone(name, &finished, limit))
    }

    fn start(&self, args: &[&str], limit: Duration) -> io::Result<Finished> {
        let mut command = Command::new(&self.path);
        command.args(args).current_dir(&self.root).env("CARGO_MANIFEST_DIR", &self.root);
        // Backtraces would bury what the panic says.
        command.env("RUST_BACKTRACE", "0").env_remove("RUST_TEST_THREADS");
        process::run(&mut command, limit, &self.log)
    }
}

/// Libtest says only at its end why tests failed, and a process that was ended never gets there.
fn is_unexplained(test: &TestResult) -> bool {
    test.status == TestStatus::Fail && test.message.is_empty()
}

/// A failure with what the test says when it runs alone.
fn explained(test: TestResult, alone: TestResult) -> TestResult {
    match alone.status {
        TestStatus::Pass => test.with_message("it fails together with the others, not alone"),
        _ => test.with_message(alone.message),
    }
}

/// Judges a test that ran alone. The process may have ended before libtest could say anything.
fn judge_alone(name: &str, finished: &Finished, limit: Duration) -> TestResult {
    let reported = libtest::reported(&finished.stdout, &[name.to_owned()]).pop();
    match (reported, finished.ending) {
        (Some(result), _) => result,
        (None, Ending::Exit(0)) => TestResult::new(name, TestStatus::Pass),
        (None, Ending::Timeout) => {
            let message = format!("not done after {} s", limit.as_secs_f32());
            TestResult::new(name, TestStatus::Timeout).with_message(message)
        }
        (None, ending) => {
            let how = match ending {
                Ending::Signal(signal) => format!("the process was ended by signal {signal}"),
                _ => "the process ended early".to_owned(),
            };
            let message = format!("{how}\n{}", finished.stderr.trim());
            TestResult::new(name, TestStatus::Fail).with_message(message.trim())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(stdout: &str, ending: Ending) -> (TestStatus, String) {
        let finished = Finished { ending, stdout: stdout.into(), stderr: "words\n".into() };
        let result = judge_alone("a", &finished, Duration::from_secs(2));
        assert_eq!(result.name, "a");
        (result.status, result.message)
    }

    #[test]
    fn a_failure_is_explained() {
        let failure = || TestResult::new("a", TestStatus::Fail);
        assert!(is_unexplained(&failure()) && !is_unexplained(&failure().with_message("why")));
        assert!(!is_unexplained(&TestResult::new("a", TestStatus::Pass)));
        let why = failure().with_message("why");
        assert_eq!(explained(failure(), why.clone()), why);
        let both = explained(failure(), TestResult::new("a", TestStatus::Pass));
        assert_eq!(both.status, TestStatus::Fail);
        assert_eq!(both.message, "it fails together with the others, not alone");
    }

    #[test]
    fn a_test_alone_is_judged_by_its_report_or_its_end() {
        use TestStatus::*;
        assert_eq!(alone("test a ... ok\n", Ending::Exit(0)), (Pass, String::new()));
        assert_eq!(alone("test a ... FAILED\n", Ending::Exit(101)), (Fail, String::new()));
        assert_eq!(alone("test a ... words\nok\n", Ending::Exit(0)), (Pass, String::new()));
        assert_eq!(alone("test a ... ", Ending::Timeout), (Timeout, "not done after 2 s".into()));
        let message = "the process was ended by signal 6\nwords".to_owned();
        assert_eq!(alone("test a ... ", Ending::Signal(6)), (Fail, message));
        let message = "the process ended early\nwords".to_owned();
        assert_eq!(alone("", Ending::Exit(1)), (Fail, message));
    }
}
