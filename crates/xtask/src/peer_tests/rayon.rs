//! rayon's tests, and those of rayon-core, which are to be found in two packages and several
//! places.
//!
//! | file | what |
//! |---|---|
//! | `…` | rayon's `tests/….rs` |
//! | `core-…` | rayon-core's `tests/….rs` |
//! | `core-unit-…` | rayon-core's `src/…/test.rs`, as far as it needs no more than the public names |
//! | `unit`, `doc` | the tests in rayon itself: they run in a copy of its package |

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use toml::Table;

use super::FileResult;
use super::cargo::{self, Package};
use super::error::Error;
use super::libtest;
use super::process::{self, Ending};
use super::run::{Limits, Program};
use super::scratch::write_if_new;
use super::source::{Source, rust_files};
use super::status::{Counts, Shape, TestResult, TestStatus, file_status};

const UNIT: &str = "unit";
const DOC: &str = "doc";

/// What runs in a copy of the package.
pub const IN_PACKAGE: [&str; 2] = [UNIT, DOC];

/// The examples in the documentation are compiled, all in one program, when they are run. Their
/// limit is this many times that of other files.
const DOC_PATIENCE: u32 = 5;

/// In this edition examples are compiled into one program, where each runs as a process of its own.
/// In rayon's they are programs, and take three minutes to link instead of half a minute.
const DOC_EDITION: &str = "2024";

/// Replacements of the private parts of rayon-core that its unit tests use.
const SHIMS: &str = "
#[allow(unused_imports)]
use peer_shims::*;
#[allow(dead_code)]
mod peer_shims {
    pub mod unwind {
        pub fn halt_unwinding<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(f))
        }
    }
    pub mod registry {
        pub fn in_worker<R: Send>(f: impl FnOnce(&(), bool) -> R + Send) -> R {
            rayon_core::scope(|_| f(&(), false))
        }
    }
}
";

pub fn is_in_package(name: &str) -> bool {
    IN_PACKAGE.contains(&name)
}

/// The tests of both packages in one directory, below `place`.
pub fn with_core(rayon: Source, place: &Path) -> Result<Source, Error> {
    let core = rayon.others.iter().find(|package| package.name == "rayon-core");
    let core = core.expect("rayon depends on rayon-core");
    let tests = place.join("tests");
    fs::remove_dir_all(&tests).ok();
    fs::create_dir_all(&tests).map_err(Error::file("create", &tests))?;
    let read = |path: &Path| fs::read_to_string(path).map_err(Error::file("read", path));
    let write = |name: &str, text: &str| write_if_new(&tests.join(format!("{name}.rs")), text);
    let core_tests = core.root().join("tests");
    for (prefix, directory) in [("", &rayon.tests), ("core-", &core_tests)] {
        for name in rust_files(directory)? {
            let text = read(&directory.join(format!("{name}.rs")))?;
            write(&format!("{prefix}{name}"), &text)?;
        }
    }
    for (module, path) in unit_tests(core)? {
        write(&format!("core-unit-{module}"), &public(&read(&path)?))?;
    }
    let mut package = rayon.package.clone();
    package.dependencies.extend(core.dependencies.iter().cloned());
    Ok(Source { package, tests, others: rayon.others })
}

/// The files with unit tests, by the module that they are about.
fn unit_tests(core: &Package) -> Result<Vec<(String, PathBuf)>, Error> {
    let source = core.root().join("src");
    let mut found = vec![("crate".to_owned(), source.join("test.rs"))];
    for entry in fs::read_dir(&source).map_err(Error::file("read", &source))? {
        let path = entry.map_err(Error::file("read", &source))?.path();
        let module = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push((module, path.join("test.rs")));
    }
    found.retain(|(_, path)| path.is_file());
    Ok(found)
}

/// A unit test as one of another crate.
fn public(text: &str) -> String {
    let text = text.replace("crate::unwind", "peer_shims::unwind");
    let text = text.replace("crate::registry", "peer_shims::registry");
    text.replace("crate::", "rayon_core::").replace("super::", "rayon_core::") + SHIMS
}

/// Where things are.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub root: &'a Path,
    pub target_dir: &'a Path,
    pub logs: &'a Path,
}

/// Runs the tests of one kind in a copy of rayon's package.
pub fn run_in_package(
    name: &str,
    source: &Source,
    patch: Option<Table>,
    place: Place<'_>,
    limits: Limits,
) -> Result<FileResult, Error> {
    let start = Instant::now();
    let edition = (name == DOC).then_some(DOC_EDITION);
    let copy = place.root.join(format!("package-{name}"));
    let manifest = copy_package(&source.package, patch, edition, &copy)?;
    let tests = match name {
        UNIT => run_unit(&manifest, place, limits)?,
        _ => run_doc(&manifest, place, limits)?,
    };
    let shape = Shape { is_alive: true, compiles: true, is_cut: false, is_compile_only: false };
    let status = file_status(shape, Counts::of(&tests));
    let seconds = start.elapsed().as_secs_f64();
    Ok(FileResult { name: name.to_owned(), status, tests, errors: vec![], seconds })
}

/// A copy of the package, to which the patch can be added, and which may be of another edition;
/// returns its manifest.
fn copy_package(
    package: &Package,
    patch: Option<Table>,
    edition: Option<&str>,
    copy: &Path,
) -> Result<PathBuf, Error> {
    copy_tree(package.root(), copy)?;
    let path = &package.manifest_path;
    let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
    let unreadable = |error: toml::de::Error| Error::Cargo {
        doing: "read rayon's manifest",
        said: error.to_string(),
    };
    let mut manifest: Table = text.parse().map_err(unreadable)?;
    manifest.insert("workspace".into(), Table::new().into());
    if let (Some(edition), Some(package)) = (edition, manifest["package"].as_table_mut()) {
        package.insert("edition".into(), edition.into());
        // It may be older than the edition.
        package.remove("rust-version");
    }
    manifest.extend(patch.map(|patch| ("patch".to_owned(), patch.into())));
    let path = copy.join("Cargo.toml");
    write_if_new(&path, &manifest.to_string())?;
    Ok(path)
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(Error::file("create", to))?;
    for entry in fs::read_dir(from).map_err(Error::file("read", from))? {
        let path = entry.map_err(Error::file("read", from))?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_tree(&path, &to)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
            write_if_new(&to, &text)?;
        }
    }
    Ok(())
}

fn cargo_test(manifest: &Path, place: Place<'_>, args: &[&str]) -> Command {
    let mut command = cargo::cargo("test", manifest);
    command.arg("--target-dir").arg(place.target_dir).args(args);
    // As for the other tests, so that heist is compiled once for all.
    command.env("RUSTFLAGS", cargo::lenient_flags());
    command
}

fn run_unit(manifest: &Path, place: Place<'_>, limits: Limits) -> Result<Vec<TestResult>, Error> {
    let args = ["--lib", "--no-run", "--message-format", "json"];
    let program = cargo::unit_program(cargo_test(manifest, place, &args))?;
    let root = manifest.parent().expect("a manifest is in a directory");
    let program = Program::new(&program, root, &place.logs.join(UNIT));
    let ran = program.run(limits, |_| false).map_err(Error::file("run", manifest))?;
    Ok(ran.tests)
}

/// Cargo compiles and runs them in one go.
fn run_doc(manifest: &Path, place: Place<'_>, limits: Limits) -> Result<Vec<TestResult>, Error> {
    let limit = limits.file * DOC_PATIENCE;
    let log = place.logs.join(DOC);
    let run = |args: &[&str], limit: Duration| {
        process::run(&mut cargo_test(manifest, place, args), limit, &log)
            .map_err(Error::file("run", manifest))
    };
    let listing = run(&["--doc", "--", "--list", "--format", "terse"], limit)?;
    if listing.ending != Ending::Exit(0) {
        return Err(Error::Cargo { doing: "list the examples", said: listing.stderr });
    }
    let names = libtest::listed(&listing.stdout);
    let finished = run(&["--doc"], limit)?;
    let mut results = libtest::reported(&finished.stdout, &names);
    for name in &names {
        if !results.iter().any(|result| result.name == *name) {
            let message = format!("not done after {} s", limit.as_secs());
            results.push(TestResult::new(name, TestStatus::Timeout).with_message(message));
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_tests_see_the_public_names() {
        let text = "use crate::unwind;\nuse super::{spawn, join};\ncrate::registry::in_worker(f);";
        let text = public(text);
        let wanted = "use peer_shims::unwind;\nuse rayon_core::{spawn, join};\n\
                      peer_shims::registry::in_worker(f);";
        assert!(text.starts_with(wanted), "{text}");
        assert!(text.ends_with(SHIMS));
    }
}
