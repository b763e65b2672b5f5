//! Pages keep to the length that their readers have time for.

use crate::Finding;
use crate::allowed::forgive;
use crate::tree::Tree;

/// What is still longer.
pub const ALLOWED: &str = "crates/tidy/allowed/words.txt";

const GLOSSARY: &str = "GLOSSARY.md";
const TERMS: usize = 40;

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_suffix(".md") {
        let words = file.text.split_whitespace().count();
        if let Some(limit) = limit(&file.path).filter(|limit| words > *limit) {
            let what = format!("{words} words, where {limit} have to do");
            findings.push(Finding::new(&file.path, 1, what, "say less, or say it elsewhere"));
        }
    }
    let terms = tree.file(GLOSSARY).map_or(0, |file| terms(&file.text));
    if terms > TERMS {
        let what = format!("{terms} terms, where {TERMS} have to do");
        findings.push(Finding::new(GLOSSARY, 1, what, "use a word of the field, and drop one"));
    }
    forgive(tree, ALLOWED, findings)
}

/// The words that a page may have; `None` if it may have any number.
fn limit(path: &str) -> Option<usize> {
    match path {
        "README.md" => Some(900),
        "ARCHITECTURE.md" => Some(1500),
        "CONTRIBUTING.md" => Some(800),
        _ if path.starts_with("docs/decisions/") => Some(200),
        _ if path.ends_with("/README.md") => Some(1500),
        _ => None,
    }
}

/// The rows of a page's tables, without their heads.
fn terms(text: &str) -> usize {
    let rows = text.lines().filter(|line| line.starts_with('|')).count();
    let rules = text.lines().filter(|line| line.starts_with("|-")).count();
    rows - 2 * rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, words: usize) -> Vec<String> {
        let findings = check(&Tree::of(&[(path, &"word ".repeat(words))]));
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn pages_have_the_limit_of_their_kind() {
        for (path, limit) in [
            ("README.md", 900),
            ("ARCHITECTURE.md", 1500),
            ("CONTRIBUTING.md", 800),
            ("docs/decisions/001-a.md", 200),
            ("crates/a/README.md", 1500),
            ("crates/a/src/ring/README.md", 1500),
        ] {
            assert_eq!(found(path, limit), [""; 0], "{path}");
            let what = format!("{} words, where {limit} have to do", limit + 1);
            assert_eq!(found(path, limit + 1), [what], "{path}");
        }
        assert_eq!(found("CHANGELOG.md", 9000), [""; 0]);
    }

    #[test]
    fn the_glossary_has_few_terms() {
        let page = |terms| format!("# A\n\n| a | b |\n|---|---|\n{}", "| x | y |\n".repeat(terms));
        let check = |terms| check(&Tree::of(&[(GLOSSARY, &page(terms))]));
        assert!(check(TERMS).is_empty());
        assert_eq!(check(TERMS + 1)[0].what, "41 terms, where 40 have to do");
    }
}
