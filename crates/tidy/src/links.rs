//! Relative links in Markdown files lead somewhere. Nothing is fetched.

use crate::Finding;
use crate::markdown::{Link, anchors, links};
use crate::tree::{TextFile, Tree};

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree.with_suffix(".md");
    files
        .flat_map(|file| links(&file.text).into_iter().filter_map(|l| judge(tree, file, &l)))
        .collect()
}

fn judge(tree: &Tree, file: &TextFile, link: &Link) -> Option<Finding> {
    let destination = &link.destination;
    let broken = |what: String, fix: &str| Some(Finding::new(&file.path, link.line, what, fix));
    if is_elsewhere(destination) {
        return None;
    }
    let (path, anchor) = match destination.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (destination.as_str(), None),
    };
    let Some(target) = resolve(&file.path, &path.replace("%20", " ")) else {
        let what = format!("`{destination}` leads out of the repository");
        return broken(what, "link to something within it, or to the web");
    };
    if !tree.exists(&target) {
        let what = format!("`{destination}` leads nowhere");
        return broken(what, "correct the path, or take the link out");
    }
    // Of other files only lines can be linked to, and they shift anyway.
    let anchor = anchor.filter(|_| target.ends_with(".md"))?;
    let page = tree.file(&target)?;
    if anchors(&page.text).iter().any(|known| known == anchor) {
        return None;
    }
    let what = format!("`{destination}`: {target} has no heading for `#{anchor}`");
    broken(what, "link to a heading that is there")
}

/// `https:`, `mailto:` and the like.
fn is_elsewhere(destination: &str) -> bool {
    let scheme = destination.split_once(':').map_or("", |(scheme, _)| scheme);
    destination.starts_with("//") || matches!(scheme, "http" | "https" | "mailto")
}

/// The path from the root that `path`, written in the file `from`, leads to; `None` if it
/// leaves the repository.
pub(crate) fn resolve(from: &str, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some(from.to_owned());
    }
    let base = if path.starts_with('/') { "" } else { from.rsplit_once('/').map_or("", |p| p.0) };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("docs/a.md", text),
            ("docs/b.md", "# One\n## Two words\n"),
            ("README.md", "# Top"),
            ("crates/x/src/lib.rs", ""),
            ("with space.txt", ""),
        ]);
        check(&tree).into_iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    #[test]
    fn links_that_resolve() {
        for destination in [
            "b.md",
            "./b.md#two-words",
            "../README.md#top",
            "/README.md",
            "../crates/x",
            "../crates/x/src/lib.rs#L10",
            "../with%20space.txt",
            "#here",
            "..",
            "https://example.com/a#b",
            "mailto:a@example.com",
        ] {
            assert_eq!(found(&format!("# Here\n[x]({destination})")), [""; 0], "{destination}");
        }
    }

    #[test]
    fn links_that_do_not() {
        for (destination, what) in [
            ("c.md", "`c.md` leads nowhere"),
            ("README.md", "`README.md` leads nowhere"),
            ("crate::ring", "`crate::ring` leads nowhere"),
            ("../../x", "`../../x` leads out of the repository"),
            ("b.md#three", "`b.md#three`: docs/b.md has no heading for `#three`"),
            ("#there", "`#there`: docs/a.md has no heading for `#there`"),
        ] {
            let expected = format!("2: {what}");
            assert_eq!(found(&format!("# Here\n[x]({destination})")), [expected], "{destination}");
        }
    }
}
