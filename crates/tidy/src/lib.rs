//! Checks on the repository itself, run as ordinary tests.
//!
//! Rules that hold "by comment" stop holding. Each module here is one rule: it reads the whole
//! tree and gives back what breaks the rule, with the place and what to do about it.
//!
//! | module | rule |
//! |---|---|
//! | [`invariants`] | what INVARIANTS.md calls built is named in code and in a test |
//! | [`lengths`] | files and functions stay short |
//! | [`leftovers`] | nothing unfinished, no path of somebody's machine |
//! | [`links`] | relative links in Markdown lead somewhere |
//! | [`named`] | a function that a page names before a link to its file is there |
//! | [`examples`] | a test runs every example |
//! | [`safety`] | an unsafe block says which invariant makes it right |
//! | [`orderings`] | a memory ordering says what it pairs with |
//! | [`columns`] | lines keep to 100 columns |
//! | [`english`] | no sentence of a few patterns that must be read twice |
//! | [`words`] | pages keep to a number of words |
//! | [`layers`] | modules import only from layers below |
//! | [`constants`] | tuning constants are in `tuning.rs`, and few |
//! | [`tuning`] | docs/tuning.md has all of them |
//!
//! The other modules read: [`tree`] the files, [`rust`] one Rust file, [`mask`] what is code
//! and what is comment in it, [`outline`] its functions and its test code, [`prose`] the
//! paragraphs of comments and pages, [`ids`] the ids of invariants, [`table`] INVARIANTS.md,
//! [`markdown`] a Markdown file. [`allowed`] has the lists of what the younger rules still forgive.

pub mod allowed;
pub mod columns;
pub mod constants;
pub mod english;
pub mod examples;
pub mod ids;
pub mod invariants;
pub mod layers;
pub mod leftovers;
pub mod lengths;
pub mod links;
pub mod markdown;
pub mod mask;
pub mod named;
pub mod orderings;
pub mod outline;
pub mod prose;
pub mod rust;
pub mod safety;
pub mod table;
pub mod tree;
pub mod tuning;
pub mod words;

use std::fmt;

/// One place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, from the root of the repository.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

impl Finding {
    /// A finding at `path:line`.
    pub fn new(
        path: impl Into<String>,
        line: usize,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Finding { path: path.into(), line, what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}\n    to do: {}", self.path, self.line, self.what, self.fix)
    }
}

/// Fails the calling test with every finding, in the order of the files.
#[track_caller]
pub fn assert_clean(mut findings: Vec<Finding>) {
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    let list: String = findings.iter().map(|finding| format!("\n{finding}")).collect();
    assert!(findings.is_empty(), "findings: {}{list}\n", findings.len());
}
