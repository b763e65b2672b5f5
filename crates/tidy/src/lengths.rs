//! Files and functions stay short enough to be read in one go.

use crate::Finding;
use crate::rust::RustFile;
use crate::tree::Tree;

const FILE: usize = 900;
const EXAMPLE: usize = 100;
const FUNCTION: usize = 70;

/// An exception.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    /// The file.
    pub path: &'static str,
    /// `file`, or the name of a function.
    pub what: &'static str,
    /// The lines it may have instead.
    pub limit: usize,
    /// Why shorter would be worse.
    pub reason: &'static str,
}

/// The exceptions. This list only shrinks: an entry that is not needed is a finding.
pub const ALLOWED: &[Allowed] = &[];

/// Runs the check.
pub fn check(tree: &Tree, allowed: &[Allowed]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = vec![false; allowed.len()];
    for part in parts(tree, &mut findings) {
        if part.lines <= part.limit {
            continue;
        }
        let exception = allowed.iter().position(|a| a.path == part.path && a.what == part.name);
        let limit = exception.map_or(part.limit, |index| allowed[index].limit);
        if let Some(index) = exception {
            needed[index] = true;
        }
        if part.lines > limit {
            let what = format!("`{}` has {} lines of {limit}", part.name, part.lines);
            let fix = "split it, or give a reason in crates/tidy/src/lengths.rs";
            findings.push(Finding::new(part.path, part.line, what, fix));
        }
    }
    for (entry, _) in allowed.iter().zip(needed).filter(|(_, needed)| !needed) {
        let what =
            format!("`{}` is allowed {} lines and needs no exception", entry.what, entry.limit);
        findings.push(Finding::new(entry.path, 1, what, "take it off the list of exceptions"));
    }
    findings
}

/// A file or a function.
struct Part {
    path: String,
    line: usize,
    name: String,
    lines: usize,
    limit: usize,
}

fn parts(tree: &Tree, findings: &mut Vec<Finding>) -> Vec<Part> {
    let mut parts = Vec::new();
    for file in tree.rust() {
        let lines = file.text.lines().count();
        let (path, limit) = (file.path.to_owned(), file_limit(&file));
        parts.push(Part { path, line: 1, name: "file".into(), lines, limit });
        for function in &file.outline.functions {
            let (line, lines) = (*function.lines.start(), function.lines.clone().count());
            let (path, name) = (file.path.to_owned(), function.name.clone());
            parts.push(Part { path, line, name, lines, limit: FUNCTION });
        }
        if let Some(line) = file.outline.unbalanced {
            let what = "a bracket does not fit";
            findings.push(Finding::new(file.path, line, what, "make it compile"));
        }
    }
    parts
}

fn file_limit(file: &RustFile<'_>) -> usize {
    if file.path.contains("/examples/") { EXAMPLE } else { FILE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> String {
        "// x\n".repeat(count)
    }

    fn found(path: &str, text: &str, allowed: &[Allowed]) -> Vec<String> {
        check(&Tree::of(&[(path, text)]), allowed).iter().map(Finding::to_string).collect()
    }

    fn allow(what: &'static str, limit: usize) -> Allowed {
        Allowed { path: "crates/a/src/b.rs", what, limit, reason: "a table" }
    }

    #[test]
    fn files_have_the_limit_of_their_kind() {
        for (path, limit) in [
            ("crates/a/src/b.rs", 900),
            ("crates/a/tests/b.rs", 900),
            ("crates/a/examples/b.rs", 100),
        ] {
            assert_eq!(found(path, &lines(limit), &[]), [""; 0], "{path}");
            let findings = found(path, &lines(limit + 1), &[]);
            let what = format!("{path}:1: `file` has {} lines of {limit}", limit + 1);
            assert!(findings.len() == 1 && findings[0].starts_with(&what), "{findings:?}");
        }
        assert_eq!(found("CHANGELOG.md", &lines(2000), &[]), [""; 0]);
    }

    #[test]
    fn functions_are_found_wherever_they_are() {
        let body = lines(69);
        for (text, line, name) in [
            (format!("/// Doc\nfn a() {{\n{body}}}"), 2, "a"),
            (format!("impl A {{\n#[inline]\npub fn b(\n) {{\n{body}}}\n}}"), 3, "b"),
            (format!("trait A {{ fn c() {{\n{body}}}\n}}"), 1, "c"),
            (format!("#[cfg(test)]\nmod t {{\n#[test]\nfn d() {{\n{body}}}\n}}"), 4, "d"),
            (format!("fn o() {{ p(); }}\nmod m {{ fn e() {{\n{body}}}\n}}"), 2, "e"),
            (format!("proptest! {{\n#[test]\nfn f(x in 0..3) {{\n{body}}}\n}}"), 3, "f"),
            (format!("macro_rules! m {{ ($n:ident) => {{ fn $n() {{\n{body}}} }} }}"), 1, "n"),
        ] {
            let findings = found("crates/a/src/b.rs", &text, &[]);
            let what = format!("crates/a/src/b.rs:{line}: `{name}` has ");
            assert!(findings.len() == 1 && findings[0].starts_with(&what), "{name} {findings:?}");
        }
        let fits = format!("fn a() {{\n{}}}\ntrait A {{ fn b(); }}", lines(68));
        assert_eq!(found("crates/a/src/b.rs", &fits, &[]), [""; 0]);
    }

    #[test]
    fn an_exception_has_a_limit_too() {
        let path = "crates/a/src/b.rs";
        assert_eq!(found(path, &lines(990), &[allow("file", 990)]), [""; 0]);
        assert_eq!(found(path, &lines(991), &[allow("file", 990)]).len(), 1);
        let function = format!("fn a() {{\n{}}}", lines(80));
        assert_eq!(found(path, &function, &[allow("a", 90)]), [""; 0]);
        assert_eq!(found(path, &function, &[allow("b", 90)]).len(), 2);
    }

    #[test]
    fn the_list_only_shrinks() {
        let findings = found("crates/a/src/b.rs", &lines(900), &[allow("file", 990)]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].contains("needs no exception"), "{findings:?}");
    }

    #[test]
    fn brackets_that_do_not_fit_are_found() {
        let findings = found("crates/a/src/b.rs", "\nfn (", &[]);
        assert!(findings.len() == 1 && findings[0].contains("does not fit"), "{findings:?}");
    }
}
