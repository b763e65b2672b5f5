//! Compiles the tests of a published peer against heist and runs them.
//!
//! Nothing of the peer is in this repository: its package comes from cargo's registry.
//!
//! 1. [`source`]: cargo gets the peer's package.
//! 2. [`scratch`]: a package below `target` gets its test files, and heist under its name.
//! 3. [`compile`]: what a test file needs and heist has not is cut out, until the rest compiles.
//! 4. [`run`]: each file runs for a limited time.
//! 5. [`report`] prints the results, [`expect`] compares them with what is expected.

mod bless;
mod cargo;
mod compile;
mod cut;
#[cfg(test)]
mod end_to_end;
mod error;
mod expect;
mod items;
mod libtest;
mod process;
mod rayon;
mod report;
mod run;
mod scratch;
mod source;
mod status;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Serialize;

use self::cargo::Order;
use self::compile::Compiled;
use self::error::Error;
use self::expect::Expectations;
use self::report::{JsonFile, Table};
use self::run::{Limits, Program};
use self::scratch::{Against, Scratch};
use self::source::Source;
use self::status::{Counts, FileStatus, Shape, TestResult, file_status};

/// Compiles a peer's own tests against heist, runs them and prints a table.
///
/// The exit code is 1 if a result is not as it should be: with --expect, if it is not as
/// expected; else, if a file does not pass. It is 3 if cargo cannot get the packages, and 2 if
/// anything else keeps the tests from running.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Whose tests
    peer: Peer,

    /// The test files, without .rs [default: those that --expect expects, else all]
    files: Vec<String>,

    /// Seconds for all tests of a file together; what is left over then runs one by one
    #[arg(
        long,
        value_name = "SECS",
        default_value = "60",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    timeout: u64,

    /// Seconds for a test that runs alone
    #[arg(
        long,
        value_name = "SECS",
        default_value = "20",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    test_timeout: u64,

    /// Leave this test file out
    #[arg(long, value_name = "FILE")]
    without: Vec<String>,

    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Compare the results with this file
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,

    /// Rewrite the file of --expect so that it fits; new reasons are left for you to fill in
    #[arg(long, requires = "expect")]
    bless: bool,

    /// The version of the peer's package [default: that of --expect, else the newest]
    #[arg(long, value_name = "VERSION")]
    peer_version: Option<String>,

    /// Compile with `--cfg tokio_unstable`, which brings in further tests
    #[arg(long)]
    unstable: bool,

    /// Show the peer's test files, and run none
    #[arg(long)]
    list: bool,

    /// Name the tests that do not compile, too
    #[arg(long, short)]
    verbose: bool,

    /// What to compile the tests against
    #[arg(long, hide = true, value_name = "CRATE", default_value = "heist")]
    against: Against,
}

/// Somebody whose tests heist should pass.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Peer {
    Tokio,
    /// rayon, whose rayon-core is replaced by heist's
    Rayon,
}

impl Peer {
    fn package(self) -> &'static str {
        match self {
            Peer::Tokio => "tokio",
            Peer::Rayon => "rayon",
        }
    }
}

/// What became of a test file.
#[derive(Debug, Serialize)]
pub struct FileResult {
    pub name: String,
    pub status: FileStatus,
    pub tests: Vec<TestResult>,
    /// What the compiler says of a file of which nothing compiles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    pub seconds: f64,
}

/// Does what the command line asks for; says on the standard error what went wrong.
pub fn main(args: &Args) -> ExitCode {
    match execute(args, &mut io::stdout()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Whether all is as it should be.
fn execute(args: &Args, out: &mut dyn Write) -> Result<bool, Error> {
    let expectations = args.expect.as_deref().map(Expectations::read).transpose()?;
    if let Some((path, expectations)) = args.expect.as_deref().zip(expectations.as_ref()) {
        // What is about to be rewritten may still lack its reasons.
        let checked = if args.bless { Ok(()) } else { expectations.check() };
        checked.map_err(|what| Error::expectations(path, what))?;
    }
    let json = args.json.as_deref().map(JsonFile::open).transpose()?;
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let workspace = workspace.expect("xtask lives in crates/xtask");
    let doing = "read this workspace";
    let own = cargo::metadata(&workspace.join("Cargo.toml"), &["--no-deps"], doing)?;
    let directory = own.target_directory.join("peer-tests");

    let peer = args.peer.package();
    let expected_version = expectations.as_ref().map(|expectations| expectations.version.as_str());
    let version = args.peer_version.as_deref().or(expected_version);
    let mut source = Source::get(peer, version, &directory.join(peer))?;
    if matches!(args.peer, Peer::Rayon) {
        source = rayon::with_core(source, &directory.join(peer))?;
    }
    let mut known = source.test_files()?;
    if matches!(args.peer, Peer::Rayon) {
        known.extend(rayon::IN_PACKAGE.map(str::to_owned));
    }
    if args.list {
        let mut names = known.iter();
        names.try_for_each(|name| writeln!(out, "{name}")).map_err(Error::Output)?;
        return Ok(true);
    }
    let mut files = select(&args.files, &known, expectations.as_ref(), peer)?;
    files.retain(|name| !args.without.contains(name));
    let version = source.package.version.clone();
    let subject = args.against.name(peer);
    writeln!(out, "tests of {peer} {version}, against {subject}\n").map_err(Error::Output)?;
    let results =
        run_all(args, &directory, workspace, &source, &files, expectations.as_ref(), out)?;
    if let Some(json) = json {
        json.write(peer, &version, subject, &results)?;
    }
    report::details(out, &results, args.verbose)
        .and_then(|()| report::summary(out, &results))
        .map_err(Error::Output)?;
    match (&args.expect, expectations) {
        (Some(path), Some(old)) if args.bless => bless_file(path, old, &version, &results, out),
        (_, expectations) => {
            let is_complete = args.files.is_empty() && args.without.is_empty();
            judge(expectations.as_ref(), &results, &known, is_complete, out).map_err(Error::Output)
        }
    }
}

/// The files to run: those that are asked for, those that are expected, or all.
fn select(
    asked: &[String],
    known: &[String],
    expectations: Option<&Expectations>,
    peer: &str,
) -> Result<Vec<String>, Error> {
    let files: Vec<String> = match expectations {
        _ if !asked.is_empty() => asked.to_vec(),
        Some(expectations) => expectations.files.keys().cloned().collect(),
        None => known.to_vec(),
    };
    let mut files: Vec<String> =
        files.iter().map(|name| name.strip_suffix(".rs").unwrap_or(name).to_owned()).collect();
    files.sort();
    files.dedup();
    match files.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(Error::NoSuchFile { name: name.clone(), peer: peer.to_owned() }),
        None => Ok(files),
    }
}

/// Compiles the files, runs them, and prints a row for each.
fn run_all(
    args: &Args,
    directory: &Path,
    workspace: &Path,
    source: &Source,
    files: &[String],
    expectations: Option<&Expectations>,
    out: &mut dyn Write,
) -> Result<Vec<FileResult>, Error> {
    let unstable = args.unstable || expectations.is_some_and(|e| e.unstable);
    let subject = args.against.name(args.peer.package());
    let place = directory.join(args.peer.package()).join(subject);
    let is_in_package =
        |name: &&String| matches!(args.peer, Peer::Rayon) && rayon::is_in_package(name);
    let (in_package, files): (Vec<&String>, Vec<&String>) = files.iter().partition(is_in_package);
    let files: Vec<String> = files.into_iter().cloned().collect();
    let scratch = Scratch::create(place, source, &files, args.against, workspace)?;
    let order = Order {
        manifest: &scratch.manifest(),
        target_dir: &directory.join(if unstable { "target-unstable" } else { "target" }),
        subject,
        unstable,
    };
    let say = |round, count| eprintln!("compiling, round {round}: {count} to do");
    let compiled = compile::compile(&scratch, source, &files, order, say)?;
    let hangs = |file: &str, test: &str| expectations.is_some_and(|e| e.hangs(file, test));
    let logs = scratch.root.join("logs");
    fs::create_dir_all(&logs).map_err(Error::file("create", &logs))?;
    let limits = Limits {
        file: Duration::from_secs(args.timeout),
        test: Duration::from_secs(args.test_timeout),
    };
    let names = compiled.iter().map(|compiled| &compiled.name).chain(in_package.iter().copied());
    let table = Table::new(names.map(String::as_str));
    table.header(out).map_err(Error::Output)?;
    let mut results = Vec::new();
    for compiled in compiled {
        let result = run_one(compiled, &scratch.root, &logs, limits, hangs)?;
        table.row(out, &result).and_then(|()| out.flush()).map_err(Error::Output)?;
        results.push(result);
    }
    for name in in_package {
        let patch = scratch::patch(args.against, &source.package, workspace);
        let place = rayon::Place { root: &scratch.root, target_dir: order.target_dir, logs: &logs };
        let result = rayon::run_in_package(name, source, patch, place, limits)?;
        table.row(out, &result).and_then(|()| out.flush()).map_err(Error::Output)?;
        results.push(result);
    }
    writeln!(out).map_err(Error::Output)?;
    Ok(results)
}

fn run_one(
    compiled: Compiled,
    root: &Path,
    logs: &Path,
    limits: Limits,
    hangs: impl Fn(&str, &str) -> bool,
) -> Result<FileResult, Error> {
    let start = Instant::now();
    let mut tests = compiled.lost;
    let mut is_alive = true;
    if let Some(path) = &compiled.program {
        let program = Program::new(path, root, &logs.join(&compiled.name));
        let hangs = |test: &str| hangs(&compiled.name, test);
        let ran = program.run(limits, hangs).map_err(Error::file("run", path))?;
        tests.splice(0..0, ran.tests);
        is_alive = ran.is_alive;
    }
    let compiles = compiled.program.is_some();
    let Compiled { is_cut, is_compile_only, .. } = compiled;
    let shape = Shape { is_alive, compiles, is_cut, is_compile_only };
    let status = file_status(shape, Counts::of(&tests));
    let seconds = start.elapsed().as_secs_f64();
    Ok(FileResult { name: compiled.name, status, tests, errors: compiled.errors, seconds })
}

/// Rewrites the expectations. `false` if there is something left to do.
fn bless_file(
    path: &Path,
    old: Expectations,
    version: &str,
    results: &[FileResult],
    out: &mut dyn Write,
) -> Result<bool, Error> {
    let head = bless::head(&fs::read_to_string(path).map_err(Error::file("read", path))?);
    let new = bless::blessed(old, version, results);
    fs::write(path, bless::text(&new, &head)).map_err(Error::file("write", path))?;
    let missing = bless::missing_reasons(&new);
    writeln!(out, "wrote {}; reasons to fill in: {missing}", path.display())
        .map_err(Error::Output)?;
    Ok(missing == 0)
}

/// Whether the results are as they should be; says where they are not.
fn judge(
    expectations: Option<&Expectations>,
    results: &[FileResult],
    known: &[String],
    is_complete: bool,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let Some(expectations) = expectations else {
        let is_fine =
            |result: &FileResult| matches!(result.status, FileStatus::Pass | FileStatus::Empty);
        return Ok(results.iter().all(is_fine));
    };
    let differences = expectations.compare(results);
    for difference in &differences {
        writeln!(out, "not as expected: {difference}")?;
    }
    let forgotten = known.iter().filter(|name| is_complete && !expectations.knows(name));
    let mut is_fine = differences.is_empty();
    for name in forgotten {
        writeln!(out, "not as expected: {name}: neither expected nor skipped")?;
        is_fine = false;
    }
    if is_fine {
        writeln!(out, "all as expected")?;
    }
    Ok(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn files_are_selected_once_and_in_order() {
        let known = names(&["a", "b", "c"]);
        let selected = |asked: &[&str]| select(&names(asked), &known, None, "tokio");
        assert_eq!(selected(&[]).unwrap(), known);
        assert_eq!(selected(&["c", "a.rs", "c"]).unwrap(), ["a", "c"]);
        let error = selected(&["d"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert_eq!(error.to_string(), "tokio has no test file 'd'; --list shows all of them");
    }

    #[test]
    fn without_expectations_every_file_has_to_pass() {
        let judged = |status| {
            let result = FileResult {
                name: "a".into(),
                status,
                tests: vec![],
                errors: vec![],
                seconds: 0.0,
            };
            judge(None, &[result], &[], true, &mut Vec::new()).unwrap()
        };
        assert!(judged(FileStatus::Pass) && judged(FileStatus::Empty));
        assert!(!judged(FileStatus::Partial) && !judged(FileStatus::Fail));
        assert!(!judged(FileStatus::Timeout) && !judged(FileStatus::NoCompile));
    }
}
