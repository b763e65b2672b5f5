//! What is expected of the peer's tests, and how the results differ from it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::FileResult;
use super::error::Error;
use super::status::{FileStatus, TestStatus};

/// A file of expectations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// The peer's version that they are about.
    pub version: String,
    /// Whether the tests of the peer's unstable parts are meant.
    #[serde(default)]
    pub unstable: bool,
    /// What each file is expected to do.
    #[serde(default)]
    pub files: BTreeMap<String, ExpectedFile>,
    /// Files that are not worth a run yet.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFile {
    pub status: FileStatus,
    /// Why it is not a pass.
    pub reason: Option<String>,
    /// The tests that do not do what the others do.
    #[serde(default)]
    pub tests: Vec<ExpectedTests>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedTests {
    pub status: TestStatus,
    pub reason: String,
    /// Whether they pass now and then.
    #[serde(default)]
    pub flaky: bool,
    /// A `*` stands for anything.
    pub names: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    pub reason: String,
    pub files: Vec<String>,
}

impl Expectations {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Expectations, Error> {
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        toml::from_str(&text).map_err(|error| Error::expectations(path, error.to_string()))
    }

    /// What makes no sense, or lacks its reason.
    pub fn check(&self) -> Result<(), String> {
        for (name, file) in &self.files {
            file.check().map_err(|what| format!("{name}: {what}"))?;
        }
        for skipped in &self.skipped {
            if skipped.reason.trim().is_empty() {
                return Err(format!("{}: say why it is skipped", skipped.files.join(", ")));
            }
            if let Some(name) = skipped.files.iter().find(|name| self.files.contains_key(*name)) {
                return Err(format!("{name} is both expected and skipped: take one away"));
            }
        }
        Ok(())
    }

    /// Whether the file says anything about a test file.
    pub fn knows(&self, name: &str) -> bool {
        let is_skipped = self.skipped.iter().any(|skipped| skipped.files.iter().any(|f| f == name));
        is_skipped || self.files.contains_key(name)
    }

    /// Whether a test is known to hang.
    pub fn hangs(&self, file: &str, test: &str) -> bool {
        self.files.get(file).is_some_and(|file| file.expected(test) == TestStatus::Timeout)
    }

    /// Where the results differ. A skipped file may do as it likes.
    pub fn compare(&self, results: &[FileResult]) -> Vec<Difference> {
        let mut differences = Vec::new();
        for result in results {
            match self.files.get(&result.name) {
                Some(expected) => differences.extend(expected.compare(result)),
                None if self.knows(&result.name) => {}
                None => differences.push(Difference {
                    place: result.name.clone(),
                    what: format!("{}, and the expectations do not know the file", result.status),
                }),
            }
        }
        differences
    }
}

impl ExpectedFile {
    /// Whatever does not pass has a reason.
    fn check(&self) -> Result<(), String> {
        let is_given = |reason: &str| !reason.trim().is_empty();
        let has_reason = self.reason.as_deref().is_some_and(is_given);
        if !self.tests.iter().all(|tests| is_given(&tests.reason)) {
            return Err("say why each test does not pass".into());
        }
        match self.status {
            FileStatus::Pass if !self.tests.is_empty() || has_reason => {
                Err("a file that passes needs no reason, and no test of it does".into())
            }
            FileStatus::Empty | FileStatus::NoCompile if !has_reason => {
                Err("give the reason why the file does not pass".into())
            }
            FileStatus::Partial if self.tests.is_empty() && !has_reason => {
                Err("name the tests that do not pass, each with its reason".into())
            }
            FileStatus::Fail | FileStatus::Timeout if self.tests.is_empty() => {
                Err("name the tests that do not pass, each with its reason".into())
            }
            _ => Ok(()),
        }
    }

    fn compare(&self, result: &FileResult) -> Vec<Difference> {
        let mut differences = Vec::new();
        let mut add = |test: Option<&str>, what: String| {
            let place = test.map_or(result.name.clone(), |test| format!("{}: {test}", result.name));
            differences.push(Difference { place, what });
        };
        let ran = result.tests.iter().filter(|test| test.status != TestStatus::Ignored);
        for test in ran {
            let expected = self.expected(&test.name);
            let is_luck = test.status == TestStatus::Pass && self.is_flaky(&test.name);
            if test.status != expected && !is_luck {
                add(Some(&test.name), format!("expected: {expected}; is: {}", test.status));
            }
        }
        for pattern in self.tests.iter().flat_map(|tests| &tests.names) {
            if !result.tests.iter().any(|test| matches(pattern, &test.name)) {
                add(Some(pattern), "expected, but there is no such test".into());
            }
        }
        // Luck with its tests may make a file better than it is.
        let has_flaky = self.tests.iter().any(|tests| tests.flaky);
        if differences.is_empty() && self.status != result.status && !has_flaky {
            let what = format!("expected: {}; is: {}", self.status, result.status);
            differences.push(Difference { place: result.name.clone(), what });
        }
        differences
    }

    /// What a test is expected to do.
    pub fn expected(&self, test: &str) -> TestStatus {
        let rest = if self.status == FileStatus::NoCompile {
            TestStatus::NoCompile
        } else {
            TestStatus::Pass
        };
        self.named(test).map_or(rest, |tests| tests.status)
    }

    fn is_flaky(&self, test: &str) -> bool {
        self.named(test).is_some_and(|tests| tests.flaky)
    }

    fn named(&self, test: &str) -> Option<&ExpectedTests> {
        self.tests.iter().find(|tests| tests.names.iter().any(|name| matches(name, test)))
    }
}

/// Something that is not as expected, for better or worse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    place: String,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Whether a name fits a pattern in which `*` stands for anything.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(head) else { return false };
    let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    ends.into_iter().any(|at| matches(rest, &name[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer_tests::status::TestResult;

    const TEXT: &str = r#"
        version = "1.2.3"
        [files.good]
        status = "pass"
        [files.mixed]
        status = "fail"
        [[files.mixed.tests]]
        status = "fail"
        reason = "by design"
        names = ["a", "*::b"]
        [[files.mixed.tests]]
        status = "no-compile"
        reason = "not built yet"
        names = ["c"]
        [files.gone]
        status = "no-compile"
        reason = "not built yet"
        [[skipped]]
        reason = "not built yet"
        files = ["later"]
    "#;

    fn result(name: &str, status: FileStatus, tests: &[(&str, TestStatus)]) -> FileResult {
        let tests = tests.iter().map(|(name, status)| TestResult::new(*name, *status)).collect();
        FileResult { name: name.into(), status, tests, errors: vec![], seconds: 0.0 }
    }

    fn parse(text: &str) -> Result<Expectations, String> {
        let expectations: Expectations = toml::from_str(text).map_err(|error| error.to_string())?;
        expectations.check().map(|()| expectations)
    }

    fn differences(result: FileResult) -> Vec<String> {
        let expectations = parse(TEXT).unwrap();
        expectations.compare(&[result]).iter().map(Difference::to_string).collect()
    }

    const MIXED: [(&str, TestStatus); 5] = [
        ("a", TestStatus::Fail),
        ("m::b", TestStatus::Fail),
        ("n::b", TestStatus::Fail),
        ("c", TestStatus::NoCompile),
        ("d", TestStatus::Pass),
    ];

    #[test]
    fn as_expected() {
        use TestStatus::*;
        let none = [""; 0];
        assert_eq!(differences(result("good", FileStatus::Pass, &[("a", Pass)])), none);
        assert_eq!(differences(result("good", FileStatus::Pass, &[("a", Ignored)])), none);
        assert_eq!(differences(result("mixed", FileStatus::Fail, &MIXED)), none);
        assert_eq!(differences(result("gone", FileStatus::NoCompile, &[("a", NoCompile)])), none);
        assert_eq!(differences(result("gone", FileStatus::NoCompile, &[])), none);
        assert_eq!(differences(result("later", FileStatus::Fail, &[("a", Fail)])), none);
    }

    #[test]
    fn worse_than_expected() {
        let worse = differences(result("good", FileStatus::Fail, &[("a", TestStatus::Fail)]));
        assert_eq!(worse, ["good: a: expected: pass; is: fail"]);
        let empty = differences(result("good", FileStatus::Empty, &[]));
        assert_eq!(empty, ["good: expected: pass; is: empty"]);
    }

    #[test]
    fn better_than_expected_is_news_too() {
        let mut tests = MIXED;
        tests[3].1 = TestStatus::Pass;
        let better = differences(result("mixed", FileStatus::Fail, &tests));
        assert_eq!(better, ["mixed: c: expected: does not compile; is: pass"]);
        let better = differences(result("gone", FileStatus::Pass, &[("a", TestStatus::Pass)]));
        assert_eq!(better, ["gone: a: expected: does not compile; is: pass"]);
    }

    #[test]
    fn a_flaky_test_may_pass() {
        let text = TEXT.replace("reason = \"by design\"", "reason = \"a race\"\nflaky = true");
        let expectations = parse(&text).unwrap();
        let count =
            |status, tests: &[_]| expectations.compare(&[result("mixed", status, tests)]).len();
        assert_eq!(count(FileStatus::Fail, &MIXED), 0);
        let mut tests = MIXED;
        (tests[0].1, tests[1].1, tests[2].1) =
            (TestStatus::Pass, TestStatus::Pass, TestStatus::Pass);
        assert_eq!(count(FileStatus::Partial, &tests), 0);
        tests[0].1 = TestStatus::Timeout;
        assert_eq!(count(FileStatus::Timeout, &tests), 1);
        assert!(!differences(result("mixed", FileStatus::Partial, &tests)).is_empty());
    }

    #[test]
    fn unknown_and_missing_names_are_reported() {
        let unknown = differences(result("new", FileStatus::Pass, &[]));
        assert_eq!(unknown, ["new: pass, and the expectations do not know the file"]);
        let gone = differences(result("mixed", FileStatus::Fail, &MIXED[..3]));
        assert_eq!(gone, ["mixed: c: expected, but there is no such test"]);
    }

    #[test]
    fn without_a_reason_nothing_is_expected() {
        let file = |rest: &str| format!("version = \"1\"\n[files.a]\n{rest}");
        let tests = "\n[[files.a.tests]]\nstatus = \"fail\"\nnames = [\"b\"]\nreason = ";
        for (rest, what) in [
            ("status = \"no-compile\"".into(), "give the reason"),
            ("status = \"empty\"\nreason = \" \"".into(), "give the reason"),
            ("status = \"fail\"\nreason = \"x\"".into(), "name the tests"),
            (format!("status = \"fail\"{tests}\"\""), "say why each test"),
            (format!("status = \"pass\"{tests}\"x\""), "needs no reason"),
            ("status = \"good\"".into(), "unknown variant `good`"),
            ("status = \"pass\"\ncolor = 1".into(), "unknown field `color`"),
            ("status = \"pass\"\n[[skipped]]\nreason = \"\"\nfiles = []".into(), "say why"),
            ("status = \"pass\"\n[[skipped]]\nreason = \"x\"\nfiles = [\"a\"]".into(), "both"),
        ] {
            let error = parse(&file(&rest)).unwrap_err();
            assert!(error.contains(what), "{rest}: {error}");
        }
        assert!(parse("").unwrap_err().contains("version"));
    }

    #[test]
    fn tests_that_hang_are_known() {
        let text =
            TEXT.replace("status = \"fail\"\n        reason", "status = \"timeout\"\nreason");
        let expectations = parse(&text).unwrap();
        assert!(expectations.hangs("mixed", "a") && expectations.hangs("mixed", "m::b"));
        assert!(!expectations.hangs("mixed", "c") && !expectations.hangs("new", "a"));
    }

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name) in [("a", "a"), ("*", ""), ("*::a", "b::c::a"), ("a*c*", "abcd")] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "b"), ("a", "ab"), ("*::a", "a"), ("a*c", "ab"), ("a*", "–")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
