//! The results as a table for people and as JSON for programs.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::FileResult;
use super::error::Error;
use super::libtest;
use super::status::{Counts, FileStatus, TestStatus};

/// Prints one row a file, as the files get done.
#[derive(Debug)]
pub struct Table {
    width: usize,
}

impl Table {
    /// A table for files of these names.
    pub fn new<'n>(files: impl Iterator<Item = &'n str>) -> Table {
        Table { width: files.map(str::len).chain(["file".len()]).max().unwrap_or(0) }
    }

    pub fn header(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = ["pass", "fail", "timeout", "no compile", "ignored"];
        write!(out, "{:<1$}  {2:<16}", "file", self.width, "status")?;
        for column in columns {
            write!(out, "  {column:>10}")?;
        }
        writeln!(out, "  {:>7}", "seconds")
    }

    pub fn row(&self, out: &mut dyn Write, result: &FileResult) -> io::Result<()> {
        let counts = Counts::of(&result.tests);
        write!(out, "{:<1$}  {2:<16}", result.name, self.width, result.status)?;
        for count in [counts.pass, counts.fail, counts.timeout, counts.no_compile, counts.ignored] {
            write!(out, "  {count:>10}")?;
        }
        writeln!(out, "  {:>7.1}", result.seconds)
    }
}

/// Names each test that did not pass, with what it or the compiler said. Those that do not
/// compile are many, so only `all` has them.
pub fn details(out: &mut dyn Write, results: &[FileResult], all: bool) -> io::Result<()> {
    for result in results {
        let is_told = |status| match status {
            TestStatus::Fail | TestStatus::Timeout => true,
            TestStatus::NoCompile => all,
            TestStatus::Pass | TestStatus::Ignored => false,
        };
        for test in result.tests.iter().filter(|test| is_told(test.status)) {
            let (name, status) = (&test.name, test.status);
            let said = libtest::in_short(&test.message);
            writeln!(out, "{}: {name}: {status}: {said}", result.name)?;
        }
        for error in result.errors.iter().take(if all { usize::MAX } else { 1 }) {
            writeln!(out, "{}: {error}", result.name)?;
        }
    }
    Ok(())
}

/// The sums.
pub fn summary(out: &mut dyn Write, results: &[FileResult]) -> io::Result<()> {
    let all = [
        FileStatus::Pass,
        FileStatus::Partial,
        FileStatus::Fail,
        FileStatus::Timeout,
        FileStatus::NoCompile,
        FileStatus::Empty,
    ];
    let files = all.map(|status| (results.iter().filter(|r| r.status == status).count(), status));
    let files = files.iter().filter(|(count, _)| *count > 0);
    let files: Vec<String> = files.map(|(count, status)| format!("{count} {status}")).collect();
    writeln!(out, "files: {}: {}", results.len(), files.join(", "))?;
    let tests = total(results);
    writeln!(
        out,
        "tests: {} pass, {} fail, {} timeout, {} do not compile, {} ignored",
        tests.pass, tests.fail, tests.timeout, tests.no_compile, tests.ignored
    )
}

fn total(results: &[FileResult]) -> Counts {
    results.iter().map(|result| Counts::of(&result.tests)).fold(Counts::default(), Counts::plus)
}

/// A file for the results, opened before the work begins.
#[derive(Debug)]
pub struct JsonFile {
    path: PathBuf,
    file: File,
}

#[derive(Serialize)]
struct Json<'a> {
    peer: &'a str,
    version: &'a str,
    against: &'a str,
    tests: Counts,
    files: &'a [FileResult],
}

impl JsonFile {
    pub fn open(path: &Path) -> Result<JsonFile, Error> {
        let file = File::create(path).map_err(Error::file("write", path))?;
        Ok(JsonFile { path: path.to_owned(), file })
    }

    pub fn write(
        self,
        peer: &str,
        version: &str,
        against: &str,
        files: &[FileResult],
    ) -> Result<(), Error> {
        let json = Json { peer, version, against, tests: total(files), files };
        let text = serde_json::to_string_pretty(&json).expect("results are plain data");
        let mut file = self.file;
        writeln!(file, "{text}").map_err(Error::file("write", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer_tests::status::TestResult;

    fn results() -> Vec<FileResult> {
        let test =
            |name: &str, status, message: &str| TestResult::new(name, status).with_message(message);
        vec![
            FileResult {
                name: "rt".into(),
                status: FileStatus::Fail,
                tests: vec![
                    test("a", TestStatus::Pass, ""),
                    test("b", TestStatus::Fail, "thread 'b' panicked at x:1:1:\nboom"),
                    test("c", TestStatus::NoCompile, "no `net`"),
                ],
                errors: vec![],
                seconds: 1.25,
            },
            FileResult {
                name: "task_abort".into(),
                status: FileStatus::NoCompile,
                tests: vec![],
                errors: vec!["bad".into(), "worse".into()],
                seconds: 0.0,
            },
        ]
    }

    fn printed(print: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        print(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned() {
        let results = results();
        let table = Table::new(["rt", "task_abort"].into_iter());
        let text = printed(|out| {
            table.header(out)?;
            results.iter().try_for_each(|result| table.row(out, result))
        });
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
        let words: Vec<&str> = lines[1].split_whitespace().collect();
        assert_eq!(words, ["rt", "fail", "1", "1", "0", "1", "0", "1.2"]);
        assert!(lines[2].starts_with("task_abort  does not compile  "), "{text}");
    }

    #[test]
    fn failures_are_named() {
        let few = printed(|out| details(out, &results(), false));
        assert_eq!(few, "rt: b: fail: boom\ntask_abort: bad\n");
        let all = printed(|out| details(out, &results(), true));
        let wanted = "rt: b: fail: boom\nrt: c: does not compile: no `net`\n\
                      task_abort: bad\ntask_abort: worse\n";
        assert_eq!(all, wanted);
    }

    #[test]
    fn sums() {
        let text = printed(|out| summary(out, &results()));
        let wanted = "files: 2: 1 fail, 1 does not compile\n\
                      tests: 1 pass, 1 fail, 0 timeout, 1 do not compile, 0 ignored\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn json_has_every_test() {
        let files = results();
        let json =
            Json { peer: "p", version: "1", against: "h", tests: total(&files), files: &files };
        let json = serde_json::to_value(&json).unwrap();
        assert_eq!(json["tests"]["pass"], 1);
        assert_eq!(json["files"][0]["status"], "fail");
        assert_eq!(json["files"][0]["tests"][2]["status"], "no-compile");
        assert_eq!(json["files"][0]["tests"][2]["message"], "no `net`");
        assert_eq!(json["files"][1]["errors"][0], "bad");
    }
}
