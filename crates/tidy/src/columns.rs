//! Lines of Rust and of prose keep to 100 columns.
//!
//! Exempt is what cannot be wrapped: string literals, code and tables in prose, destinations of
//! links, and a line that is one long word.

use crate::Finding;
use crate::allowed::forgive;
use crate::prose::{of_comments, of_page};
use crate::rust::RustFile;
use crate::tree::Tree;

/// What is still longer.
pub const ALLOWED: &str = "crates/tidy/allowed/columns.txt";

const COLUMNS: usize = 100;

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |path: &str, number: usize, columns: usize| {
        let what = format!("a line of {columns} columns");
        findings.push(Finding::new(path, number, what, format!("wrap it at {COLUMNS}")));
    };
    for file in tree.rust() {
        for (number, columns) in long_in_rust(&file) {
            add(file.path, number, columns);
        }
    }
    for file in tree.with_suffix(".md") {
        for line in of_page(file).iter().flatten().filter(|line| can_wrap(&line.text)) {
            add(&file.path, line.number, line.text.chars().count());
        }
    }
    forgive(tree, ALLOWED, findings)
}

/// The lines that are too long, with their columns.
fn long_in_rust(file: &RustFile<'_>) -> Vec<(usize, usize)> {
    let prose: Vec<usize> = of_comments(file).iter().flatten().map(|line| line.number).collect();
    let parts = file.text.lines().zip(file.mask.comments.lines()).zip(file.mask.strings.lines());
    let mut found = Vec::new();
    for (index, ((line, comment), string)) in parts.enumerate() {
        let (number, columns) = (index + 1, line.chars().count());
        let is_long = if comment.trim().is_empty() {
            columns - string.chars().filter(|c| *c != ' ').count() > COLUMNS
        } else {
            prose.contains(&number) && can_wrap(line)
        };
        if columns > COLUMNS && is_long {
            found.push((number, columns));
        }
    }
    found
}

/// Whether a line is too long, and has a blank at which it could be wrapped.
fn can_wrap(line: &str) -> bool {
    if line.chars().count() <= COLUMNS {
        return false;
    }
    let bare = line.trim_start().trim_start_matches(['/', '!', '-', '*', '>', '#']).trim_start();
    let indent = line.chars().count() - bare.chars().count();
    let bare = without_destinations(bare);
    let is_one_word = !bare.trim_end().contains(' ');
    indent + bare.chars().count() > COLUMNS && !is_one_word
}

/// The text without what stands in the parentheses of links.
fn without_destinations(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + "](" + part.find(')').map_or(part, |end| &part[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn long_lines_are_found() {
        let words = "word ".repeat(21);
        assert_eq!(found("a.rs", &format!("fn f() {{}}\n// {words}")), [2]);
        assert_eq!(found("a.rs", &format!("/// {words}\nfn f() {{}}")), [1]);
        assert_eq!(found("a.rs", &format!("f({})", "a, ".repeat(40))), [1]);
        assert_eq!(found("a.md", &format!("x\n\n- {words}")), [3]);
        let at_the_limit = format!("{}x", "word ".repeat(20));
        assert_eq!(found("a.md", &at_the_limit), [1]);
        assert_eq!(found("a.md", &at_the_limit[1..]), [0; 0]);
    }

    #[test]
    fn what_cannot_be_wrapped_is_exempt() {
        let (words, long) = ("word ".repeat(21), "x".repeat(120));
        assert_eq!(found("a.md", &format!("```\n{words}\n```\n| {words} |")), [0; 0]);
        assert_eq!(found("a.md", &format!("- {long}\nhttps://{long}")), [0; 0]);
        assert_eq!(found("a.md", &format!("see [the page](https://{long}) of it")), [0; 0]);
        assert_eq!(found("a.rs", &format!("/// ```\n/// {words}\n/// ```\nfn f() {{}}")), [0; 0]);
        assert_eq!(found("a.rs", &format!("/// | {words} |\nfn f() {{}}")), [0; 0]);
        assert_eq!(found("a.rs", &format!("f(\"{words}{long}\")")), [0; 0]);
        assert_eq!(found("a.toml", &words), [0; 0]);
    }

    #[test]
    fn the_list_forgives() {
        let text = format!("// {}", "word ".repeat(21));
        let files = [("a.rs", text.as_str()), (ALLOWED, "1 a.rs\n")];
        assert!(check(&Tree::of(&files)).is_empty());
    }
}
