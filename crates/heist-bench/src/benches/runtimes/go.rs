//! The Go side of the stalls: a program of its own, as no other process has a Go runtime.
//!
//! It is part of this one as text, is built when the side is set up, and runs once a sample.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{self, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::blockade::Hold;
use super::driver::GIVE_UP;
use crate::bench::Fault;

const SOURCE: &str = include_str!("../../../peers/go/stall.go");

/// How often it is asked whether the program has ended: seldom, as it is being measured.
const POLL: Duration = Duration::from_millis(20);

/// How long ticks waited in the Go runtime, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaps {
    pub longest: f64,
    pub p99: f64,
}

/// The program, built. Dropped, nothing is left of it.
#[derive(Debug)]
pub struct Program {
    directory: PathBuf,
}

impl Program {
    /// Builds it with `go`, a toolchain's name or path.
    pub fn build(go: &'static str) -> Result<Self, Fault> {
        let program = Program { directory: new_directory().map_err(Fault::Setup)? };
        fs::write(program.directory.join("stall.go"), SOURCE).map_err(Fault::Setup)?;
        let built = Command::new(go)
            .args(["build", "-o", "stall", "stall.go"])
            .current_dir(&program.directory)
            // It needs nothing but the standard library: no module, no other toolchain, no
            // network.
            .envs([("GOFLAGS", "-mod=mod"), ("GOPROXY", "off")])
            .envs([("GOTOOLCHAIN", "local"), ("GOWORK", "off")])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => {
                    Fault::Missing { program: go, install: "Go, from https://go.dev/dl" }
                }
                _ => Fault::Setup(error),
            })?;
        said(go, &built)?;
        Ok(program)
    }

    pub fn run(&self, workers: usize, hold: Hold, time: Duration) -> Result<Gaps, Fault> {
        let hold = match hold {
            Hold::Block => "block",
            Hold::Burn => "burn",
        };
        let mut command = Command::new(self.directory.join("stall"));
        command.args([&workers.to_string(), &time.as_millis().to_string(), hold]);
        let output = output_within(&mut command, GIVE_UP)?;
        parse(&said(STALL, &output)?)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // What is left in a directory for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// As messages call it.
const STALL: &str = "stall.go";

/// A directory that was not there before: what is run is what was built there.
fn new_directory() -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("heist-bench-go-{}-{count}", process::id());
        let path = std::env::temp_dir().join(name);
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
            Err(error) => return Err(error),
        }
    }
}

/// Like `Command::output`, for a program that may not end and that says little.
fn output_within(command: &mut Command, patience: Duration) -> Result<Output, Fault> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Fault::Setup)?;
    let start = Instant::now();
    while child.try_wait().map_err(Fault::Setup)?.is_none() {
        if start.elapsed() >= patience {
            // It may have ended just now; there is nothing to do about it in either case.
            let _ = child.kill();
            let _ = child.wait();
            return Err(Fault::Stuck { waited: patience });
        }
        thread::sleep(POLL);
    }
    child.wait_with_output().map_err(Fault::Setup)
}

/// What a program that did well has said on its standard output.
fn said(program: &'static str, output: &Output) -> Result<String, Fault> {
    let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let said = format!("{}: {}", output.status, text(&output.stderr));
    Err(Fault::Program { program, said })
}

fn parse(line: &str) -> Result<Gaps, Fault> {
    let numbers: Option<Vec<f64>> =
        line.split_whitespace().map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[longest, p99]) if 0.0 <= p99 && p99 <= longest => Ok(Gaps { longest, p99 }),
        _ => Err(Fault::Program { program: STALL, said: line.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_go_it_is_said_what_to_install() {
        let message = Program::build("no-such-go").unwrap_err().to_string();
        assert_eq!(
            message,
            "not available, as no-such-go is not on the PATH: install Go, from https://go.dev/dl"
        );
    }

    /// `false` has the exit code of a build that fails, `true` builds nothing.
    #[test]
    fn a_build_that_fails_is_a_fault() {
        let message = Program::build("false").unwrap_err().to_string();
        assert!(message.starts_with("the program false failed: exit status: 1"), "{message}");
        let program = Program::build("true").unwrap();
        let fault = program.run(1, Hold::Block, Duration::from_millis(1)).unwrap_err();
        assert!(matches!(fault, Fault::Setup(_)), "{fault}");
    }

    #[test]
    fn nothing_is_left_of_it() {
        let program = Program::build("true").unwrap();
        let directory = program.directory.clone();
        assert!(directory.join("stall.go").exists());
        drop(program);
        assert!(!directory.exists());
    }

    #[test]
    fn two_numbers_are_the_gaps_and_anything_else_is_a_fault() {
        assert_eq!(parse("20.5 1.25").unwrap(), Gaps { longest: 20.5, p99: 1.25 });
        for line in ["", "1", "1 2", "1 -1", "NaN NaN", "2 1 1", "2 one"] {
            let message = parse(line).unwrap_err().to_string();
            assert_eq!(message, format!("the program stall.go failed: {line}"));
        }
    }

    #[test]
    fn a_program_that_does_not_end_is_given_up() {
        let mut endless = Command::new("sleep");
        let fault = output_within(endless.arg("600"), Duration::from_millis(1)).unwrap_err();
        assert!(matches!(fault, Fault::Stuck { .. }), "{fault}");
    }
}
