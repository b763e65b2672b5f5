//! One Rust file, taken apart as the rules need it.

use proc_macro2::TokenTree;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use std::sync::Arc;

use crate::mask::{Mask, line_of};

/// A Rust file with its channels and its test code.
pub struct RustFile<'a> {
    /// The path from the root of the repository.
    pub path: &'a str,
    /// All of it.
    pub text: &'a str,
    /// Code, strings and comments apart.
    pub mask: Arc<Mask>,
    tests: Arc<[bool]>,
}

/// What takes long to find out about a file, and many checks ask for.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    mask: Arc<Mask>,
    tests: Arc<[bool]>,
}

impl Parts {
    pub(crate) fn of(path: &str, text: &str) -> Parts {
        let mut tests = vec![is_test_path(path); text.lines().count()];
        // A file without the word has no tests, and need not be parsed.
        if text.contains("test") {
            if let Ok(syntax) = syn::parse_file(text) {
                TestCode { lines: &mut tests }.visit_file(&syntax);
            }
        }
        Parts { mask: Arc::new(Mask::new(text)), tests: tests.into() }
    }
}

impl<'a> RustFile<'a> {
    /// Takes `text` apart.
    pub fn new(path: &'a str, text: &'a str) -> Self {
        Self::with_parts(path, text, Parts::of(path, text))
    }

    pub(crate) fn with_parts(path: &'a str, text: &'a str, parts: Parts) -> Self {
        RustFile { path, text, mask: parts.mask, tests: parts.tests }
    }

    /// The syntax tree, if the file parses.
    pub fn syntax(&self) -> syn::Result<syn::File> {
        syn::parse_file(self.text)
    }

    /// Whether all of the file is test code.
    pub fn is_test(&self) -> bool {
        is_test_path(self.path)
    }

    /// Whether the file is part of a crate, tests within `src` included.
    pub fn is_crate_source(&self) -> bool {
        let mut parts = self.path.split('/');
        matches!(parts.next(), Some("crates" | "compat")) && parts.nth(1) == Some("src")
    }

    /// Whether the file belongs to this crate, whose comments name ids and the like as
    /// examples only.
    pub fn is_tidy(&self) -> bool {
        self.path.starts_with("crates/tidy/")
    }

    /// Whether the line, counted from 1, is test code.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.tests.get(line - 1).copied().unwrap_or(self.is_test())
    }

    /// The line of an offset into the text or one of its channels.
    pub fn line_of(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }

    /// The comments on `line` and above it, top to bottom. Lines that hold only a comment are
    /// free: a long explanation is no fault. At most `reach` others are crossed, and none for
    /// which `barrier` holds.
    pub fn comments_above(
        &self,
        line: usize,
        reach: usize,
        barrier: impl Fn(usize) -> bool,
    ) -> String {
        let comments: Vec<&str> = self.mask.comments.lines().collect();
        let is_comment = |line: usize| {
            let bare = self.text.lines().nth(line - 1).unwrap_or("").trim_start();
            bare.starts_with("//") && !comments[line - 1].trim().is_empty()
        };
        let mut found = vec![comments[line - 1].trim()];
        let (mut at, mut crossed) = (line, 0);
        while at > 1 {
            at -= 1;
            crossed += usize::from(!is_comment(at));
            if crossed > reach || barrier(at) {
                break;
            }
            found.push(comments[at - 1].trim());
        }
        found.reverse();
        found.join("\n")
    }
}

/// Whether a file holds tests only, by its place or its name.
pub fn is_test_path(path: &str) -> bool {
    let (dirs, name) = path.rsplit_once('/').unwrap_or(("", path));
    dirs.split('/').any(|dir| dir == "tests")
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
        || name.starts_with("loom")
}

/// Marks the lines of test code within a file.
struct TestCode<'t> {
    lines: &'t mut [bool],
}

impl TestCode<'_> {
    fn mark(&mut self, attributes: &[syn::Attribute], item: &impl Spanned) {
        if attributes.iter().any(is_test_attribute) {
            let span = item.span();
            self.lines[span.start().line - 1..span.end().line].fill(true);
        }
    }
}

impl<'ast> Visit<'ast> for TestCode<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.mark(&item.attrs, item);
        visit::visit_item_mod(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.mark(&item.attrs, item);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.mark(&item.attrs, item);
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.mark(&item.attrs, item);
        visit::visit_impl_item_fn(self, item);
    }
}

/// `#[test]`, and every `#[cfg(…)]` that asks for `test` outside of a `not(…)`.
fn is_test_attribute(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let syn::Meta::List(list) = &attribute.meta else { return false };
    list.path.is_ident("cfg") && asks_for_test(list.tokens.clone())
}

fn asks_for_test(tokens: proc_macro2::TokenStream) -> bool {
    let mut negated = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) if name == "test" => return true,
            TokenTree::Ident(name) => negated = name == "not",
            TokenTree::Group(group) if !negated && asks_for_test(group.stream()) => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_by_place_and_name() {
        for path in ["crates/a/tests/b.rs", "a/tests/b/c.rs", "a/tests.rs", "a/x_tests.rs"] {
            assert!(is_test_path(path), "{path}");
        }
        assert!(is_test_path("crates/a/src/ring/loom.rs"));
        for path in ["crates/a/src/b.rs", "a/contests.rs", "bloom.rs", "loom/b.rs"] {
            assert!(!is_test_path(path), "{path}");
        }
    }

    #[test]
    fn test_lines_within_a_file() {
        let text = "fn a() {}\n#[cfg(all(test, loom))]\nmod t {\n}\n#[cfg(not(test))]\nmod u {\n}";
        let file = RustFile::new("crates/a/src/b.rs", text);
        let marked: Vec<usize> = (1..=7).filter(|&line| file.is_test_line(line)).collect();
        assert_eq!(marked, [2, 3, 4]);
    }

    #[test]
    fn what_belongs_to_a_crate() {
        let is_source = |path| RustFile::new(path, "").is_crate_source();
        assert!(is_source("crates/a/src/b/c.rs") && is_source("compat/a/src/lib.rs"));
        assert!(!is_source("crates/a/tests/b.rs") && !is_source("scripts/a/src/b.rs"));
    }

    #[test]
    fn comments_above_a_line() {
        let text = "// one\n// two\nlet a;\nlet b; // three\nlet c;";
        let file = RustFile::new("a.rs", text);
        let above = |reach| file.comments_above(5, reach, |_| false).replace('\n', " ");
        assert_eq!(above(0).trim(), "");
        assert_eq!(above(1).trim(), "// three");
        assert_eq!(above(2).split_whitespace().collect::<String>(), "//one//two//three");
        assert_eq!(file.comments_above(5, 9, |line| line == 4).trim(), "");
    }
}
