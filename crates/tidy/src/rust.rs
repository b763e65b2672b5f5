//! One Rust file, taken apart as the rules need it.

use std::sync::Arc;

use crate::mask::Mask;
use crate::outline::Outline;

/// A Rust file with its channels and its test code.
pub struct RustFile<'a> {
    /// The path from the root of the repository.
    pub path: &'a str,
    /// All of it.
    pub text: &'a str,
    /// Code, strings and comments apart.
    pub mask: Arc<Mask>,
    /// Where its functions and tests are.
    pub outline: Arc<Outline>,
    /// The offset of each line, with that of the end.
    starts: Arc<[usize]>,
}

/// What takes long to find out about a file, and many checks ask for.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    mask: Arc<Mask>,
    outline: Arc<Outline>,
    starts: Arc<[usize]>,
}

impl Parts {
    pub(crate) fn of(text: &str) -> Parts {
        let mask = Mask::new(text);
        let outline = Outline::of(&mask.code);
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        Parts { mask: Arc::new(mask), outline: Arc::new(outline), starts }
    }
}

impl<'a> RustFile<'a> {
    /// Takes `text` apart.
    pub fn new(path: &'a str, text: &'a str) -> Self {
        Self::with_parts(path, text, Parts::of(text))
    }

    pub(crate) fn with_parts(path: &'a str, text: &'a str, parts: Parts) -> Self {
        let Parts { mask, outline, starts } = parts;
        RustFile { path, text, mask, outline, starts }
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
        self.is_test() || self.outline.tests.iter().any(|lines| lines.contains(&line))
    }

    /// The line of an offset into the text or one of its channels.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// A line of the text or of one of its channels, counted from 1.
    fn line<'c>(&self, channel: &'c str, line: usize) -> &'c str {
        let end = self.starts.get(line).map_or(channel.len(), |end| end - 1);
        &channel[self.starts[line - 1]..end]
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
        let comment = |line: usize| self.line(&self.mask.comments, line).trim();
        let is_comment = |line: usize| {
            let bare = self.line(self.text, line).trim_start();
            bare.starts_with("//") && !comment(line).is_empty()
        };
        let mut found = vec![comment(line)];
        let (mut at, mut crossed) = (line, 0);
        while at > 1 {
            at -= 1;
            crossed += usize::from(!is_comment(at));
            if crossed > reach || barrier(at) {
                break;
            }
            found.push(comment(at));
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
