//! What is no trace, or cannot be written: exit code 2, one sentence, and nothing left behind.

use super::{MILLISECOND, Sample};
use std::fs;
use std::process::{Command, Output};

fn assert_refused(output: &Output, expected: &str) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("heist: ") && said.contains(expected), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(output.stdout.is_empty());
}

/// Converts these bytes to both formats: they are refused with this sentence.
fn assert_bad(bytes: &[u8], expected: &str) {
    let sample = Sample::of(bytes);
    for to in ["html", "perfetto"] {
        assert_refused(&sample.convert(&["--to", to]), expected);
    }
    assert_eq!(sample.files(), ["a.trace"]);
}

#[test]
fn what_is_no_trace_is_refused() {
    assert_bad(b"", "not a heist trace");
    assert_bad(b"#!/bin/sh\necho this is a script and no trace\n", "not a heist trace");
    assert_bad(&[0; 100_000], "not a heist trace");
}

#[test]
fn a_trace_of_another_version_is_refused() {
    let mut bytes = fs::read(Sample::new(MILLISECOND).path("a.trace")).unwrap();
    bytes[8] = 9;
    assert_bad(&bytes, "format version 9");
}

#[test]
fn a_damaged_trace_is_refused_with_the_place() {
    let good = fs::read(Sample::new(30 * MILLISECOND).path("a.trace")).unwrap();
    let mut header = good.clone();
    header[20] ^= 1;
    assert_bad(&header, "damaged at byte 0");
    // In the events: noticed while they are read.
    let mut events = good.clone();
    let middle = good.len() / 2;
    events[middle] ^= 0x10;
    assert_bad(&events, "the checksum of a chunk is wrong");
}

#[test]
fn a_trace_that_was_cut_is_converted_as_far_as_it_goes() {
    let good = fs::read(Sample::new(30 * MILLISECOND).path("a.trace")).unwrap();
    let page = Sample::of(&good[..good.len() - 5]).converted("html", &[]);
    assert_eq!(super::html::data(&page)["is_truncated"], true);
    let page = Sample::of(&good).converted("html", &[]);
    assert_eq!(super::html::data(&page)["is_truncated"], false);
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let sample = Sample::new(MILLISECOND);
    let output = super::heist().args(["trace", "convert", "/nonexistent", "--to", "html"]).output();
    assert_refused(&output.unwrap(), "/nonexistent: No such file");
    let output = super::heist().args(["trace", "convert", "/tmp", "--to", "html"]).output();
    assert_refused(&output.unwrap(), "/tmp: is a directory");
    let output = super::heist().args(["trace", "convert", "/dev/null", "--to", "html"]).output();
    assert_refused(&output.unwrap(), "not a regular file");
    let output = sample.convert(&["--to", "html", "-o", "missing/page.html"]);
    assert_refused(&output, "missing/page.html cannot be written");
    let output = sample.convert(&["--to", "html", "-o", "."]);
    assert_refused(&output, "cannot be written");
    let output = sample.convert(&["--to", "perfetto", "-o", "/dev/full"]);
    assert_refused(&output, "/dev/full cannot be written: No space left");
    assert_eq!(sample.files(), ["a.trace"]);
}

#[test]
fn the_trace_is_not_written_over() {
    let sample = Sample::new(MILLISECOND);
    let before = fs::read(sample.path("a.trace")).unwrap();
    fs::hard_link(sample.path("a.trace"), sample.path("b.trace")).unwrap();
    for to in ["a.trace", "./a.trace", "b.trace"] {
        let output = sample.convert(&["--to", "html", "-o", to]);
        assert_refused(&output, &format!("{to} is the trace itself"));
    }
    assert!(fs::read(sample.path("a.trace")).unwrap() == before);
}

#[test]
fn a_part_that_is_none_of_the_trace_is_refused() {
    let sample = Sample::new(30 * MILLISECOND);
    for times in [&["--from", "2s"][..], &["--until", "1ns"], &["--from", "2ms", "--until", "1ms"]]
    {
        let output = sample.convert(&[&["--to", "html"], times].concat());
        assert_refused(&output, "leave nothing of the trace, which goes from 1.0µs to 3");
    }
    assert_eq!(sample.files(), ["a.trace"]);
}

/// The file may have 8 KiB: what was written of it goes when no more can be.
#[test]
fn half_a_file_is_not_left_behind() {
    let sample = Sample::new(30 * MILLISECOND);
    let limited = r#"trap '' XFSZ; ulimit -f 8; exec "$0" trace convert a.trace --to perfetto"#;
    let mut command = Command::new("bash");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_heist")]);
    let output = command.current_dir(sample.directory.path()).output().unwrap();
    assert_refused(&output, "a.trace.json cannot be written: File too large");
    assert_eq!(sample.files(), ["a.trace"]);
}

#[test]
fn wrong_arguments_are_refused() {
    let sample = Sample::new(MILLISECOND);
    for wrong in [&["--to", "pdf"][..], &[], &["--to", "html", "--from", "soon"]] {
        let output = sample.convert(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!output.stderr.is_empty());
    }
    assert_eq!(sample.files(), ["a.trace"]);
}
