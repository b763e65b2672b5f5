//! The package in which the peer's tests are compiled against something else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::cargo::{Dependency, Package};
use super::error::Error;
use super::source::Source;

/// What the tests are compiled against, under the peer's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Against {
    /// This workspace's crate.
    Heist,
    /// The peer itself: whatever does not pass then, is not heist's fault.
    Peer,
}

impl Against {
    /// The crate's name.
    pub fn name(self, peer: &'static str) -> &'static str {
        match self {
            Against::Heist => "heist",
            Against::Peer => peer,
        }
    }
}

/// The features that Tokio's tests ask for with `#![cfg(feature = …)]`. Without them the files are
/// empty and pass.
const FEATURES: [&str; 2] = ["full", "test-util"];

/// A test that is added to each file. It is there if the file is not cut down to nothing by its
/// own `#![cfg]`.
pub const PROBE: &str = "peer_tests_probe";

/// A package with the peer's test files in it.
#[derive(Debug)]
pub struct Scratch {
    pub root: PathBuf,
}

impl Scratch {
    /// Writes the package. `workspace` is where this repository is.
    pub fn create(
        root: PathBuf,
        source: &Source,
        files: &[String],
        against: Against,
        workspace: &Path,
    ) -> Result<Scratch, Error> {
        let tests = root.join("tests");
        for directory in [root.join("src"), tests.clone()] {
            fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        }
        copy_directories(&source.tests, &tests)?;
        let scratch = Scratch { root };
        write_if_new(&scratch.root.join("src/lib.rs"), "")?;
        let texts = read_all(&source.tests)?;
        let subject = subject(against, &source.package, workspace);
        let mut manifest = manifest(&source.package, subject, files, &texts);
        if let Some(patch) = patch(against, &source.package, workspace) {
            manifest.insert("patch".into(), patch.into());
        }
        write_if_new(&scratch.manifest(), &manifest.to_string())?;
        // The dependencies of heist are then those that it is tested with elsewhere.
        let lock = scratch.root.join("Cargo.lock");
        let known = workspace.join("Cargo.lock");
        if !lock.exists() && known.exists() {
            fs::copy(&known, &lock).map_err(Error::file("copy", &known))?;
        }
        Ok(scratch)
    }

    /// Its manifest.
    pub fn manifest(&self) -> PathBuf {
        self.root.join("Cargo.toml")
    }

    /// Writes the text of a test file, with the probe at its end.
    pub fn write_test(&self, name: &str, text: &str) -> Result<(), Error> {
        let probe = format!("\n#[::core::prelude::v1::test]\nfn {PROBE}() {{}}\n");
        write_if_new(&self.root.join(format!("tests/{name}.rs")), &format!("{text}{probe}"))
    }
}

/// Keeps the time of a file that does not change, so that cargo does not build it again.
pub fn write_if_new(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(Error::file("write", path))
}

/// The modules that test files share are in directories.
fn copy_directories(from: &Path, to: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(from).map_err(Error::file("read", from))? {
        let path = entry.map_err(Error::file("read", from))?.path();
        if path.is_dir() {
            let name = path.file_name().expect("an entry of a directory has a name");
            let to = to.join(name);
            fs::create_dir_all(&to).map_err(Error::file("create", &to))?;
            for entry in fs::read_dir(&path).map_err(Error::file("read", &path))? {
                let entry = entry.map_err(Error::file("read", &path))?;
                if entry.path().is_file() {
                    let text = fs::read_to_string(entry.path());
                    let text = text.map_err(Error::file("read", entry.path()))?;
                    write_if_new(&to.join(entry.file_name()), &text)?;
                }
            }
            copy_directories(&path, &to)?;
        }
    }
    Ok(())
}

/// All files below a directory, in one.
fn read_all(directory: &Path) -> Result<String, Error> {
    let mut texts = String::new();
    for entry in fs::read_dir(directory).map_err(Error::file("read", directory))? {
        let path = entry.map_err(Error::file("read", directory))?.path();
        texts += &if path.is_dir() {
            read_all(&path)?
        } else {
            fs::read_to_string(&path).map_err(Error::file("read", &path))?
        };
    }
    Ok(texts)
}

/// The entry for the crate under test.
fn subject(against: Against, peer: &Package, workspace: &Path) -> Table {
    let mut entry = Table::new();
    if against == Against::Heist && peer.name == "tokio" {
        let path = workspace.join("crates/heist");
        entry.insert("package".into(), "heist".into());
        entry.insert("path".into(), path.to_string_lossy().into_owned().into());
    } else {
        entry.insert("version".into(), format!("={}", peer.version).into());
    }
    if peer.name == "tokio" {
        entry.insert("features".into(), FEATURES.map(Value::from).to_vec().into());
    }
    entry
}

/// What is replaced below the peer: rayon is the same, on another rayon-core.
pub fn patch(against: Against, peer: &Package, workspace: &Path) -> Option<Table> {
    let path = workspace.join("compat/rayon-core").to_string_lossy().into_owned();
    let entry = Table::from_iter([("path".to_owned(), path.into())]);
    let packages = Table::from_iter([("rayon-core".to_owned(), entry.into())]);
    let is_patched = against == Against::Heist && peer.name == "rayon";
    is_patched.then(|| Table::from_iter([("crates-io".to_owned(), packages.into())]))
}

fn manifest(peer: &Package, subject: Table, files: &[String], texts: &str) -> Table {
    let mut package = Table::new();
    package.insert("name".into(), format!("{}-tests", peer.name).into());
    package.insert("version".into(), "0.0.0".into());
    package.insert("edition".into(), peer.edition.clone().into());
    // A test reads its own manifest and looks for this.
    if let Some(homepage) = &peer.homepage {
        package.insert("homepage".into(), homepage.clone().into());
    }
    package.insert("publish".into(), false.into());
    package.insert("autotests".into(), false.into());

    let mut profile = Table::new();
    profile.insert("debug".into(), "line-tables-only".into());
    if peer.name == "rayon" {
        // Its tests compute much, and deep.
        profile.insert("opt-level".into(), 1.into());
    }

    let test = |name: &String| {
        let mut test = Table::new();
        test.insert("name".into(), name.clone().into());
        test.insert("path".into(), format!("tests/{name}.rs").into());
        Value::from(test)
    };
    let mut manifest = dependencies(peer, subject, texts);
    manifest.insert("package".into(), package.into());
    manifest.insert("workspace".into(), Table::new().into());
    manifest.insert("features".into(), features(peer).into());
    manifest
        .insert("profile".into(), Table::from_iter([("dev".to_owned(), profile.into())]).into());
    manifest.insert("test".into(), files.iter().map(test).collect::<Vec<_>>().into());
    manifest
}

/// The peer's features, which mean nothing here but that they are on.
fn features(peer: &Package) -> Table {
    let mut features = Table::new();
    for (name, implied) in &peer.features {
        let implied = implied.iter().filter(|name| peer.features.contains_key(*name));
        features.insert(name.clone(), implied.cloned().collect::<Vec<_>>().into());
    }
    let known = FEATURES.into_iter().filter(|name| peer.features.contains_key(*name));
    features.insert("default".into(), known.collect::<Vec<_>>().into());
    features
}

/// The dependencies of the tests besides the crate under test: those of the peer that the texts
/// name. The tests see the peer's dependencies and its dev-dependencies.
fn dependencies(peer: &Package, subject: Table, texts: &str) -> Table {
    let mut general = Table::new();
    general.insert(peer.name.clone(), subject.into());
    let mut special = Table::new();
    let mut taken = BTreeSet::new();
    for kind in [Some("dev"), None] {
        let of_kind = peer.dependencies.iter().filter(|other| other.kind.as_deref() == kind);
        let wanted: Vec<&Dependency> = of_kind
            .filter(|other| is_named(texts, &other.name) && !taken.contains(&other.name))
            .collect();
        for other in wanted {
            taken.insert(other.name.clone());
            let table = match &other.target {
                None => &mut general,
                Some(target) => section(section(&mut special, target), "dev-dependencies"),
            };
            table.insert(other.name.clone(), entry(other).into());
        }
    }
    let mut manifest = Table::new();
    manifest.insert("dev-dependencies".into(), general.into());
    manifest.insert("target".into(), special.into());
    manifest
}

fn section<'t>(table: &'t mut Table, name: &str) -> &'t mut Table {
    let section = table.entry(name).or_insert_with(|| Table::new().into());
    section.as_table_mut().expect("only tables are put in here")
}

/// Whether `use name::…` or `name::…` may stand in the texts.
fn is_named(texts: &str, name: &str) -> bool {
    let path = format!("{}::", name.replace('-', "_"));
    let starts_a_word =
        |at: usize| !texts[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    texts.match_indices(&path).any(|(at, _)| starts_a_word(at))
}

fn entry(dependency: &Dependency) -> Table {
    let mut entry = Table::new();
    entry.insert("version".into(), dependency.req.clone().into());
    entry.insert("default-features".into(), dependency.uses_default_features.into());
    entry.insert("features".into(), dependency.features.clone().into());
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(name: &str, kind: Option<&str>, target: Option<&str>) -> Dependency {
        Dependency {
            name: name.into(),
            req: "^1".into(),
            kind: kind.map(str::to_owned),
            uses_default_features: kind.is_some(),
            features: vec!["x".into()],
            target: target.map(str::to_owned),
        }
    }

    fn peer() -> Package {
        let features = [
            ("full", vec!["net", "bytes"]),
            ("net", vec!["dep:mio", "mio/os-poll"]),
            ("test-util", vec![]),
        ];
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        Package {
            name: "tokio".into(),
            version: "1.2.3".into(),
            edition: "2021".into(),
            homepage: Some("https://tokio.rs".into()),
            manifest_path: PathBuf::new(),
            features: features.map(|(name, implied)| (name.to_owned(), owned(implied))).into(),
            dependencies: vec![
                dependency("bytes", None, None),
                dependency("mio", None, None),
                dependency("tokio-test", Some("dev"), None),
                dependency("libc", Some("dev"), Some("cfg(unix)")),
                dependency("libc", None, Some("cfg(other)")),
                dependency("mockall", Some("dev"), None),
            ],
        }
    }

    fn made(against: Against) -> Table {
        let texts = "use tokio_test::x;\nlibc::y(); bytes::Bytes; not_mockall::z";
        let subject = subject(against, &peer(), Path::new("root"));
        let made = manifest(&peer(), subject, &["a".to_owned(), "b".to_owned()], texts);
        made.to_string().parse().unwrap()
    }

    #[test]
    fn the_subject_has_the_peers_name() {
        let heist = &made(Against::Heist)["dev-dependencies"]["tokio"];
        assert_eq!(heist["package"].as_str(), Some("heist"));
        assert_eq!(heist["path"].as_str(), Some("root/crates/heist"));
        let tokio = &made(Against::Peer)["dev-dependencies"]["tokio"];
        assert_eq!(tokio["version"].as_str(), Some("=1.2.3"));
        for subject in [heist, tokio] {
            assert_eq!(subject["features"], FEATURES.to_vec().into());
        }
    }

    #[test]
    fn heist_knows_the_features() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../heist/Cargo.toml");
        let manifest: Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let known = manifest["features"].as_table().unwrap();
        for name in FEATURES {
            assert!(known.contains_key(name), "{name}");
        }
    }

    #[test]
    fn only_what_is_named_is_depended_on() {
        let made = made(Against::Heist);
        let general = made["dev-dependencies"].as_table().unwrap();
        assert_eq!(general.keys().collect::<Vec<_>>(), ["bytes", "tokio", "tokio-test"]);
        assert_eq!(general["bytes"]["default-features"].as_bool(), Some(false));
        let special = made["target"].as_table().unwrap();
        assert_eq!(special.keys().collect::<Vec<_>>(), ["cfg(unix)"]);
        assert!(special["cfg(unix)"]["dev-dependencies"]["libc"].is_table());
    }

    #[test]
    fn the_features_are_on() {
        let made = made(Against::Heist);
        assert_eq!(made["features"]["default"], FEATURES.to_vec().into());
        assert_eq!(made["features"]["full"], vec!["net"].into());
        assert_eq!(made["features"]["net"], Vec::<Value>::new().into());
    }

    #[test]
    fn every_file_is_a_target_of_its_own() {
        let made = made(Against::Heist);
        let tests = made["test"].as_array().unwrap();
        let paths: Vec<_> = tests.iter().map(|test| test["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["tests/a.rs", "tests/b.rs"]);
        assert_eq!(made["package"]["autotests"].as_bool(), Some(false));
        assert!(made["workspace"].is_table());
    }
}
