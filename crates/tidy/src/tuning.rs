//! `docs/tuning.md` has a row for each constant of the `tuning.rs` files, with its value.

use std::collections::BTreeMap;

use crate::Finding;
use crate::constants::{is_tuning, of_file};
use crate::tree::Tree;

const PAGE: &str = "docs/tuning.md";

/// What the page or the code says of a constant.
struct Entry {
    line: usize,
    value: String,
}

/// The entries by file and name.
type Entries = BTreeMap<(String, String), Entry>;

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let code = in_code(tree);
    let page = tree.file(PAGE).map(|page| in_table(&page.text)).unwrap_or_default();
    let mut findings = Vec::new();
    for (key @ (path, name), constant) in &code {
        let value = &constant.value;
        let fix = format!("in {PAGE}, write a row that begins | `{name}` | `{value}` | `{path}` |");
        match page.get(key) {
            Some(row) if row.value == *value => {}
            Some(row) => {
                let what = format!("`{name}` is `{value}`, and {PAGE} says `{}`", row.value);
                findings.push(Finding::new(path, constant.line, what, fix));
            }
            None => {
                let what = format!("{PAGE} does not have `{name}`");
                findings.push(Finding::new(path, constant.line, what, fix));
            }
        }
    }
    for (key @ (path, name), row) in &page {
        if !code.contains_key(key) {
            let what = format!("there is no `{name}` in {path}");
            findings.push(Finding::new(PAGE, row.line, what, "delete the row"));
        }
    }
    findings
}

fn in_code(tree: &Tree) -> Entries {
    let mut entries = Entries::new();
    for file in tree.rust().filter(|file| is_tuning(file.path)) {
        for constant in of_file(&file) {
            let entry = Entry { line: constant.line, value: constant.value };
            entries.insert((file.path.to_owned(), constant.name), entry);
        }
    }
    entries
}

/// The rows that begin with a name, a value and a path in backticks.
fn in_table(page: &str) -> Entries {
    let mut entries = Entries::new();
    for (index, line) in page.lines().enumerate() {
        let mut cells = line.trim().split('|').skip(1).map(str::trim);
        let mut quoted = || cells.next()?.strip_prefix('`')?.strip_suffix('`').map(str::to_owned);
        if let (Some(name), Some(value), Some(path)) = (quoted(), quoted(), quoted()) {
            entries.insert((path, name), Entry { line: index + 1, value });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "/// Doc.\npub const A: u32 = 1 << 3;\n";

    fn found(code: &str, page: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/a/src/tuning.rs", code), (PAGE, page)]);
        check(&tree).iter().map(|f| format!("{}:{}: {}", f.path, f.line, f.what)).collect()
    }

    #[test]
    fn a_table_that_agrees_is_fine() {
        let page =
            "# A\n\n| name | value |\n|---|---|\n| `A` | `1 << 3` | `crates/a/src/tuning.rs` | x |";
        assert_eq!(found(CODE, page), [""; 0]);
        assert_eq!(found("", ""), [""; 0]);
    }

    #[test]
    fn a_table_that_does_not_is_found() {
        let other = "| `A` | `9` | `crates/a/src/tuning.rs` |";
        let what = "`A` is `1 << 3`, and docs/tuning.md says `9`";
        assert_eq!(found(CODE, other), [format!("crates/a/src/tuning.rs:2: {what}")]);
        let what = "docs/tuning.md does not have `A`";
        assert_eq!(found(CODE, ""), [format!("crates/a/src/tuning.rs:2: {what}")]);
        let gone = "docs/tuning.md:1: there is no `A` in crates/a/src/tuning.rs";
        assert_eq!(found("", other), [gone]);
    }
}
