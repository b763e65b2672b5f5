//! The Go side: programs of its own, as no other process has a Go runtime.
//!
//! They are part of this one as text, and are built when a side is set up.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::blockade::Hold;
use super::program::{output_within, said};
use super::stall::Gaps;
use crate::bench::Fault;
use crate::benches::driver::GIVE_UP;

#[derive(Debug)]
pub struct Source {
    /// As messages call it.
    name: &'static str,
    text: &'static str,
}

pub static STALL: Source =
    Source { name: "stall.go", text: include_str!("../../../peers/go/stall.go") };

pub static SERVE: Source =
    Source { name: "serve.go", text: include_str!("../../../peers/go/serve.go") };

/// A program, built. Dropped, nothing is left of it.
#[derive(Debug)]
pub struct Program {
    directory: PathBuf,
    source: &'static Source,
}

impl Program {
    /// Builds it with `go`, a toolchain's name or path.
    pub fn build(go: &'static str, source: &'static Source) -> Result<Self, Fault> {
        let program = Program { directory: new_directory().map_err(Fault::Setup)?, source };
        fs::write(program.directory.join(source.name), source.text).map_err(Fault::Setup)?;
        let built = Command::new(go)
            .args(["build", "-o", PROGRAM, source.name])
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

    pub fn command(&self) -> Command {
        Command::new(self.directory.join(PROGRAM))
    }

    /// Runs `STALL` once.
    pub fn stall(&self, workers: usize, hold: Hold, time: Duration) -> Result<Gaps, Fault> {
        let hold = match hold {
            Hold::Block => "block",
            Hold::Burn => "burn",
        };
        let mut command = self.command();
        command.args([&workers.to_string(), &time.as_millis().to_string(), hold]);
        let output = output_within(&mut command, GIVE_UP)?;
        parse(&said(self.source.name, &output)?)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // What is left in a directory for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The file that is built.
const PROGRAM: &str = "program";

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

fn parse(line: &str) -> Result<Gaps, Fault> {
    let numbers: Option<Vec<f64>> =
        line.split_whitespace().map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[longest, p99]) if 0.0 <= p99 && p99 <= longest => Ok(Gaps { longest, p99 }),
        _ => Err(Fault::Program { program: STALL.name, said: line.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_go_it_is_said_what_to_install() {
        let message = Program::build("no-such-go", &STALL).unwrap_err().to_string();
        assert_eq!(
            message,
            "not available, as no-such-go is not on the PATH: install Go, from https://go.dev/dl"
        );
    }

    /// `false` has the exit code of a build that fails, `true` builds nothing.
    #[test]
    fn a_build_that_fails_is_a_fault() {
        let message = Program::build("false", &STALL).unwrap_err().to_string();
        assert!(message.starts_with("the program false failed: exit status: 1"), "{message}");
        let program = Program::build("true", &STALL).unwrap();
        let fault = program.stall(1, Hold::Block, Duration::from_millis(1)).unwrap_err();
        assert!(matches!(fault, Fault::Setup(_)), "{fault}");
    }

    #[test]
    fn nothing_is_left_of_it() {
        let program = Program::build("true", &STALL).unwrap();
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
}
