//! Lists of what a rule still forgives. They only shrink.
//!
//! A rule that is younger than the code begins with a list in `crates/tidy/allowed/`: one line
//! for each file, with the number of findings that it may have. A file may have fewer than its
//! line says, never more; a line whose file has none is a finding itself.

use std::collections::BTreeMap;

use crate::Finding;
use crate::tree::Tree;

/// What one line of a list says.
struct Entry {
    line: usize,
    count: usize,
}

/// Leaves out the findings that the list at `path` forgives, and adds those about the list itself.
/// Without the file nothing is forgiven.
pub fn forgive(tree: &Tree, path: &str, findings: Vec<Finding>) -> Vec<Finding> {
    let text = tree.file(path).map_or("", |file| file.text.as_str());
    let (entries, mut left) = read(path, text);
    let mut of_file: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        of_file.entry(finding.path.clone()).or_default().push(finding);
    }
    for (file, entry) in &entries {
        if !of_file.contains_key(file) {
            let what = format!("`{file}` needs no exception any more");
            left.push(Finding::new(path, entry.line, what, "delete the line"));
        }
    }
    for (file, found) in of_file {
        let allowed = entries.get(&file).map_or(0, |entry| entry.count);
        if found.len() > allowed {
            left.extend(found.into_iter().map(|finding| excess(finding, path, allowed)));
        }
    }
    left
}

/// A finding in a file that has more of them than it may.
fn excess(finding: Finding, path: &str, allowed: usize) -> Finding {
    if allowed == 0 {
        return finding;
    }
    let what = format!("{} ({path} allows this file {allowed})", finding.what);
    Finding { what, ..finding }
}

fn read(path: &str, text: &str) -> (BTreeMap<String, Entry>, Vec<Finding>) {
    let (mut entries, mut findings) = (BTreeMap::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = line.split_once(' ').and_then(|(count, file)| {
            let count = count.parse().ok().filter(|count| *count > 0)?;
            Some((file.trim().to_owned(), Entry { line: index + 1, count }))
        });
        let is_new = entry.is_some_and(|(file, entry)| entries.insert(file, entry).is_none());
        if !is_new {
            let what = format!("`{line}` cannot be read, or its file stands here twice");
            let fix = "write a number from 1, a blank and a path";
            findings.push(Finding::new(path, index + 1, what, fix));
        }
    }
    (entries, findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "crates/tidy/allowed/x.txt";

    fn left(list: &str, found: &[(&str, usize)]) -> Vec<String> {
        let findings = found.iter().map(|(path, line)| Finding::new(*path, *line, "x", "y"));
        let tree = Tree::of(&[(LIST, list)]);
        forgive(&tree, LIST, findings.collect())
            .iter()
            .map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.what))
            .collect()
    }

    #[test]
    fn as_many_as_the_list_says_are_forgiven() {
        assert_eq!(left("", &[]), [""; 0]);
        assert_eq!(left("", &[("a.rs", 3)]), ["a.rs:3: x"]);
        assert_eq!(left("# why\n\n2 a.rs\n", &[("a.rs", 3)]), [""; 0]);
        assert_eq!(left("2 a.rs", &[("a.rs", 3), ("a.rs", 4)]), [""; 0]);
    }

    #[test]
    fn more_are_all_shown() {
        let found = left("1 a.rs", &[("a.rs", 3), ("a.rs", 4)]);
        let note = "(crates/tidy/allowed/x.txt allows this file 1)";
        assert_eq!(found, [format!("a.rs:3: x {note}"), format!("a.rs:4: x {note}")]);
    }

    #[test]
    fn the_list_only_shrinks() {
        let found = left("1 a.rs\n1 b.rs", &[("a.rs", 3)]);
        assert_eq!(found, [format!("{LIST}:2: `b.rs` needs no exception any more")]);
    }

    #[test]
    fn lines_that_say_nothing_are_found() {
        for list in ["a.rs", "0 a.rs", "x a.rs", "1 a.rs\n1 a.rs"] {
            let found = left(list, &[("a.rs", 3)]);
            assert!(found.iter().any(|line| line.contains("cannot be read")), "{list}: {found:?}");
        }
    }
}
