//! `heist trace convert`, from outside.

mod bad_files;
mod chromium;
mod html;
mod importer;
mod perfetto;
mod sample;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const MILLISECOND: u64 = 1_000_000;

fn heist() -> Command {
    Command::new(env!("CARGO_BIN_EXE_heist"))
}

/// A directory with a trace of a given length.
struct Sample {
    directory: TempDir,
}

impl Sample {
    fn new(length: u64) -> Self {
        Sample::of(&sample::write(Vec::new(), 1, length).unwrap())
    }

    fn of(bytes: &[u8]) -> Self {
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join("a.trace"), bytes).unwrap();
        Sample { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs `heist trace convert` on it.
    fn convert(&self, arguments: &[&str]) -> Output {
        let mut command = heist();
        command.args(["trace", "convert", "a.trace"]).args(arguments);
        command.current_dir(self.directory.path()).output().unwrap()
    }

    /// The same, and it works. Returns what was written.
    fn converted(&self, to: &str, arguments: &[&str]) -> String {
        let output = self.convert(&[&["--to", to], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{errors}");
        let suffix = if to == "html" { "html" } else { "json" };
        fs::read_to_string(self.path(&format!("a.trace.{suffix}"))).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn the_output_has_the_name_that_was_asked_for() {
    let sample = Sample::new(MILLISECOND);
    sample.converted("html", &[]);
    sample.converted("perfetto", &[]);
    let output = sample.convert(&["--to", "html", "-o", "page.html"]);
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("page.html") && said.contains("open it in a browser"), "{said}");
    assert_eq!(sample.files(), ["a.trace", "a.trace.html", "a.trace.json", "page.html"]);
}

#[test]
fn standard_output_gets_the_same() {
    let sample = Sample::new(MILLISECOND);
    let in_file = sample.converted("perfetto", &[]);
    let output = sample.convert(&["--to", "perfetto", "-o", "-"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), in_file);
    assert!(output.stderr.is_empty());
}

#[test]
fn a_pipe_that_nobody_reads_any_more_is_no_error() {
    let sample = Sample::new(50 * MILLISECOND);
    let script = r#""$0" trace convert a.trace --to perfetto -o - | head -c 10 >/dev/null; exit ${PIPESTATUS[0]}"#;
    let mut command = Command::new("bash");
    command.args(["-c", script, env!("CARGO_BIN_EXE_heist")]);
    let output = command.current_dir(sample.directory.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

/// The converter gets so little memory that it cannot hold the trace's events.
#[test]
fn memory_is_bounded() {
    let sample = Sample::new(2000 * MILLISECOND);
    let length = size(&sample.path("a.trace"));
    assert!(length > 6_000_000, "{length} bytes, an event in six or seven, and 48 in memory");
    for to in ["html", "perfetto"] {
        let limited = r#"ulimit -v 30000; exec "$0" trace convert a.trace --to "$1" -o out"#;
        let mut command = Command::new("bash");
        command.args(["-c", limited, env!("CARGO_BIN_EXE_heist"), to]);
        let output = command.current_dir(sample.directory.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        if to == "html" {
            let page = size(&sample.path("out"));
            assert!(page < 5_000_000, "a page of {page} bytes");
        }
    }
}

/// For trials by hand: `HEIST_TRACE_TO=file HEIST_TRACE_SECONDS=275` writes a gigabyte.
#[test]
fn a_trace_is_written_where_one_is_asked_for() {
    let Ok(path) = std::env::var("HEIST_TRACE_TO") else { return };
    let seconds: f64 = std::env::var("HEIST_TRACE_SECONDS").unwrap().parse().unwrap();
    let out = std::io::BufWriter::new(fs::File::create(path).unwrap());
    sample::write(out, 1, (seconds * 1e9) as u64).unwrap();
}
