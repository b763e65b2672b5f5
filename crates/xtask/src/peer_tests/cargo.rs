//! Runs cargo and reads what it answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

use super::cut::Complaint;
use super::error::Error;

/// What `cargo metadata` says, as far as it is needed.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    pub target_directory: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub edition: String,
    pub homepage: Option<String>,
    pub manifest_path: PathBuf,
    pub features: BTreeMap<String, Vec<String>>,
    pub dependencies: Vec<Dependency>,
}

impl Package {
    /// Where it is.
    pub fn root(&self) -> &Path {
        self.manifest_path.parent().expect("a manifest is in a directory")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Dependency {
    pub name: String,
    pub req: String,
    /// `dev`, `build`, or nothing.
    pub kind: Option<String>,
    pub uses_default_features: bool,
    pub features: Vec<String>,
    pub target: Option<String>,
}

/// Asks for the metadata of the package at `manifest`, which gets all packages it depends on.
pub fn metadata(manifest: &Path, options: &[&str], doing: &'static str) -> Result<Metadata, Error> {
    let mut command = cargo("metadata", manifest);
    command.args(["--format-version", "1"]).args(options);
    let output = output(&mut command, doing)?;
    let unreadable = |error: serde_json::Error| Error::Cargo { doing, said: error.to_string() };
    serde_json::from_slice(&output.stdout).map_err(unreadable)
}

/// What came of a build: for each target that was asked for, its program or its complaints.
#[derive(Debug, Default)]
pub struct Build {
    pub programs: BTreeMap<String, PathBuf>,
    pub complaints: BTreeMap<String, Vec<Complaint>>,
}

/// What to build, and how.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    pub manifest: &'a Path,
    pub target_dir: &'a Path,
    /// The crate under test.
    pub subject: &'a str,
    /// Whether the tests of Tokio's unstable parts are wanted.
    pub unstable: bool,
}

/// Builds test targets; one that does not compile does not stop the others.
pub fn build(order: Order<'_>, tests: &[&str]) -> Result<Build, Error> {
    let doing = "build the tests";
    let mut command = cargo("build", order.manifest);
    command.args(["--keep-going", "--message-format", "json", "--target-dir"]);
    command.arg(order.target_dir).args(tests.iter().flat_map(|test| ["--test", test]));
    let mut flags = lenient_flags();
    if order.unstable {
        flags += " --cfg tokio_unstable";
    }
    command.env("RUSTFLAGS", flags);
    let output = command.output().map_err(|error| not_started(doing, &error))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let broken = |said| Error::CrateUnderTest { name: order.subject.to_owned(), said };
    let build = read_build(&messages).map_err(broken)?;
    if !output.status.success() && build.complaints.is_empty() {
        return Err(Error::Cargo { doing, said: stderr(&output) });
    }
    Ok(build)
}

/// Compiler flags. Cuts leave unused imports, which some files deny.
pub fn lenient_flags() -> String {
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default() + " --cap-lints allow";
    flags.trim().to_owned()
}

/// Builds the unit tests of a package by this command, and says which program they are.
pub fn unit_program(mut command: Command) -> Result<PathBuf, Error> {
    let doing = "build the unit tests";
    let output = output(&mut command, doing)?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut program = messages.filter_map(|message| match message {
        Line::CompilerArtifact { executable, .. } => executable,
        _ => None,
    });
    let said = || "(no program)".to_owned();
    program.next_back().ok_or_else(|| Error::Cargo { doing, said: said() })
}

/// A call of cargo for the package at `manifest`.
pub fn cargo(subcommand: &str, manifest: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.arg(subcommand).arg("--manifest-path").arg(manifest);
    // Cargo sets these for this program's own package. The macros of the crate under test ask
    // for them.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_")) {
            command.env_remove(name);
        }
    }
    command.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_MANIFEST_PATH");
    command
}

fn output(command: &mut Command, doing: &'static str) -> Result<Output, Error> {
    let output = command.output().map_err(|error| not_started(doing, &error))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(Error::Cargo { doing, said: stderr(&output) })
    }
}

fn not_started(doing: &'static str, error: &std::io::Error) -> Error {
    Error::Cargo { doing, said: format!("(nothing, it could not be started: {error})") }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[derive(Debug, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerMessage {
        target: Target,
        message: Diagnostic,
    },
    CompilerArtifact {
        target: Target,
        executable: Option<PathBuf>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    spans: Vec<Span>,
    rendered: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    is_primary: bool,
    expansion: Option<Box<Expansion>>,
}

#[derive(Debug, Deserialize)]
struct Expansion {
    span: Span,
}

/// Reads cargo's messages, one a line. The error is what the compiler says of a package that is
/// not a test.
fn read_build(messages: &str) -> Result<Build, String> {
    let mut build = Build::default();
    // Whatever else is on the standard output is no message.
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    for message in messages {
        match message {
            Line::CompilerMessage { target, message } if message.level.starts_with("error") => {
                if !target.is_test() {
                    return Err(message.rendered.unwrap_or(message.message));
                }
                let complaints = build.complaints.entry(target.name.clone()).or_default();
                complaints.extend(complaints_of(&message, &format!("tests/{}.rs", target.name)));
            }
            Line::CompilerArtifact { target, executable: Some(program) } if target.is_test() => {
                build.programs.insert(target.name, program);
            }
            _ => {}
        }
    }
    Ok(build)
}

impl Target {
    fn is_test(&self) -> bool {
        self.kind.iter().any(|kind| kind == "test")
    }
}

/// One for each place that the compiler marks; one without a place if there are none in `file`.
fn complaints_of(diagnostic: &Diagnostic, file: &str) -> Vec<Complaint> {
    if diagnostic.message.starts_with("aborting due to") {
        return Vec::new();
    }
    let primary = diagnostic.spans.iter().filter(|span| span.is_primary);
    let places: Vec<Vec<usize>> = primary.map(|span| places(span, file)).collect();
    let places = if places.is_empty() { vec![Vec::new()] } else { places };
    let complaint = |places| Complaint { message: diagnostic.message.clone(), places };
    places.into_iter().map(complaint).collect()
}

/// Where a span is in `file`: itself, then the call of the macro that it comes from, and so on.
fn places(span: &Span, file: &str) -> Vec<usize> {
    let chain = std::iter::successors(Some(span), |span| Some(&span.expansion.as_ref()?.span));
    chain.filter(|span| span.file_name == file).map(|span| span.byte_start).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn span(file: &str, at: usize, expansion: Option<Value>) -> Value {
        let expansion = expansion.map(|span| json!({ "span": span }));
        json!({ "file_name": file, "byte_start": at, "is_primary": true, "expansion": expansion })
    }

    fn error(kind: &str, message: &str, spans: &[Value]) -> String {
        let target = json!({ "name": "a", "kind": [kind] });
        let message = json!({ "level": "error", "message": message, "spans": spans, "rendered": "all of it" });
        json!({ "reason": "compiler-message", "target": target, "message": message }).to_string()
    }

    fn places_of(spans: &[Value]) -> Vec<Vec<usize>> {
        let build = read_build(&error("test", "bad", spans)).unwrap();
        build.complaints["a"].iter().map(|complaint| complaint.places.clone()).collect()
    }

    #[test]
    fn every_marked_place_is_a_complaint() {
        let mut note = span("tests/a.rs", 9, None);
        note["is_primary"] = json!(false);
        let spans = [span("tests/a.rs", 3, None), note, span("tests/a.rs", 5, None)];
        assert_eq!(places_of(&spans), [vec![3], vec![5]]);
        let build = read_build(&error("test", "bad", &spans)).unwrap();
        assert_eq!(build.complaints["a"][0].message, "bad");
    }

    #[test]
    fn places_lead_out_of_macros() {
        let call = span("tests/a.rs", 3, None);
        let inner = span("tests/a.rs", 7, Some(call.clone()));
        assert_eq!(places_of(&[inner]), [[7, 3]]);
        let foreign = span("else.rs", 7, Some(call));
        assert_eq!(places_of(&[foreign]), [[3]]);
        assert_eq!(places_of(&[span("else.rs", 7, None)]), [[0; 0]]);
        assert_eq!(places_of(&[]), [[0; 0]]);
    }

    #[test]
    fn programs_are_found_and_the_rest_skipped() {
        let artifact = |kind: &str, name: &str| {
            let target = json!({ "name": name, "kind": [kind] });
            json!({ "reason": "compiler-artifact", "target": target, "executable": "x" })
                .to_string()
        };
        let lines = [
            artifact("test", "a"),
            artifact("lib", "b"),
            "words".to_owned(),
            json!({ "reason": "build-finished", "success": true }).to_string(),
            error("test", "aborting due to 1 previous error", &[]),
        ];
        let build = read_build(&lines.join("\n")).unwrap();
        assert_eq!(build.programs.keys().collect::<Vec<_>>(), ["a"]);
        assert!(build.complaints["a"].is_empty());
    }

    #[test]
    fn a_broken_library_is_not_a_broken_test() {
        assert_eq!(read_build(&error("lib", "bad", &[])).unwrap_err(), "all of it");
    }
}
