//! Nothing unfinished, and no path of somebody's machine.

use crate::Finding;
use crate::mask::{line_of, words};
use crate::rust::RustFile;
use crate::tree::Tree;

/// Macros that mark unfinished work, or print while it is being done.
const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Words that put work off. String literals are not searched, so these need no disguise.
const WORDS: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// First parts of absolute paths that mean something on one machine only. The slashes are
/// added when they are searched for: this file is searched too.
const MACHINE_DIRECTORIES: [&str; 4] = ["work", "root", "tmp", "home"];

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let unfinished = tree.rust().flat_map(|file| unfinished(&file)).collect::<Vec<_>>();
    let paths = tree.files().iter().flat_map(|file| machine_paths(&file.path, &file.text));
    unfinished.into_iter().chain(paths).collect()
}

/// Looks at code and comments; examples in doc comments count.
fn unfinished(file: &RustFile<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |at: usize, what: String, fix: &str| {
        findings.push(Finding::new(file.path, file.line_of(at), what, fix));
    };
    for channel in [&file.mask.code, &file.mask.comments] {
        for (at, word) in words(channel) {
            if MACROS.contains(&word) && channel[at + word.len()..].starts_with('!') {
                add(at, format!("`{word}!` is left over"), "finish the work or take it out");
            } else if WORDS.contains(&word) {
                add(at, format!("{word} is left over"), "do it now, or open an issue");
            }
        }
    }
    for (at, attribute) in file.mask.code.match_indices("#[ignore") {
        let what = format!("`{attribute}]`: a test that never runs");
        add(at, what, "make it run or take it out");
    }
    findings
}

fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for directory in MACHINE_DIRECTORIES {
        let needle = format!("/{directory}/");
        for (at, _) in text.match_indices(&needle) {
            // After a name or a dot it is the middle of a path, and that is relative.
            let is_middle = |c: char| c.is_alphanumeric() || "_.-}*".contains(c);
            if !text[..at].ends_with(is_middle) {
                let what = format!("`{needle}` is a path of one machine");
                let fix = "write it relative to the repository, or make it a setting";
                findings.push(Finding::new(path, line_of(text, at), what, fix));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.into_iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    #[test]
    fn unfinished_work_is_found() {
        for (text, what) in [
            ("fn f() {\n    todo!()\n}", "2: `todo!` is left over"),
            ("fn f() { unimplemented!(\"x\") }", "1: `unimplemented!` is left over"),
            ("fn f() { dbg!(1); }", "1: `dbg!` is left over"),
            ("/// ```\n/// todo!()\n/// ```\nfn f() {}", "2: `todo!` is left over"),
            ("// TODO: x", "1: TODO is left over"),
            ("/* a\nFIXME */", "2: FIXME is left over"),
            ("fn f() {} // XXX", "1: XXX is left over"),
            ("#[test]\n#[ignore]\nfn f() {}", "2: `#[ignore]`: a test that never runs"),
            ("#[ignore = \"slow\"]\nfn f() {}", "1: `#[ignore]`: a test that never runs"),
        ] {
            assert_eq!(found("crates/a/src/b.rs", text), [what], "{text}");
        }
    }

    #[test]
    fn strings_and_longer_words_are_not() {
        for text in ["fn f() { g(\"TODO todo!()\") }", "// TODOS", "fn todo() {}", "// todo"] {
            assert_eq!(found("crates/a/src/b.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn machine_paths_are_found_in_every_text_file() {
        for directory in MACHINE_DIRECTORIES {
            for path in ["a.md", "a.rs", "a.toml", ".ci/run", "scripts/a"] {
                let text = format!("x\n\"/{directory}/y\"");
                let what = format!("2: `/{directory}/` is a path of one machine");
                assert_eq!(found(path, &text), [what], "{path}");
            }
            for text in ["src/{}/a", "./{}/a", "$DIR/{}/a", "${DIR}/{}/a", "/{}"] {
                assert_eq!(found("a.md", &text.replace("{}", directory)), [""; 0], "{text}");
            }
        }
    }
}
