//! Writes expectations that fit the results.
//!
//! Reasons are kept where they still apply. Where one is missing it is left empty, and a file of
//! expectations with an empty reason is refused: somebody has to find out why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::FileResult;
use super::expect::{Expectations, ExpectedFile, ExpectedTests, Skipped, matches};
use super::status::{FileStatus, TestResult, TestStatus};

/// The expectations `old`, with the files that were run as `results` have them.
pub fn blessed(old: Expectations, version: &str, results: &[FileResult]) -> Expectations {
    let mut files = old.files;
    for result in results {
        let known = files.remove(&result.name);
        files.insert(result.name.clone(), expected(known.as_ref(), result));
    }
    let skipped = old.skipped.into_iter().map(|skipped| Skipped {
        files: skipped.files.into_iter().filter(|name| !files.contains_key(name)).collect(),
        ..skipped
    });
    let skipped = skipped.filter(|skipped| !skipped.files.is_empty()).collect();
    Expectations { version: version.to_owned(), unstable: old.unstable, files, skipped }
}

/// What tests have in common that go into one group.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    status: TestStatus,
    reason: String,
    flaky: bool,
}

fn expected(old: Option<&ExpectedFile>, result: &FileResult) -> ExpectedFile {
    let mut groups: BTreeMap<Group, BTreeSet<String>> = BTreeMap::new();
    let rest = ExpectedFile { status: result.status, reason: None, tests: vec![] }.expected("");
    for test in &result.tests {
        if let Some((group, pattern)) = known(old, result, test) {
            groups.entry(group).or_default().insert(pattern);
        } else if test.status != rest && test.status != TestStatus::Ignored {
            let group = Group { status: test.status, reason: String::new(), flaky: false };
            groups.entry(group).or_default().insert(test.name.clone());
        }
    }
    // A run in which the flaky tests of a file pass says nothing about the file.
    let lucky = old.filter(|_| groups.keys().any(|group| group.flaky)).map(|old| old.status);
    let status = lucky.unwrap_or(result.status);
    let is_whole = matches!(status, FileStatus::Empty | FileStatus::NoCompile);
    let kept = old.filter(|old| old.status == status).and_then(|old| old.reason.clone());
    let is_unexplained = is_whole || (status == FileStatus::Partial && groups.is_empty());
    let reason = kept.or(is_unexplained.then(String::new)).filter(|_| status != FileStatus::Pass);
    let tests = groups.into_iter().map(|(Group { status, reason, flaky }, names)| ExpectedTests {
        status,
        reason,
        flaky,
        names: names.into_iter().collect(),
    });
    ExpectedFile { status, reason, tests: tests.collect() }
}

/// The group that a test was in before, and the pattern that named it, if the test still does
/// what the group does. The pattern is kept if it is right for all tests that it fits.
fn known(
    old: Option<&ExpectedFile>,
    result: &FileResult,
    test: &TestResult,
) -> Option<(Group, String)> {
    let fits = |tests: &ExpectedTests, status: TestStatus| {
        tests.status == status || (tests.flaky && status == TestStatus::Pass)
    };
    let groups = old?.tests.iter().filter(|tests| fits(tests, test.status));
    let mut patterns = groups.flat_map(|tests| tests.names.iter().map(move |name| (tests, name)));
    let (tests, pattern) = patterns.find(|(_, pattern)| matches(pattern, &test.name))?;
    let mut fitting = result.tests.iter().filter(|other| matches(pattern, &other.name));
    let is_right = fitting.all(|other| fits(tests, other.status));
    let pattern = if is_right { pattern.clone() } else { test.name.clone() };
    let ExpectedTests { status, reason, flaky, .. } = tests;
    Some((Group { status: *status, reason: reason.clone(), flaky: *flaky }, pattern))
}

/// How many reasons are missing.
pub fn missing_reasons(expectations: &Expectations) -> usize {
    let files = expectations.files.values();
    let of_tests = files.clone().flat_map(|file| &file.tests).map(|tests| &tests.reason);
    let all = files.filter_map(|file| file.reason.as_ref()).chain(of_tests);
    all.filter(|reason| reason.trim().is_empty()).count()
}

/// The text of a file of expectations. `head` stands above it.
pub fn text(expectations: &Expectations, head: &str) -> String {
    let mut text = head.to_owned();
    writeln!(text, "version = {}", quoted(&expectations.version)).expect("a String takes all");
    if expectations.unstable {
        text.push_str("unstable = true\n");
    }
    for skipped in &expectations.skipped {
        text.push_str("\n[[skipped]]\n");
        add(&mut text, "reason", &quoted(&skipped.reason));
        add(&mut text, "files", &list(&skipped.files));
    }
    for (name, file) in &expectations.files {
        write!(text, "\n[files.{name}]\n").expect("a String takes all");
        add(&mut text, "status", &word(&file.status));
        if let Some(reason) = &file.reason {
            add(&mut text, "reason", &quoted(reason));
        }
        for tests in &file.tests {
            write!(text, "\n[[files.{name}.tests]]\n").expect("a String takes all");
            add(&mut text, "status", &word(&tests.status));
            add(&mut text, "reason", &quoted(&tests.reason));
            if tests.flaky {
                add(&mut text, "flaky", "true");
            }
            add(&mut text, "names", &list(&tests.names));
        }
    }
    text
}

/// The comments at the top of a file.
pub fn head(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.take_while(|line| line.starts_with('#') || line.trim().is_empty()).collect()
}

fn add(text: &mut String, key: &str, value: &str) {
    writeln!(text, "{key} = {value}").expect("a String takes all");
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn word(status: &impl serde::Serialize) -> String {
    let value = toml::Value::try_from(status).expect("a status is a word");
    value.to_string()
}

/// One a line, so that changes can be read.
fn list(names: &[String]) -> String {
    let lines: String = names.iter().map(|name| format!("    {},\n", quoted(name))).collect();
    format!("[\n{lines}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"# Head.

version = "1"

[[skipped]]
reason = "later"
files = [
    "new",
    "x",
]

[files.a]
status = "fail"

[[files.a.tests]]
status = "no-compile"
reason = "net"
names = [
    "c",
]

[[files.a.tests]]
status = "fail"
reason = 'on "purpose"'
names = [
    "*::b",
]

[files.gone]
status = "no-compile"
reason = "time"
"#;

    fn result(name: &str, status: FileStatus, tests: &[(&str, TestStatus)]) -> FileResult {
        let tests = tests.iter().map(|(name, status)| TestResult::new(*name, *status)).collect();
        FileResult { name: name.into(), status, tests, errors: vec![], seconds: 0.0 }
    }

    fn old() -> Expectations {
        toml::from_str(OLD).unwrap()
    }

    #[test]
    fn what_still_fits_stays_as_it_is() {
        use TestStatus::*;
        assert_eq!(text(&old(), &head(OLD)), OLD);
        let tests = [("m::b", Fail), ("n::b", Fail), ("c", NoCompile), ("d", Pass), ("e", Ignored)];
        let results = [
            result("a", FileStatus::Fail, &tests),
            result("gone", FileStatus::NoCompile, &[("a", NoCompile)]),
        ];
        assert_eq!(text(&blessed(old(), "1", &results), &head(OLD)), OLD);
    }

    #[test]
    fn luck_changes_nothing() {
        let flaky = OLD.replace("names = [\n    \"*::b\"", "flaky = true\nnames = [\n    \"*::b\"");
        let lucky = [("m::b", TestStatus::Pass), ("c", TestStatus::NoCompile)];
        let results = [result("a", FileStatus::Partial, &lucky)];
        let new = blessed(toml::from_str(&flaky).unwrap(), "1", &results);
        assert_eq!(text(&new, &head(OLD)), flaky);
    }

    #[test]
    fn what_is_new_lacks_its_reason() {
        use TestStatus::*;
        let tests = [("m::b", Pass), ("n::b", Fail), ("c", Fail)];
        let results = [
            result("a", FileStatus::Fail, &tests),
            result("gone", FileStatus::Pass, &[("a", Pass)]),
            result("new", FileStatus::Empty, &[]),
        ];
        let new = blessed(old(), "2", &results);
        let names = |index: usize| {
            let tests = &new.files["a"].tests[index];
            (tests.reason.as_str(), tests.names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(names(0), ("", vec!["c"]));
        assert_eq!(names(1), ("on \"purpose\"", vec!["n::b"]));
        assert_eq!(new.files["gone"].reason, None);
        assert_eq!(new.files["new"].reason.as_deref(), Some(""));
        assert_eq!(new.skipped[0].files, ["x"]);
        assert_eq!((missing_reasons(&new), missing_reasons(&old())), (2, 0));
        let again: Expectations = toml::from_str(&text(&new, "")).unwrap();
        assert!(again.check().is_err() && old().check().is_ok());
    }
}
