//! Compiles the test files, cutting out of each what does not compile.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::cargo::{self, Order};
use super::cut::CutFile;
use super::error::Error;
use super::scratch::Scratch;
use super::source::Source;
use super::status::TestResult;

/// After that many rounds a file is given up. Guessed: the compiler reports in about five
/// stages, and what is cut in one may bring up something in an earlier one.
const ROUNDS: usize = 25;

/// A test file after compilation.
#[derive(Debug)]
pub struct Compiled {
    pub name: String,
    /// What runs it; `None` if it does not compile whatever is cut.
    pub program: Option<PathBuf>,
    /// The tests that were cut.
    pub lost: Vec<TestResult>,
    pub is_compile_only: bool,
    /// Whether anything was cut, be it a test or not.
    pub is_cut: bool,
    /// What the compiler said of a file that was given up.
    pub errors: Vec<String>,
}

/// Compiles `files`, all of them together, until all are done. `say` is told about each round.
pub fn compile(
    scratch: &Scratch,
    source: &Source,
    files: &[String],
    order: Order<'_>,
    say: impl Fn(usize, usize),
) -> Result<Vec<Compiled>, Error> {
    let mut pending = BTreeMap::new();
    let mut done = Vec::new();
    for name in files {
        let path = source.tests.join(format!("{name}.rs"));
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        scratch.write_test(name, &text)?;
        match CutFile::new(text) {
            Ok(file) => drop(pending.insert(name.clone(), file)),
            Err(error) => done.push(Compiled::new(name, None, None, vec![error.to_string()])),
        }
    }
    for round in 1.. {
        if pending.is_empty() {
            break;
        }
        say(round, pending.len());
        let names: Vec<&str> = pending.keys().map(String::as_str).collect();
        let mut build = cargo::build(order, &names)?;
        for (name, mut file) in std::mem::take(&mut pending) {
            let complaints = build.complaints.remove(&name).unwrap_or_default();
            if let Some(program) = build.programs.remove(&name) {
                done.push(Compiled::new(&name, Some(&file), Some(program), vec![]));
            } else if round < ROUNDS && file.cut(&complaints) {
                scratch.write_test(&name, file.text())?;
                pending.insert(name, file);
            } else {
                let errors: Vec<String> = complaints.into_iter().map(|c| c.message).collect();
                file.give_up(errors.first().map_or("", String::as_str));
                done.push(Compiled::new(&name, Some(&file), None, errors));
            }
        }
    }
    done.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(done)
}

impl Compiled {
    fn new(
        name: &str,
        file: Option<&CutFile>,
        program: Option<PathBuf>,
        errors: Vec<String>,
    ) -> Compiled {
        Compiled {
            name: name.to_owned(),
            program,
            lost: file.map(CutFile::lost).unwrap_or_default(),
            is_compile_only: file.is_some_and(CutFile::is_compile_only),
            is_cut: file.is_some_and(CutFile::is_cut),
            errors,
        }
    }
}
