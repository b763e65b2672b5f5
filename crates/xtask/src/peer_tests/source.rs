//! The published package of a peer, tests and all, as cargo unpacked it.

use std::fs;
use std::path::{Path, PathBuf};

use super::cargo::{self, Package};
use super::error::Error;

/// The peer's package.
#[derive(Debug)]
pub struct Source {
    pub package: Package,
    /// Where its test files are.
    pub tests: PathBuf,
    /// The packages that it depends on.
    pub others: Vec<Package>,
}

impl Source {
    /// Has cargo get the package: the given version, or the newest.
    pub fn get(peer: &str, version: Option<&str>, scratch: &Path) -> Result<Source, Error> {
        let directory = scratch.join("source");
        let manifest = directory.join("Cargo.toml");
        let write =
            |path: &Path, text: &str| fs::write(path, text).map_err(Error::file("write", path));
        fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        write(&manifest, &manifest_text(peer, version))?;
        write(&directory.join("lib.rs"), "")?;
        if version.is_none() {
            // A lock file would keep what was newest before.
            fs::remove_file(directory.join("Cargo.lock")).ok();
        }
        let metadata = cargo::metadata(&manifest, &[], "get the peer's package")?;
        let mut others = metadata.packages;
        let index = others.iter().position(|package| package.name == peer);
        let package = others.swap_remove(index.expect("cargo resolves what is depended on"));
        Ok(Source { tests: package.root().join("tests"), package, others })
    }

    /// The names of the test files, without `.rs`, in alphabetical order.
    pub fn test_files(&self) -> Result<Vec<String>, Error> {
        rust_files(&self.tests)
    }
}

/// The names of the Rust files in a directory, without `.rs`, in alphabetical order.
pub fn rust_files(directory: &Path) -> Result<Vec<String>, Error> {
    let unreadable = || Error::file("read", directory);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable())? {
        let path = entry.map_err(unreadable())?.path();
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        if let Some(stem) = path.file_stem().filter(|_| is_rust && path.is_file()) {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn manifest_text(peer: &str, version: Option<&str>) -> String {
    let requirement = version.map_or("*".to_owned(), |version| format!("={version}"));
    format!(
        "[package]\nname = \"peer-source\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
         [lib]\npath = \"lib.rs\"\n\n[workspace]\n\n\
         [dependencies.{peer}]\nversion = \"{requirement}\"\ndefault-features = false\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_asks_for_the_version() {
        for (version, wanted) in [(Some("1.2.3"), "=1.2.3"), (None, "*")] {
            let manifest: toml::Table = manifest_text("tokio", version).parse().unwrap();
            assert_eq!(manifest["dependencies"]["tokio"]["version"].as_str(), Some(wanted));
        }
    }
}
