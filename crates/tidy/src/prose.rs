//! The prose of a file: the comments of a Rust file, or a Markdown page, without code and tables.

use crate::rust::RustFile;
use crate::tree::TextFile;

/// A line of prose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1.
    pub number: usize,
    /// The text, without the slashes of a comment.
    pub text: String,
}

/// Lines that belong together: a paragraph, an item of a list, a heading.
pub type Paragraph = Vec<Line>;

/// The paragraphs of a Markdown page. Fenced code and tables are none.
pub fn of_page(file: &TextFile) -> Vec<Paragraph> {
    let lines = file.text.lines().enumerate();
    gather(lines.map(|(index, text)| (index + 1, Some(text.to_owned()))))
}

/// The paragraphs of a Rust file's comments; code in documentation is none.
pub fn of_comments(file: &RustFile<'_>) -> Vec<Paragraph> {
    let lines = file.mask.comments.lines().enumerate().map(|(index, line)| {
        let bare = line.trim();
        let starts = ["///", "//!", "//"].into_iter().find_map(|mark| bare.strip_prefix(mark));
        let text = starts.or((!bare.is_empty()).then_some(bare));
        (index + 1, text.map(|text| text.strip_prefix(' ').unwrap_or(text).to_owned()))
    });
    gather(lines)
}

/// `None` is a line without a comment.
fn gather(lines: impl Iterator<Item = (usize, Option<String>)>) -> Vec<Paragraph> {
    let (mut paragraphs, mut open): (Vec<Paragraph>, Paragraph) = (Vec::new(), Vec::new());
    let mut is_code = false;
    for (number, text) in lines {
        let bare = text.as_deref().map_or("", str::trim);
        let is_fence = bare.starts_with("```") || bare.starts_with("~~~");
        // A comment that ends leaves no code open.
        is_code = text.is_some() && (is_code != is_fence);
        let is_prose = !(is_code || is_fence || bare.is_empty() || bare.starts_with('|'));
        let begins = ["- ", "* ", "# ", "## ", "### "].iter().any(|mark| bare.starts_with(mark));
        if (!is_prose || begins) && !open.is_empty() {
            paragraphs.push(std::mem::take(&mut open));
        }
        if is_prose {
            open.push(Line { number, text: text.unwrap_or_default() });
        }
    }
    if !open.is_empty() {
        paragraphs.push(open);
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paragraphs: &[Paragraph]) -> Vec<String> {
        let text = |paragraph: &Paragraph| {
            let lines: Vec<&str> = paragraph.iter().map(|line| line.text.as_str()).collect();
            format!("{}: {}", paragraph[0].number, lines.join(" "))
        };
        paragraphs.iter().map(text).collect()
    }

    #[test]
    fn paragraphs_of_a_page() {
        let text = "# A\nb\nc\n\n| d |\n```\ne\n```\nf\n- g\n  h\n- i";
        let page = TextFile { path: "a.md".into(), text: text.into() };
        assert_eq!(shown(&of_page(&page)), ["1: # A b c", "9: f", "10: - g   h", "12: - i"]);
    }

    #[test]
    fn paragraphs_of_comments() {
        let text = "//! A\n//! b\n\n/// c\n/// ```\n/// d\n/// ```\nfn f() {} // e\n// g\nlet h;";
        let file = RustFile::new("a.rs", text);
        assert_eq!(shown(&of_comments(&file)), ["1: A b", "4: c", "8: e g"]);
    }

    #[test]
    fn code_ends_with_its_comment() {
        let file = RustFile::new("a.rs", "/// ```\n/// a\nfn f() {}\n// b");
        assert_eq!(shown(&of_comments(&file)), ["4: b"]);
    }
}
