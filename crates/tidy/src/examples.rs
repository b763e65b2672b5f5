//! A test runs every example: an example that only compiles can be wrong.
//!
//! A crate's `tests/examples.rs` includes each example as a module and calls its `main`.

use crate::Finding;
use crate::mask::{Mask, words};
use crate::tree::Tree;

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_suffix(".rs").filter_map(|file| judge(tree, &file.path)).collect()
}

fn judge(tree: &Tree, path: &str) -> Option<Finding> {
    let (base, name) = program(path)?;
    let test = format!("{base}/tests/examples.rs");
    let attribute = format!("#[path = \"../examples/{name}\"]");
    if tree.file(&test).is_some_and(|file| runs(&file.text, &attribute)) {
        return None;
    }
    let what = format!("no test runs the example `{name}`");
    let fix = format!("in {test}, write `{attribute} mod NAME;` and call `NAME::main`");
    Some(Finding::new(path, 1, what, fix))
}

/// The crate's directory and the example's file, if `path` is the main file of an example.
fn program(path: &str) -> Option<(&str, &str)> {
    let (base, name) = path.split_once("/examples/")?;
    let (group, krate) = base.split_once('/')?;
    let is_crate = matches!(group, "crates" | "compat") && !krate.contains('/');
    let is_main = !name.contains('/') || name.ends_with("/main.rs");
    (is_crate && is_main).then_some((base, name))
}

/// Whether a test file includes the module of `attribute` and uses its `main`. What is
/// commented out does not run.
fn runs(text: &str, attribute: &str) -> bool {
    let mask = Mask::new(text);
    let uncommented = mask.uncommented();
    let Some((_, after)) = uncommented.split_once(attribute) else { return false };
    let module = words(after).map(|(_, word)| word).skip_while(|word| *word != "mod").nth(1);
    module.is_some_and(|module| mask.code.contains(&format!("{module}::main")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(example: &str, test: &str) -> usize {
        let tree = Tree::of(&[(example, "fn main() {}"), ("crates/a/tests/examples.rs", test)]);
        check(&tree).len()
    }

    const RUN: &str = "#[path = \"../examples/b.rs\"]\n#[allow(dead_code)]\nmod b;\n\
                       #[test]\nfn runs_b() { b::main() }\n";

    #[test]
    fn an_example_that_runs_is_fine() {
        assert_eq!(found("crates/a/examples/b.rs", RUN), 0);
        assert_eq!(found("crates/a/examples/b/main.rs", &RUN.replace("b.rs", "b/main.rs")), 0);
        assert_eq!(found("crates/a/examples/b/part.rs", ""), 0);
    }

    #[test]
    fn an_example_that_does_not_run_is_found() {
        assert_eq!(found("crates/a/examples/b.rs", ""), 1);
        assert_eq!(found("crates/a/examples/c.rs", RUN), 1);
        assert_eq!(found("crates/a/examples/b.rs", &RUN.replace("::main", "::other")), 1);
        assert_eq!(found("crates/a/examples/b.rs", &RUN.replace("b::main", "// b::main")), 1);
        assert_eq!(found("crates/a/examples/b.rs", &RUN.replace("#[path", "// #[path")), 1);
        assert_eq!(check(&Tree::of(&[("crates/a/examples/b.rs", "")])).len(), 1);
    }
}
