//! The modules of heist import only from layers below their own.
//!
//! The layers are read from ARCHITECTURE.md: the code block below the heading "Layers", the
//! highest layer first. Modules on one line are one layer, and may use each other.

use crate::Finding;
use crate::allowed::forgive;
use crate::mask::{line_of, words};
use crate::rust::RustFile;
use crate::tree::Tree;

/// What still imports upwards.
pub const ALLOWED: &str = "crates/tidy/allowed/layers.txt";

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Layers";
const SOURCES: &str = "crates/heist/src/";
/// `task/` is called so within the crate, as the public `task` has more in it.
const ALIASES: [(&str, &str); 1] = [("task_core", "task")];

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.file(PAGE) else { return Vec::new() };
    let layers = layers(&page.text);
    if layers.is_empty() {
        let what = format!("there is no code block below \"{HEADING}\"");
        return vec![Finding::new(PAGE, 1, what, "list the layers there, the highest first")];
    }
    let mut findings = unlisted(tree, &layers);
    for file in tree.rust().filter(|file| !file.is_test()) {
        if let Some((module, rank)) = place(file.path, &layers) {
            findings.extend(judge(&file, module, rank, &layers));
        }
    }
    forgive(tree, ALLOWED, findings)
}

/// The modules of each layer, from the highest on.
fn layers(page: &str) -> Vec<Vec<&str>> {
    let after = page.split_once(&format!("{HEADING}\n")).map_or("", |(_, after)| after);
    let mut blocks = after.split("```").skip(1);
    let block = blocks.next().unwrap_or_default();
    let lines = block.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.filter(|line| !line.is_empty()).collect()
}

/// The module of heist that a file is part of, and its layer. The crate's root is above all.
fn place<'f>(path: &'f str, layers: &[Vec<&str>]) -> Option<(&'f str, usize)> {
    let module = module_of(path)?;
    Some((module, rank(module, layers)?))
}

fn module_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix(SOURCES)?;
    let module = inside.split_once('/').map_or(inside, |(module, _)| module);
    Some(module.strip_suffix(".rs").unwrap_or(module))
}

/// A layer's number: the higher the layer, the smaller.
fn rank(module: &str, layers: &[Vec<&str>]) -> Option<usize> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == module);
    let module = alias.map_or(module, |(_, module)| module);
    layers.iter().position(|layer| layer.contains(&module))
}

/// Modules that the page does not mention.
fn unlisted(tree: &Tree, layers: &[Vec<&str>]) -> Vec<Finding> {
    let mut modules: Vec<&str> =
        tree.with_suffix(".rs").filter_map(|file| module_of(&file.path)).collect();
    modules.sort_unstable();
    modules.dedup();
    let missing =
        modules.into_iter().filter(|module| *module != "lib" && rank(module, layers).is_none());
    missing
        .map(|module| {
            let what = format!("`{module}` is in no layer");
            Finding::new(PAGE, 1, what, format!("name it in the code block below \"{HEADING}\""))
        })
        .collect()
}

fn judge(file: &RustFile<'_>, module: &str, from: usize, layers: &[Vec<&str>]) -> Vec<Finding> {
    let code = &file.mask.code;
    let mut findings = Vec::new();
    for (at, used) in imports(code) {
        let line = line_of(code, at);
        if file.is_test_line(line) {
            continue;
        }
        let (what, fix) = match rank(used, layers) {
            Some(to) if to >= from => continue,
            Some(_) => (
                format!("`{module}` uses `{used}`, which is above it"),
                "move the code, or pass in what it needs",
            ),
            None => (
                format!("`{module}` uses `crate::{used}`, which is no module"),
                "name the module in which it is defined",
            ),
        };
        findings.push(Finding::new(file.path, line, what, fix));
    }
    findings
}

/// The first names after `crate::`, with their offsets; of `crate::{a::b, c}` all of them.
fn imports(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, root) in code.match_indices("crate::") {
        let (start, rest) = (at + root.len(), &code[at + root.len()..]);
        if code[..at].ends_with('$') || code[..at].ends_with(|c: char| c.is_alphanumeric()) {
            continue;
        }
        if rest.starts_with('{') {
            found.extend(grouped(rest).into_iter().map(|(inside, name)| (start + inside, name)));
        } else if let Some((_, name)) = words(rest).next() {
            found.push((start, name));
        }
    }
    found
}

/// The first names of the paths in the braces with which `rest` begins.
fn grouped(rest: &str) -> Vec<(usize, &str)> {
    let (mut found, mut depth, mut is_first) = (Vec::new(), 0_usize, true);
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' => is_first = true,
            c if depth == 1 && is_first && !c.is_whitespace() => {
                is_first = false;
                found.extend(words(&rest[at..]).next().map(|(_, name)| (at, name)));
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYERS: &str = "# A\n\n## Layers\n\nText.\n\n```text\nnet time\nruntime\ntask\n```\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let findings = check(&Tree::of(&[(PAGE, LAYERS), (path, text)]));
        findings.iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn imports_point_down() {
        let down = "use crate::runtime::Handle;\nuse crate::task_core;\nuse crate::net::x;";
        assert_eq!(found("crates/heist/src/time.rs", down), [""; 0]);
        assert_eq!(found("crates/heist/src/lib.rs", "use crate::other;"), [""; 0]);
        let comment = "//! [`x`](crate::net::x)\nfn f() { g(\"crate::net\") }";
        assert_eq!(found("crates/heist/src/task/a.rs", comment), [""; 0]);
        assert_eq!(found("crates/other/src/task/a.rs", "use crate::net;"), [""; 0]);
    }

    #[test]
    fn imports_upwards_are_found() {
        let what = "`task` uses `runtime`, which is above it";
        let path = "crates/heist/src/task/a.rs";
        assert_eq!(found(path, "\nuse crate::runtime::x;"), [format!("2: {what}")]);
        assert_eq!(found(path, "fn f() { crate::runtime::x() }"), [format!("1: {what}")]);
        let group = "use crate::{\n    task::{a, b},\n    runtime::x,\n};";
        assert_eq!(found(path, group), [format!("3: {what}")]);
        let root = "`task` uses `crate::spawn`, which is no module";
        assert_eq!(found(path, "use crate::spawn;"), [format!("1: {root}")]);
    }

    #[test]
    fn tests_may_use_everything() {
        let text = "#[cfg(test)]\nmod t {\n    use crate::net;\n}";
        assert_eq!(found("crates/heist/src/task/a.rs", text), [""; 0]);
        assert_eq!(found("crates/heist/src/task/tests.rs", "use crate::net;"), [""; 0]);
    }

    #[test]
    fn the_page_names_all_modules() {
        assert_eq!(found("crates/heist/src/fs/a.rs", ""), ["1: `fs` is in no layer"]);
        let tree = Tree::of(&[(PAGE, "# A\n")]);
        assert!(check(&tree)[0].what.contains("no code block"));
    }
}
