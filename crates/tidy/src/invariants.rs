//! What INVARIANTS.md calls built is named in code and in a test, and nothing else is cited.
//!
//! The table is the map from a promise to the code that keeps it. It is worth something only
//! while it is right, so both ends are checked: the ids and paths of the table against the
//! tree, and the ids cited in the tree against the table.

use std::collections::{BTreeMap, BTreeSet};

use crate::Finding;
use crate::ids::{FAMILIES, Id, cited_in, named_in};
use crate::rust::RustFile;
use crate::table::{self, FILE, Row, Status};
use crate::tree::Tree;

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.file(FILE) else {
        return vec![Finding::new(FILE, 1, "the file is missing", "list every invariant in it")];
    };
    let (rows, mut findings) = table::read(&file.text);
    findings.extend(numbering(&rows));
    let evidence = Evidence::gather(tree);
    for row in &rows {
        findings.extend(missing_paths(row, tree));
        if row.status != Status::NotBuilt {
            findings.extend(evidence.judge(row, tree));
        }
    }
    findings.extend(unknown_ids(&rows, tree));
    findings
}

/// Ids are unique, and none of them has gone.
fn numbering(rows: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut lines = BTreeMap::new();
    for row in rows {
        if let Some(first) = lines.insert(row.id, row.line) {
            let what = format!("{} stands in line {first} already", row.id);
            findings.push(Finding::new(FILE, row.line, what, "give the newer one a new number"));
        }
        let (_, count) = FAMILIES.iter().find(|(family, _)| *family == row.id.family).unwrap();
        if row.id.number > *count {
            let what = format!("{} is beyond the last of its family", row.id);
            let fix = "raise the count in crates/tidy/src/ids.rs, so that it cannot get lost";
            findings.push(Finding::new(FILE, row.line, what, fix));
        }
    }
    for (family, count) in FAMILIES {
        for id in (1..=count).map(|number| Id { family, number }) {
            if !lines.contains_key(&id) {
                let what = format!("{id} is missing");
                findings.push(Finding::new(FILE, 1, what, "put it back: ids are never taken away"));
            }
        }
    }
    findings
}

fn missing_paths(row: &Row, tree: &Tree) -> Vec<Finding> {
    let paths = row.upheld.iter().chain(&row.tested);
    let gone = paths.filter(|path| !tree.exists(path));
    gone.map(|path| {
        let what = format!("{}: there is no `{path}`", row.id);
        Finding::new(FILE, row.line, what, "name the file that took its place")
    })
    .collect()
}

/// Which ids each file names, in its code and in its tests.
#[derive(Default)]
struct Evidence {
    code: BTreeMap<String, BTreeSet<Id>>,
    tests: BTreeMap<String, BTreeSet<Id>>,
}

impl Evidence {
    fn gather(tree: &Tree) -> Evidence {
        let mut evidence = Evidence::default();
        for file in tree.rust().filter(|file| !file.is_tidy()) {
            evidence.add(&file);
        }
        evidence
    }

    /// In code only a comment can be a claim: `T1` may well be the name of a type. In a test
    /// the message of an assertion is one too.
    fn add(&mut self, file: &RustFile<'_>) {
        for (at, id) in named_in(&file.mask.comments) {
            let side = if file.is_test_line(file.line_of(at)) {
                &mut self.tests
            } else if file.is_crate_source() {
                &mut self.code
            } else {
                continue;
            };
            side.entry(file.path.to_owned()).or_default().insert(id);
        }
        for (at, id) in named_in(&file.mask.strings) {
            if file.is_test_line(file.line_of(at)) {
                self.tests.entry(file.path.to_owned()).or_default().insert(id);
            }
        }
    }

    fn judge(&self, row: &Row, tree: &Tree) -> Vec<Finding> {
        let mut findings = Vec::new();
        let sides = [
            (&self.code, &row.upheld, "upheld in", "the comments of any code"),
            (&self.tests, &row.tested, "tested by", "any test"),
        ];
        for (side, paths, column, place) in sides {
            let mut add = |what: String, fix: String| {
                findings.push(Finding::new(FILE, row.line, what, fix));
            };
            if !side.values().any(|ids| ids.contains(&row.id)) {
                let what = format!("{} is not named in {place}", row.id);
                add(what, format!("name it where it is {column}, or call it `not built`"));
                continue;
            }
            if paths.is_empty() {
                let what = format!("{} is {column} nothing", row.id);
                add(what, format!("name the files in backticks in the column \"{column}\""));
            }
            for path in paths.iter().filter(|path| path.ends_with(".rs") && tree.exists(path)) {
                if !side.get(path).is_some_and(|ids| ids.contains(&row.id)) {
                    let what = format!("{} is {column} `{path}`, which does not name it", row.id);
                    add(what, "name the id there, or take the path out of the table".into());
                }
            }
        }
        findings
    }
}

fn unknown_ids(rows: &[Row], tree: &Tree) -> Vec<Finding> {
    let known: BTreeSet<Id> = rows.iter().map(|row| row.id).collect();
    let mut findings = Vec::new();
    for file in tree.rust() {
        for (at, id) in cited_in(&file.mask.comments) {
            if !known.contains(&id) {
                let what = format!("{id} is cited, but {FILE} has no such id");
                let fix = "correct the id, or add the invariant";
                findings.push(Finding::new(file.path, file.line_of(at), what, fix));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with every id, where `rows` replace the lines of their ids.
    fn table(rows: &[&str]) -> String {
        let mut text = "| id | what must be true | status | upheld in | tested by |\n".to_owned();
        for (family, count) in FAMILIES {
            for number in 1..=count {
                let id = format!("| {family}{number} |");
                let blank = format!("{id} x | not built | — | — |");
                let row = rows.iter().find(|row| row.starts_with(&id));
                text += row.unwrap_or(&blank.as_str());
                text.push('\n');
            }
        }
        text
    }

    fn findings(rows: &[&str], code: &str, test: &str) -> Vec<String> {
        let (table, code_path) = (table(rows), "crates/a/src/ring.rs");
        let files = [(FILE, table.as_str()), (code_path, code), ("crates/a/tests/t.rs", test)];
        let mut found: Vec<_> = check(&Tree::of(&files)).into_iter().map(|f| f.what).collect();
        found.sort();
        found
    }

    const BUILT: &str = "| Q1 | x | built | `crates/a/src/ring.rs` | `crates/a/tests/t.rs` |";

    #[test]
    fn a_built_id_named_on_both_sides_is_fine() {
        assert_eq!(findings(&[BUILT], "// SAFETY: (Q1) x", "// Q1"), [""; 0]);
        assert_eq!(findings(&[BUILT], "/// Q1–Q3", "fn f() { assert!(x, \"Q1\"); }"), [""; 0]);
    }

    #[test]
    fn an_id_without_code_or_without_test_is_found() {
        let no_code = ["Q1 is not named in the comments of any code"];
        assert_eq!(findings(&[BUILT], "// Q11", "// Q1"), no_code);
        assert_eq!(findings(&[BUILT], "fn f<Q1>() {}", "// Q1"), no_code);
        assert_eq!(findings(&[BUILT], "#[cfg(test)]\nmod t {\n// Q1\n}", "// Q1"), no_code);
        assert_eq!(findings(&[BUILT], "// Q1", "// Q2"), ["Q1 is not named in any test"]);
        let partly = BUILT.replace("built", "partly");
        assert_eq!(findings(&[&partly], "// Q1", ""), ["Q1 is not named in any test"]);
    }

    #[test]
    fn paths_must_exist_and_name_the_id() {
        let gone = BUILT.replace("ring.rs", "gone.rs");
        let what = ["Q1: there is no `crates/a/src/gone.rs`"];
        assert_eq!(findings(&[&gone], "// Q1", "// Q1"), what);
        let other = BUILT.replace("src/ring.rs", "tests/t.rs");
        let what = ["Q1 is upheld in `crates/a/tests/t.rs`, which does not name it"];
        assert_eq!(findings(&[&other], "// Q1", "// Q1"), what);
        let empty = BUILT.replace("`crates/a/tests/t.rs`", "—");
        assert_eq!(findings(&[&empty], "// Q1", "// Q1"), ["Q1 is tested by nothing"]);
    }

    #[test]
    fn a_cited_id_must_exist() {
        let what = ["Q9 is cited, but INVARIANTS.md has no such id"];
        assert_eq!(findings(&[BUILT], "// Q1\n\n// (Q8, Q9)", "// Q1"), what);
    }

    #[test]
    fn ids_are_unique_and_none_is_lost() {
        let row = "| Q2 | x | not built | — | — |";
        let twice = format!("{row}\n{row}");
        assert_eq!(findings(&[&twice], "", ""), ["Q2 stands in line 3 already"]);
        let beyond = format!("{row}\n| M3 | x | not built | — | — |");
        assert_eq!(findings(&[&beyond], "", ""), ["M3 is beyond the last of its family"]);
        assert_eq!(findings(&["| Q2 | x |"], "", ""), ["Q2 is missing", "a row of 2 cells"]);
        assert_eq!(check(&Tree::of(&[]))[0].what, "the file is missing");
    }

    #[test]
    fn the_names_of_this_crate_are_no_evidence() {
        let table = table(&[BUILT]);
        let tree = Tree::of(&[
            (FILE, table.as_str()),
            ("crates/tidy/src/a.rs", "// Q1"),
            ("crates/tidy/tests/a.rs", "// Q1"),
        ]);
        assert!(check(&tree).iter().any(|f| f.what.contains("not named in any test")));
    }
}
