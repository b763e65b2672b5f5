//! Reads what test programs print.

use std::collections::BTreeMap;

use super::status::{TestResult, TestStatus};

/// The names that `--list --format terse` prints.
pub fn listed(output: &str) -> Vec<String> {
    output.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// The results that a run reported, in the order of `names`. What it did not report is left out.
///
/// Lines are searched for the names that are known: a test that writes to the standard output
/// past libtest's capture can put anything before the report of another one.
pub fn reported(output: &str, names: &[String]) -> Vec<TestResult> {
    let mut said = BTreeMap::new();
    let verdicts = output.lines().filter_map(|line| verdict(line, names));
    let statuses: BTreeMap<&str, TestStatus> = verdicts.collect();
    for (name, text) in failure_sections(output) {
        said.insert(name, text);
    }
    let result = |name: &String| {
        let status = *statuses.get(name.as_str())?;
        let message = said.remove(name.as_str()).filter(|_| status == TestStatus::Fail);
        Some(TestResult::new(name, status).with_message(message.unwrap_or_default()))
    };
    names.iter().filter_map(result).collect()
}

/// What may stand between a test's name and its verdict.
const REMARKS: [&str; 3] = [" - should panic", " - compile fail", " - compile"];

/// `test NAME ... ok`, with perhaps a remark after the name.
fn verdict<'n>(line: &str, names: &'n [String]) -> Option<(&'n str, TestStatus)> {
    let (before, after) = line.rsplit_once(" ... ")?;
    let status = status_of(after)?;
    let before = REMARKS.iter().find_map(|remark| before.strip_suffix(remark)).unwrap_or(before);
    // A name may itself have these letters before a space.
    let is_it = |name: &&String| {
        before.strip_suffix(name.as_str()).is_some_and(|head| head.ends_with("test "))
    };
    Some((names.iter().find(is_it)?, status))
}

fn status_of(word: &str) -> Option<TestStatus> {
    match word.trim_end() {
        "ok" => Some(TestStatus::Pass),
        "FAILED" => Some(TestStatus::Fail),
        "ignored" => Some(TestStatus::Ignored),
        other if other.starts_with("ignored, ") => Some(TestStatus::Ignored),
        _ => None,
    }
}

/// What stands below `---- NAME stdout ----`, for each failed test.
fn failure_sections(output: &str) -> Vec<(&str, String)> {
    let mut sections: Vec<(&str, String)> = Vec::new();
    let mut is_inside = false;
    for line in output.lines() {
        let head = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = head {
            sections.push((name, String::new()));
            is_inside = true;
        } else if line == "failures:" || line.starts_with("test result: ") {
            is_inside = false;
        } else if let Some((_, text)) = sections.last_mut().filter(|_| is_inside) {
            text.push_str(line);
            text.push('\n');
        }
    }
    for (_, text) in &mut sections {
        *text = text.trim().to_owned();
    }
    sections
}

/// The part of a failure's output that fits on a line: what the panic said.
pub fn in_short(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let panic = lines.find(|line| line.contains("panicked at "));
    let said = panic.and_then(|_| lines.next()).filter(|line| !line.starts_with("note: "));
    said.or(panic).unwrap_or(first).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn statuses(output: &str, known: &[&str]) -> Vec<(String, TestStatus)> {
        let results = reported(output, &names(known));
        results.into_iter().map(|result| (result.name, result.status)).collect()
    }

    const RUN: &str = "
running 7 tests
test a ... ok
test m::b - should panic ... ok
test src/g.rs - g (line 1) - compile fail ... ok
test src/g.rs - shortest (line 5) - compile ... ok
test c ... FAILED
test d ... ignored
test e ... ignored, too slow
test f has been running for over 60 seconds

failures:

---- c stdout ----

thread 'c' (77) panicked at tests/x.rs:7:5:
assertion `left == right` failed
  left: 1
 right: 2
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    c

test result: FAILED. 2 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn names_are_listed() {
        let output = "a: test\nm::b: test\nc: benchmark\n\n2 tests, 1 benchmark\n";
        assert_eq!(listed(output), ["a", "m::b"]);
        assert_eq!(listed(""), [""; 0]);
    }

    #[test]
    fn every_verdict_is_read() {
        use TestStatus::*;
        let [first, second] = ["src/g.rs - g (line 1)", "src/g.rs - shortest (line 5)"];
        let known = ["a", "m::b", first, second, "c", "d", "e", "f"];
        let wanted = [("a", Pass), ("m::b", Pass), (first, Pass), (second, Pass)];
        let wanted = [&wanted[..], &[("c", Fail), ("d", Ignored), ("e", Ignored)]].concat();
        let wanted = wanted.into_iter().map(|(name, status)| (name.to_owned(), status));
        assert_eq!(statuses(RUN, &known), wanted.collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_has_its_output() {
        let results = reported(RUN, &names(&["a", "c"]));
        assert_eq!(results[0].message, "");
        assert!(results[1].message.starts_with("thread 'c'"), "{}", results[1].message);
        assert!(results[1].message.ends_with("a backtrace"), "{}", results[1].message);
        assert_eq!(in_short(&results[1].message), "assertion `left == right` failed");
    }

    #[test]
    fn output_of_others_does_not_hide_a_verdict() {
        use TestStatus::*;
        let wanted = [("a".to_owned(), Pass)];
        assert_eq!(statuses("some words test a ... ok\n", &["a"]), wanted);
        assert_eq!(statuses("test a ... \nwords\n", &["a"]), []);
        assert_eq!(statuses("test a ... maybe\n", &["a"]), []);
        assert_eq!(statuses("test unknown ... ok\n", &["a"]), []);
        assert_eq!(statuses("", &["a"]), []);
    }

    #[test]
    fn messages_in_short() {
        assert_eq!(in_short("thread 'c' panicked at a.rs:1:1:\nboom"), "boom");
        assert_eq!(
            in_short("x\nthread 'c' panicked at a.rs:1:1:\nnote: y"),
            "thread 'c' panicked at a.rs:1:1:"
        );
        assert_eq!(in_short("\n\nError: no\n"), "Error: no");
        assert_eq!(in_short(""), "");
    }
}
