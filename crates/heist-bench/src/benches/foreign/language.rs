//! What peers are written in, if not in Rust, and what it takes to build them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::{Fault, Runtime};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Go,
    /// C++ with oneTBB.
    Cpp,
    /// Started from its source.
    Java,
}

/// Says what is missing for a runtime, if anything is.
pub fn check(runtime: Runtime) -> Result<(), Fault> {
    Language::of(runtime).map_or(Ok(()), |language| language.check_with(language.tool()))
}

/// The file that is built.
const PROGRAM: &str = "program";

impl Language {
    /// The language of a peer; `None` if cargo builds the peer.
    fn of(runtime: Runtime) -> Option<Self> {
        match runtime {
            Runtime::Go => Some(Language::Go),
            Runtime::Tbb => Some(Language::Cpp),
            Runtime::Java => Some(Language::Java),
            _ => None,
        }
    }

    /// The program that builds, on the PATH.
    pub fn tool(self) -> &'static str {
        match self {
            Language::Go => "go",
            Language::Cpp => "g++",
            Language::Java => "java",
        }
    }

    fn check_with(self, tool: &'static str) -> Result<(), Fault> {
        let arguments: &[&str] = match self {
            Language::Go => &["version"],
            Language::Cpp => &["-E", "-x", "c++", "-include", "tbb/parallel_invoke.h", "-"],
            // A runtime alone starts no sources.
            Language::Java => &["--describe-module", "jdk.compiler"],
        };
        let mut command = Command::new(tool);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(self.missing(self.part())),
            Err(error) => Err(self.unstarted(tool, error)),
        }
    }

    /// What a tool that is there may lack.
    fn part(self) -> &'static str {
        match self {
            Language::Go => "go that works",
            Language::Cpp => "oneTBB for g++",
            Language::Java => "compiler in java",
        }
    }

    fn missing(self, what: &'static str) -> Fault {
        let install = match self {
            Language::Go => "Go, from https://go.dev/dl",
            Language::Cpp => "g++ and oneTBB (Debian: g++, libtbb-dev)",
            Language::Java => "a JDK, 11 or later (Debian: openjdk-17-jdk-headless)",
        };
        Fault::Missing { what, install }
    }

    fn unstarted(self, tool: &'static str, error: std::io::Error) -> Fault {
        match error.kind() {
            std::io::ErrorKind::NotFound => self.missing(tool),
            _ => Fault::Setup(error),
        }
    }

    /// Makes a program of the source in a directory.
    pub fn build(self, tool: &'static str, directory: &Path, source: &str) -> Result<(), Fault> {
        let mut command = Command::new(tool);
        match self {
            // It needs nothing but the standard library: no module, no other toolchain, no network.
            Language::Go => command
                .args(["build", "-o", PROGRAM, source])
                .envs([("GOFLAGS", "-mod=mod"), ("GOPROXY", "off")])
                .envs([("GOTOOLCHAIN", "local"), ("GOWORK", "off")]),
            // As rustc does it: for any processor of its kind.
            Language::Cpp => {
                command.args(["-O3", "-std=c++17", "-o", PROGRAM, source, "-ltbb", "-pthread"])
            }
            Language::Java => return Ok(()),
        };
        let output = command.current_dir(directory).stdin(Stdio::null()).output();
        let output = output.map_err(|error| self.unstarted(tool, error))?;
        super::run::said(tool, &output).map(drop)
    }

    /// What starts it.
    pub fn command(self, directory: &Path, source: &str) -> Command {
        match self {
            Language::Go | Language::Cpp => Command::new(directory.join(PROGRAM)),
            Language::Java => {
                let mut command = Command::new(self.tool());
                command.arg(directory.join(source));
                command
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Language; 3] = [Language::Go, Language::Cpp, Language::Java];

    #[test]
    fn a_tool_that_is_not_there_is_named_and_how_to_get_it() {
        for (language, install) in ALL.into_iter().zip(["Go", "g++ and oneTBB", "a JDK"]) {
            let message = language.check_with("no-such-tool").unwrap_err().to_string();
            let expected =
                format!("not available, as there is no no-such-tool here: install {install}");
            assert!(message.starts_with(&expected), "{message}");
        }
    }

    /// `false` is there, and succeeds in nothing; `true` in everything.
    #[test]
    fn a_tool_without_what_it_needs_is_not_enough() {
        for (language, part) in ALL.into_iter().zip(["go that works", "oneTBB", "compiler"]) {
            let message = language.check_with("false").unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
            language.check_with("true").unwrap();
        }
    }
}
