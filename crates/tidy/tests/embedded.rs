//! What the README tells users to write in their manifests works for a clone of this repository
//! inside of a cargo workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tidy::tree::workspace_root;

/// The lines of the README.
const DEPENDENCY: &str =
    r#"tokio = { package = "heist", path = "heist/crates/heist", features = ["full"] }"#;
const EXCLUDE: &str = r#"exclude = ["heist"]"#;
const PATCH: &str = "[patch.crates-io]\nrayon-core = { path = \"heist/compat/rayon-core\" }\n";

#[test]
fn the_readme_says_so() {
    let readme = fs::read_to_string(workspace_root().join("README.md")).expect("it is there");
    for line in [DEPENDENCY, EXCLUDE, PATCH] {
        assert!(readme.contains(line), "the README does not have: {line}");
    }
}

#[test]
fn a_workspace_may_have_a_clone_in_it() {
    let package = format!(
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{DEPENDENCY}\n"
    );
    let of_member = package.replace("\"heist/crates", "\"../heist/crates");
    for patch in ["", PATCH] {
        let root = place("root");
        write_package(&root, &format!("{package}\n[workspace]\n{EXCLUDE}\n\n{patch}"));
        assert_loads(&root);

        let root = place("members");
        fs::create_dir(root.join("app")).expect("a new directory");
        write_package(&root.join("app"), &of_member);
        let workspace =
            format!("[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n{EXCLUDE}\n\n{patch}");
        fs::write(root.join("Cargo.toml"), workspace).expect("it can be written");
        assert_loads(&root);
    }
}

/// An empty directory with this repository in it, as `heist`.
fn place(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("embedded-{name}"));
    // What is left of the last run.
    let _ = fs::remove_dir_all(&root);
    fs::create_dir(&root).expect("a new directory");
    symlink(workspace_root(), root.join("heist")).expect("a new link");
    root
}

fn write_package(directory: &Path, manifest: &str) {
    fs::write(directory.join("Cargo.toml"), manifest).expect("it can be written");
    fs::create_dir(directory.join("src")).expect("a new directory");
    fs::write(directory.join("src/main.rs"), "fn main() {}\n").expect("it can be written");
}

/// Without the network, and without what else a build would need.
fn assert_loads(root: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root);
    let output = cargo.output().expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "in {}: {said}", root.display());
    let found = String::from_utf8_lossy(&output.stdout);
    assert!(found.contains("\"app\""), "{found}");
}
