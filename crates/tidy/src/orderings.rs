//! A memory ordering says what it pairs with.
//!
//! An ordering is half of a promise between two places. The comment names the other half, so
//! that nobody weakens one without having seen both.

use std::ops::Range;

use crate::Finding;
use crate::mask::words;
use crate::rust::RustFile;
use crate::tree::Tree;

/// `Relaxed` promises nothing and needs no partner.
const ORDERINGS: [&str; 4] = ["Release", "Acquire", "AcqRel", "SeqCst"];

/// How many lines of code may stand between the comment and the ordering.
const REACH: usize = 6;

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let sources: Vec<_> =
        tree.rust().filter(|f| f.is_crate_source() && !is_facade(f.path)).collect();
    sources.iter().flat_map(judge).collect()
}

/// The facade hands orderings through; it pairs with nothing.
fn is_facade(path: &str) -> bool {
    path.starts_with("crates/heist-sync/")
}

fn judge(file: &RustFile<'_>) -> Vec<Finding> {
    let imports = imports(&file.mask.code);
    let mut findings: Vec<Finding> = Vec::new();
    for (at, word) in words(&file.mask.code) {
        let line = file.line_of(at);
        let is_import = imports.iter().any(|import| import.contains(&at));
        if !ORDERINGS.contains(&word) || is_import || file.is_test_line(line) {
            continue;
        }
        if !names_partner(&file.comments_above(line, REACH, |_| false)) {
            let what = format!("`{word}` does not say what it pairs with");
            let fix = format!("write `// {word}: pairs with …` on the line or above it");
            findings.push(Finding::new(file.path, line, what, fix));
        }
    }
    findings
}

fn names_partner(comments: &str) -> bool {
    let names = |ordering: &&str| comments.contains(&format!("{ordering}:"));
    ORDERINGS.iter().any(names) || words(comments).any(|(_, word)| word == "pairs")
}

/// The spans of `use` declarations; `use<…>` in a bound is none.
fn imports(code: &str) -> Vec<Range<usize>> {
    let uses = words(code).filter(|(_, word)| *word == "use");
    let end = |at: usize| code[at..].find(';').map_or(code.len(), |len| at + len);
    let is_bound = |at: usize| code[at + "use".len()..].trim_start().starts_with('<');
    uses.filter(|(at, _)| !is_bound(*at)).map(|(at, _)| at..end(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|f| f.line).collect()
    }

    fn found(text: &str) -> Vec<usize> {
        found_in("crates/a/src/b.rs", text)
    }

    #[test]
    fn orderings_with_a_partner() {
        for text in [
            "// Release: seen by steal()\na.store(1, Release);",
            "a.load(Ordering::Acquire); // pairs with push()",
            "// AcqRel: x\n// more\na.compare_exchange(\n    b,\n    c,\n    AcqRel,\n    Acquire,\n);",
            "use std::sync::atomic::{\n    Ordering,\n    Ordering::Release,\n};",
            "a.load(Relaxed);",
            "// Acquire\nlet a = \"Acquire\";",
            "#[cfg(test)]\nmod tests {\n    fn f() { a.load(SeqCst); }\n}",
        ] {
            assert_eq!(found(text), [0; 0], "{text}");
        }
    }

    #[test]
    fn orderings_without() {
        assert_eq!(found("a.store(1, Release);"), [1]);
        assert_eq!(found("// Release the claim\na.store(1, Ordering::Release);"), [2]);
        assert_eq!(found("fn f() -> impl A + use<'_> { a.load(Acquire) }"), [1]);
        assert_eq!(found("use a::Release;\nfence(SeqCst);"), [2]);
        assert_eq!(found("assert!(a.load(Acquire));\na.swap(1, AcqRel);"), [1, 2]);
        let far = format!("// Release: x\n{}a.store(1, Release);", "b();\n".repeat(REACH + 1));
        assert_eq!(found(&far), [REACH + 3]);
    }

    #[test]
    fn only_code_of_crates_and_not_the_facade() {
        for path in ["crates/heist-sync/src/lib.rs", "crates/a/tests/b.rs"] {
            assert_eq!(found_in(path, "a.load(SeqCst);"), [0; 0], "{path}");
        }
        assert_eq!(found_in("crates/a/src/async.rs", "a.load(SeqCst);"), [1]);
    }
}
