//! A made-up peer's tests, compiled against a made-up heist and run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::cargo::{Order, Package};
use super::compile::compile;
use super::error::Error;
use super::run::Limits;
use super::scratch::{Against, Scratch};
use super::source::Source;
use super::status::{FileStatus, TestStatus};
use super::{FileResult, run_one};

const MIXED: &str = r#"
use tokio::{here, missing};
#[test]
fn works() { assert_eq!(here(), 1); }
#[test]
fn needs_more() { missing(); }
#[test]
fn fails() { assert_eq!(here(), 2, "boom"); }
#[test]
fn takes_all_down() { std::process::abort(); }
"#;

const FILES: [(&str, &str); 4] = [
    ("mixed", MIXED),
    ("checks", "const _: fn() -> u8 = tokio::here;"),
    ("elsewhere", "#![cfg(feature = \"never\")]\n#[test] fn a() {}"),
    ("broken", "mod support;\n#[test] fn a() {}"),
];

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A workspace with a heist in it, and the peer's package.
fn prepare(root: &Path, heist: &str) -> Source {
    let manifest = "[package]\nname = \"heist\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                    [features]\nfull = []\ntest-util = []\n";
    write(root.join("crates/heist/Cargo.toml"), manifest);
    write(root.join("crates/heist/src/lib.rs"), heist);
    for (name, text) in FILES {
        write(root.join(format!("peer/tests/{name}.rs")), text);
    }
    // Not in the test's own file: nothing can be cut.
    write(root.join("peer/tests/support/mod.rs"), "pub use tokio::missing;");
    let package = Package {
        name: "tokio".into(),
        version: "1.0.0".into(),
        edition: "2021".into(),
        homepage: None,
        manifest_path: root.join("peer/Cargo.toml"),
        features: BTreeMap::new(),
        dependencies: vec![],
    };
    Source { package, tests: root.join("peer/tests"), others: vec![] }
}

fn run(root: &Path, heist: &str) -> Result<Vec<FileResult>, Error> {
    let source = prepare(root, heist);
    let files = source.test_files()?;
    assert_eq!(files, ["broken", "checks", "elsewhere", "mixed"]);
    let place = root.join("scratch");
    let scratch = Scratch::create(place.clone(), &source, &files, Against::Heist, root)?;
    let order = Order {
        manifest: &scratch.manifest(),
        target_dir: &root.join("target"),
        subject: "heist",
        unstable: false,
    };
    let compiled = compile(&scratch, &source, &files, order, |_, _| {})?;
    let long = Duration::from_secs(600);
    let limits = Limits { file: long, test: long };
    let hangs = |_: &str, _: &str| false;
    compiled.into_iter().map(|compiled| run_one(compiled, &place, root, limits, hangs)).collect()
}

fn directory(name: &str) -> PathBuf {
    let root = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
    fs::remove_dir_all(&root).ok();
    root
}

#[test]
fn every_file_gets_what_it_deserves() {
    let root = directory("files");
    let results = run(&root, "pub fn here() -> u8 { 1 }").unwrap();
    let statuses: Vec<_> = results.iter().map(|result| result.status).collect();
    let wanted = [FileStatus::NoCompile, FileStatus::Pass, FileStatus::Empty, FileStatus::Fail];
    assert_eq!(statuses, wanted, "{results:?}");
    assert!(results[0].errors[0].contains("missing"), "{results:?}");

    let tests: Vec<_> = results[3].tests.iter().map(|t| (t.name.as_str(), t.status)).collect();
    let wanted = [
        ("fails", TestStatus::Fail),
        ("takes_all_down", TestStatus::Fail),
        ("works", TestStatus::Pass),
        ("needs_more", TestStatus::NoCompile),
    ];
    assert_eq!(tests, wanted);
    let said: Vec<&str> = results[3].tests.iter().map(|test| test.message.as_str()).collect();
    assert!(said[0].contains("boom") && said[1].contains("signal 6"), "{said:?}");
    assert!(said[3].contains("missing"), "{said:?}");
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_heist_that_does_not_compile_is_told_apart() {
    let root = directory("broken");
    let error = run(&root, "pub fn here() -> u8 { 1.5 }").unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let text = error.to_string();
    assert!(text.contains("mismatched types") && text.contains("heist does not compile"), "{text}");
    fs::remove_dir_all(root).unwrap();
}
