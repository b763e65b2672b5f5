//! The files of the repository, or of a made-up one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use crate::rust::{Parts, RustFile};

/// A text file and where it is.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// The path from the root, with `/` between the parts.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// Every file of a repository: text files with what they say, others by name only.
#[derive(Debug, Default)]
pub struct Tree {
    files: Vec<TextFile>,
    paths: BTreeSet<String>,
    /// The parts of each Rust file, in order, computed once for all checks.
    rust: OnceLock<Vec<Parts>>,
}

/// The root of this workspace: two levels above this crate.
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("tidy lives in crates/tidy").to_path_buf()
}

impl Tree {
    /// Reads everything below `root`, except what git keeps for itself and what cargo builds.
    pub fn read(root: &Path) -> io::Result<Tree> {
        let mut tree = Tree::default();
        tree.read_dir(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// A tree made of the given paths and texts, for the tests of the checks.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.add(path.to_string(), text.to_string());
        }
        tree
    }

    /// All text files, in the order of their paths.
    pub fn files(&self) -> &[TextFile] {
        &self.files
    }

    /// The text file at `path`.
    pub fn file(&self, path: &str) -> Option<&TextFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The text files whose name ends in `suffix`.
    pub fn with_suffix<'a>(&'a self, suffix: &'a str) -> impl Iterator<Item = &'a TextFile> {
        self.files.iter().filter(move |file| file.path.ends_with(suffix))
    }

    /// All Rust files, taken apart.
    pub fn rust(&self) -> impl Iterator<Item = RustFile<'_>> {
        let files = || self.with_suffix(".rs");
        let parts = self.rust.get_or_init(|| files().map(|file| Parts::of(&file.text)).collect());
        files()
            .zip(parts)
            .map(|(file, parts)| RustFile::with_parts(&file.path, &file.text, parts.clone()))
    }

    /// Whether `path` is a file, text or not, or a directory with files in it.
    pub fn exists(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty()
            || self.paths.contains(path)
            || self.paths.range(inside.clone()..).next().is_some_and(|p| p.starts_with(&inside))
    }

    fn add(&mut self, path: String, text: String) {
        self.paths.insert(path.clone());
        self.files.push(TextFile { path, text });
    }

    fn read_dir(&mut self, dir: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if is_skipped(&name) {
                continue;
            } else if kind.is_dir() {
                self.read_dir(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                // What is not UTF-8 is no text; it can still be linked to.
                match String::from_utf8(fs::read(entry.path())?) {
                    Ok(text) => self.add(path, text),
                    Err(_) => drop(self.paths.insert(path)),
                }
            } else {
                // A symbolic link may lead in a circle: it counts by name only.
                self.paths.insert(path);
            }
        }
        Ok(())
    }
}

fn is_skipped(name: &str) -> bool {
    name == ".git" || name == "target" || name.starts_with("target-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_files_and_directories() {
        let tree = Tree::of(&[("a/b/c.md", ""), ("a-z", "")]);
        for there in ["a", "a/b", "a/b/c.md", "a-z", ""] {
            assert!(tree.exists(there), "{there}");
        }
        for absent in ["a/c", "b", "a/b/c", "a-"] {
            assert!(!tree.exists(absent), "{absent}");
        }
    }

    #[test]
    fn skips_what_is_built() {
        for name in [".git", "target", "target-tsan"] {
            assert!(is_skipped(name), "{name}");
        }
        for name in [".ci", "targets", "src", ".gitignore"] {
            assert!(!is_skipped(name), "{name}");
        }
    }
}
