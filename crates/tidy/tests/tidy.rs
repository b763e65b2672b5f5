//! The rules, held against this repository. One test a rule; each prints every finding.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use tidy::tree::{Tree, workspace_root};
use tidy::{Finding, assert_clean};

fn repository() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| Tree::read(&workspace_root()).expect("the repository can be read"))
}

#[test]
fn invariants_are_named_in_code_and_tests() {
    assert_clean(tidy::invariants::check(repository()));
}

#[test]
fn files_and_functions_are_short() {
    assert_clean(tidy::lengths::check(repository(), tidy::lengths::ALLOWED));
}

#[test]
fn nothing_is_left_over() {
    assert_clean(tidy::leftovers::check(repository()));
}

#[test]
fn links_lead_somewhere() {
    assert_clean(tidy::links::check(repository()));
}

#[test]
fn pages_name_what_is_there() {
    assert_clean(tidy::named::check(repository()));
}

#[test]
fn examples_are_run() {
    assert_clean(tidy::examples::check(repository()));
}

#[test]
fn unsafe_blocks_name_their_invariants() {
    assert_clean(tidy::safety::check(repository()));
}

#[test]
fn orderings_name_their_partners() {
    assert_clean(tidy::orderings::check(repository()));
}

#[test]
fn lines_keep_to_the_columns() {
    assert_clean(tidy::columns::check(repository()));
}

#[test]
fn sentences_need_not_be_read_twice() {
    assert_clean(tidy::english::check(repository()));
}

#[test]
fn pages_are_short() {
    assert_clean(tidy::words::check(repository()));
}

#[test]
fn imports_point_down() {
    assert_clean(tidy::layers::check(repository()));
}

#[test]
fn tuning_constants_are_in_one_place() {
    assert_clean(tidy::constants::check(repository()));
}

#[test]
fn the_page_has_all_tuning_constants() {
    assert_clean(tidy::tuning::check(repository()));
}

/// A check of an empty tree finds nothing wrong: the walk must have found the crates.
#[test]
fn the_walk_reaches_the_crates() {
    for path in ["Cargo.toml", "crates/tidy/src/lib.rs", "crates/tidy/tests/tidy.rs", ".ci/run"] {
        assert!(repository().file(path).is_some(), "{path} was not read");
    }
    assert!(!repository().exists("target") && !repository().exists(".git"));
}

#[test]
fn a_tree_on_disk_is_read_and_judged() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tree");
    fs::remove_dir_all(&root).ok();
    let files: [(&str, &[u8]); 4] = [
        ("README.md", b"[gone](gone.md) [picture](a/b.bin)"),
        ("a/b.bin", &[0xFF, 0xFE]),
        ("target/c.md", b"[gone](gone.md)"),
        (".git/d.md", b"[gone](gone.md)"),
    ];
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let findings = tidy::links::check(&Tree::read(&root).unwrap());
    let places: Vec<_> = findings.iter().map(|f| (f.path.as_str(), f.line)).collect();
    assert_eq!(places, [("README.md", 1)]);
}

#[test]
#[should_panic(expected = "findings: 2\na.rs:1: x\n    to do: y\nb.rs:7: x\n    to do: y")]
fn every_finding_is_printed() {
    let finding = |path, line| Finding::new(path, line, "x", "y");
    assert_clean(vec![finding("b.rs", 7), finding("a.rs", 1)]);
}
