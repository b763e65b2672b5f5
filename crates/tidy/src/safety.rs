//! An unsafe block says which invariant makes it right.
//!
//! Clippy asks for a `// SAFETY:` comment. This asks for what the comment leans on: the id of
//! an invariant, `FFI` for the contract of a foreign function, or `type` for a fact that the
//! types alone establish.

use std::collections::BTreeSet;

use crate::Finding;
use crate::ids::named_in;
use crate::mask::words;
use crate::rust::RustFile;
use crate::tree::Tree;

/// How many lines of code may stand between the comment and the block, for statements that
/// start before it.
const REACH: usize = 8;

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let sources: Vec<_> = tree.rust().filter(RustFile::is_crate_source).collect();
    sources.iter().flat_map(judge).collect()
}

fn judge(file: &RustFile<'_>) -> Vec<Finding> {
    let sites = sites(&file.mask.code);
    let lines: BTreeSet<usize> = sites.iter().map(|at| file.line_of(*at)).collect();
    let mut findings = Vec::new();
    for &line in &lines {
        // The comment of the block before is not this one's.
        let comments = file.comments_above(line, REACH, |above| lines.contains(&above));
        let fix = "write `// SAFETY: (Q1) …` above it, with the ids that make it right, \
                   or `(FFI)`, or `(type)`";
        match comments.rfind("SAFETY").map(|at| leans_on_something(&comments[at..])) {
            Some(true) => {}
            Some(false) => {
                let what = "the SAFETY comment names no invariant";
                findings.push(Finding::new(file.path, line, what, fix));
            }
            None => {
                let what = "`unsafe` without a SAFETY comment";
                findings.push(Finding::new(file.path, line, what, fix));
            }
        }
    }
    findings
}

/// Where unsafe blocks and unsafe impls begin.
fn sites(code: &str) -> Vec<usize> {
    let found = words(code).filter(|(at, word)| {
        let after = code[at + word.len()..].trim_start();
        *word == "unsafe" && (after.starts_with('{') || after.starts_with("impl"))
    });
    found.map(|(at, _)| at).collect()
}

/// Whether a comment reads `SAFETY: (…)` with an id, `FFI` or `type` in the parentheses.
fn leans_on_something(comment: &str) -> bool {
    let Some(rest) = comment.strip_prefix("SAFETY: (") else { return false };
    let Some((inside, _)) = rest.split_once(')') else { return false };
    !named_in(inside).is_empty() || words(inside).any(|(_, word)| matches!(word, "FFI" | "type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("crates/a/src/b.rs", text)])).iter().map(|f| f.line).collect()
    }

    #[test]
    fn comments_that_lean_on_something() {
        for text in [
            "// SAFETY: (Q1) x\nunsafe { a() }",
            "// SAFETY: (Q3–Q7, T2) x\n// and more\nlet a =\n    unsafe { a() };",
            "// SAFETY: (FFI) x\nunsafe\n{ a() }",
            "// SAFETY: (type) x\nunsafe impl<T> Send for A<T> {}",
            "// SAFETY: (the caller's promise,\n// Q1) x\nunsafe { a() }",
            "let a = unsafe { a() }; // SAFETY: (Q1) x",
            "unsafe fn a() {}\nunsafe trait B {}\nunsafe extern \"C\" {}",
            "// an unsafe { block }\nlet a = \"unsafe { x }\";",
        ] {
            assert_eq!(found(text), [0; 0], "{text}");
        }
    }

    #[test]
    fn comments_that_do_not() {
        assert_eq!(found("unsafe { a() }"), [1]);
        assert_eq!(found("\nunsafe impl Send for A {}"), [2]);
        assert_eq!(found("// SAFETY: x (Q1)\nunsafe { a() }"), [2]);
        assert_eq!(found("// SAFETY: (sure) x\nunsafe { a() }"), [2]);
        assert_eq!(found("// SAFETY: (Q1) x\n// SAFETY: y\nunsafe { a() }"), [3]);
        assert_eq!(found("// SAFETY: (Q1) x\nunsafe { a() };\nunsafe { b() };"), [3]);
        assert_eq!(found("macro_rules! m { () => { unsafe { a() } } }"), [1]);
    }

    #[test]
    fn a_comment_far_away_is_another_ones() {
        let far = |lines| format!("// SAFETY: (Q1) x\n{}unsafe {{ a() }}", "b();\n".repeat(lines));
        assert_eq!(found(&far(REACH)), [0; 0]);
        assert_eq!(found(&far(REACH + 1)), [REACH + 3]);
    }
}
