//! A function or a type that a page names in front of a link to its file is in that file.
//!
//! Pages walk through the code: "`Seat::wake` (\[scheduler/seats.rs\](…))". A name that has changed
//! since would lead readers astray.

use crate::Finding;
use crate::links::resolve;
use crate::mask::{line_of, words};
use crate::tree::{TextFile, Tree};

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_suffix(".md").flat_map(|page| of_page(tree, page)).collect()
}

fn of_page(tree: &Tree, page: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, _) in page.text.match_indices("](") {
        let rest = &page.text[at + 2..];
        let destination = &rest[..rest.find(')').unwrap_or(rest.len())];
        let file = resolve(&page.path, destination).and_then(|path| tree.file(&path));
        let (Some(name), Some(file)) = (name_before(&page.text[..at]), file) else { continue };
        if file.path.ends_with(".rs") && !words(&file.text).any(|(_, word)| word == name) {
            let what = format!("there is no `{name}` in {}", file.path);
            let fix = "name the function as it is called now, or link to its file";
            findings.push(Finding::new(&page.path, line_of(&page.text, at), what, fix));
        }
    }
    findings
}

/// The last segment of the path in backticks before a link in parentheses, whose text ends `text`.
fn name_before(text: &str) -> Option<&str> {
    let open = text.rfind('[')?;
    let before = text[..open].trim_end().strip_suffix('(')?.trim_end().strip_suffix('`')?;
    let path = &before[before.rfind('`')? + 1..];
    let path = path.split(['(', '<']).next()?;
    let name = path.rsplit("::").next()?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let files = [("a/README.md", text), ("a/b.rs", "impl A {\n    fn wake() {}\n}")];
        check(&Tree::of(&files)).iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    #[test]
    fn a_name_that_is_not_there_is_found() {
        assert_eq!(found("x\n`A::rouse` ([b](b.rs)) y"), ["2: there is no `rouse` in a/b.rs"]);
        assert_eq!(found("`rouse(x)`\n([b](b.rs))"), ["2: there is no `rouse` in a/b.rs"]);
    }

    #[test]
    fn what_is_there_or_names_nothing_is_fine() {
        for text in [
            "`A::wake` ([b](b.rs))",
            "`wake()` ([b](b.rs))",
            "`rouse` and [b](b.rs)",
            "the loop ([b](b.rs))",
            "`x + y` ([b](b.rs))",
            "`rouse` ([b](gone.rs))",
            "`rouse` ([b](https://b.rs))",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
