//! A program in another language, from its text to what can be started.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use super::language::Language;
use crate::bench::Fault;

#[derive(Debug)]
pub struct Source {
    /// The name of the program in messages.
    pub name: &'static str,
    pub text: &'static str,
    pub language: Language,
}

/// A program, built. Dropped, nothing is left of it.
#[derive(Debug)]
pub struct Program {
    directory: PathBuf,
    pub source: &'static Source,
}

impl Program {
    pub fn build(source: &'static Source) -> Result<Self, Fault> {
        Program::build_with(source.language.tool(), source)
    }

    /// Builds a program with the tool of this name or path.
    pub fn build_with(tool: &'static str, source: &'static Source) -> Result<Self, Fault> {
        let program = Program { directory: new_directory().map_err(Fault::Setup)?, source };
        fs::write(program.directory.join(source.name), source.text).map_err(Fault::Setup)?;
        source.language.build(tool, &program.directory, source.name)?;
        Ok(program)
    }

    pub fn command(&self) -> Command {
        self.source.language.command(&self.directory, self.source.name)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // What is left in a directory for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A directory that was not there before: what is run is what was built there.
fn new_directory() -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("heist-bench-{}-{count}", process::id());
        let path = std::env::temp_dir().join(name);
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SOURCE: Source =
        Source { name: "nothing.go", text: "package main", language: Language::Go };

    #[test]
    fn without_go_it_is_said_what_to_install() {
        let message = Program::build_with("no-such-go", &SOURCE).unwrap_err().to_string();
        let expected =
            "not available, as there is no no-such-go here: install Go, from https://go.dev/dl";
        assert_eq!(message, expected);
    }

    /// `false` has the exit code of a build that fails.
    #[test]
    fn a_build_that_fails_is_a_fault() {
        let message = Program::build_with("false", &SOURCE).unwrap_err().to_string();
        assert!(message.starts_with("the program false failed: exit status: 1"), "{message}");
    }

    #[test]
    fn nothing_is_left_of_it() {
        let program = Program::build_with("true", &SOURCE).unwrap();
        let directory = program.directory.clone();
        assert!(directory.join("nothing.go").exists());
        drop(program);
        assert!(!directory.exists());
    }
}
