//! Numbers that somebody might tune are in a `tuning.rs`, and there are few of them.
//!
//! Elsewhere in the runtime's core a numeric or duration constant says in its comment that it is
//! part of a *layout* or of a *protocol*: then it follows from something else, and no benchmark
//! decides it. One comment may speak for a group of constants without a blank line between them.

use crate::Finding;
use crate::allowed::forgive;
use crate::rust::RustFile;
use crate::tree::Tree;

/// What still has such constants elsewhere.
pub const ALLOWED: &str = "crates/tidy/allowed/constants.txt";

/// All `tuning.rs` together have no more.
const AT_MOST: usize = 30;

const CORE: [&str; 9] = [
    "crates/heist/src/scheduler",
    "crates/heist/src/forkjoin",
    "crates/heist/src/par",
    "crates/heist/src/memory",
    "crates/heist/src/task",
    "crates/heist/src/reactor",
    "crates/heist/src/runtime",
    "crates/heist-deque/src",
    "crates/heist-sync/src",
];

const NUMERIC: [&str; 14] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64",
    "Duration",
];

/// A constant of a file: its line, its name and its value as written.
#[derive(Debug, PartialEq, Eq)]
pub struct Constant {
    /// Counted from 1.
    pub line: usize,
    /// The name, in capitals.
    pub name: String,
    /// What is assigned, with single blanks.
    pub value: String,
}

/// Whether a file has the tuning constants of its crate, or of the scheduler.
pub fn is_tuning(path: &str) -> bool {
    path.ends_with("/src/tuning.rs") || path.ends_with("/src/scheduler/tuning.rs")
}

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let (mut findings, mut tuned) = (Vec::new(), Vec::new());
    for file in tree.rust().filter(|file| is_core(file.path) && !file.is_test()) {
        for constant in of_file(&file) {
            if is_tuning(file.path) {
                tuned.push((file.path.to_owned(), constant));
            } else if !is_explained(&file, constant.line) {
                let what = format!("`{}` may be a tuning constant", constant.name);
                let fix = "move it to tuning.rs, or say of which layout or protocol it is part";
                findings.push(Finding::new(file.path, constant.line, what, fix));
            }
        }
    }
    if let Some((path, constant)) = tuned.get(AT_MOST) {
        let what = format!("{} tuning constants, and {AT_MOST} are allowed", tuned.len());
        findings.push(Finding::new(path, constant.line, what, "do without one"));
    }
    forgive(tree, ALLOWED, findings)
}

fn is_core(path: &str) -> bool {
    let rest = CORE.iter().find_map(|root| path.strip_prefix(root));
    let is_within = rest.is_some_and(|rest| rest.starts_with('/') || rest == ".rs");
    is_within || path == "crates/heist/src/tuning.rs"
}

/// The numeric constants of a file outside of its tests.
pub fn of_file(file: &RustFile<'_>) -> Vec<Constant> {
    let code = file.mask.uncommented();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("const ") {
        let line = file.line_of(at);
        let statement = code[at..].split_inclusive(';').next().unwrap_or_default();
        let is_name = |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_lowercase());
        let read = statement.strip_prefix("const ").and_then(|rest| {
            let (name, rest) = rest.split_once(':')?;
            let (kind, value) = rest.split_once('=')?;
            let kind = kind.trim().rsplit("::").next()?;
            let value: Vec<&str> = value.trim_end_matches(';').split_whitespace().collect();
            let is_one = is_name(name.trim()) && NUMERIC.contains(&kind);
            is_one.then(|| (name.trim().to_owned(), value.join(" ")))
        });
        let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_*<".contains(c));
        if let Some((name, value)) = read.filter(|_| is_word && !file.is_test_line(line)) {
            found.push(Constant { line, name, value });
        }
    }
    found
}

/// Whether the comment of the constant's group says what it is part of.
fn is_explained(file: &RustFile<'_>, line: usize) -> bool {
    let blank = |line: usize| file.text.lines().nth(line - 1).unwrap_or("").trim().is_empty();
    let comments = file.comments_above(line, usize::MAX, blank).to_lowercase();
    comments.contains("layout") || comments.contains("protocol")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE_FILE: &str = "crates/heist/src/scheduler/a.rs";

    fn found(path: &str, text: &str) -> Vec<String> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn constants_without_a_reason_are_found() {
        let what = "`SHORT` may be a tuning constant";
        for text in [
            "// Guessed.\nconst SHORT: Duration = Duration::from_millis(1);",
            "\npub(super) const SHORT: u32 = 3;",
            "impl A {\n    const SHORT: std::time::Duration = X;\n}",
            "// layout\n\n// Guessed.\nconst SHORT: usize =\n    1 << 3;",
        ] {
            let found = found(CORE_FILE, text);
            assert!(found.len() == 1 && found[0].ends_with(what), "{text}: {found:?}");
        }
    }

    #[test]
    fn layouts_and_protocols_are_fine() {
        for text in [
            "// Layout: the low bits.\nconst A: u64 = 1;\nconst B: u64 = 2;",
            "/// The value that the protocol begins with.\n#[cfg(x)]\nconst A: u8 = 1;",
            "const A: &str = \"x\";\nconst fn a() -> u32 { 1 }\nfn f<const N: usize>() {}",
            "#[cfg(test)]\nmod t {\n    const A: u32 = 1;\n}",
        ] {
            assert_eq!(found(CORE_FILE, text), [""; 0], "{text}");
        }
        for path in ["crates/heist/src/net/a.rs", "crates/heist/src/scheduler/tuning.rs"] {
            assert_eq!(found(path, "const A: u32 = 1;"), [""; 0], "{path}");
        }
        assert_eq!(found("crates/heist/src/task/tuning.rs", "const A: u32 = 1;").len(), 1);
    }

    #[test]
    fn there_are_few_to_tune() {
        let many: String = (0..31).map(|n| format!("const A{n}: u32 = 1;\n")).collect();
        let findings = found("crates/heist/src/tuning.rs", &many);
        assert_eq!(findings, ["31: 31 tuning constants, and 30 are allowed"]);
        assert_eq!(found("crates/heist/src/tuning.rs", &many.replace("const A3:", "")), [""; 0]);
    }

    #[test]
    fn values_are_read() {
        let file =
            RustFile::new("a.rs", "pub const A: u32 =\n    1 +\n    2; // x\nconst B: f64 = 1.5;");
        let read: Vec<String> = of_file(&file)
            .into_iter()
            .map(|c| format!("{} {} {}", c.line, c.name, c.value))
            .collect();
        assert_eq!(read, ["1 A 1 + 2", "4 B 1.5"]);
    }
}
