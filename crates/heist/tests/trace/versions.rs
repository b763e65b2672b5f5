//! Files of older versions of the format are read as they always were. `tests/golden` has one file
//! of each version, written by the code of that version, and what that code read from it.

use heist::trace::{Event, Lane, TaskId, Trace};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// One line for each event: its time, whether that is exact, its lane, and what it was.
fn told(trace: &Trace) -> String {
    let mut text = String::new();
    for event in trace.events().unwrap() {
        let Event { at, is_exact, lane, kind } = event.unwrap();
        let sign = if is_exact { '=' } else { '~' };
        writeln!(text, "{} {sign} {lane}: {kind:?}", at.as_nanos()).unwrap();
    }
    text
}

#[test]
fn files_of_older_versions_are_read() {
    for version in [1, 2] {
        let trace = Trace::open(golden(&format!("version-{version}.trace"))).unwrap();
        let expected = std::fs::read_to_string(golden(&format!("version-{version}.txt"))).unwrap();
        let told = told(&trace);
        assert_eq!(told.lines().count(), expected.lines().count(), "version {version}");
        for (told, expected) in told.lines().zip(expected.lines()) {
            // An event may have more fields by now, behind those it had.
            let fields = expected.trim_end_matches(" }");
            assert!(told.starts_with(fields), "version {version}: {told} is not {expected}");
        }
        assert_eq!((trace.program(), trace.workers(), trace.seats()), ("golden", 3, 2));
        assert_eq!(trace.lost(Lane::Worker(1)), 77);
        assert_eq!(trace.name(TaskId(7)), Some("seven"));
        assert!(!trace.is_truncated());
    }
}
