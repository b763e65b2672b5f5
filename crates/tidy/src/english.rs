//! A few patterns of bad English, each of which has to be read twice.
//!
//! The list is short on purpose: it holds what is never right. What only a reader can judge is
//! left to readers.

use crate::Finding;
use crate::allowed::forgive;
use crate::prose::{Line, Paragraph, of_comments, of_page};
use crate::tree::Tree;

/// What still has such patterns.
pub const ALLOWED: &str = "crates/tidy/allowed/english.txt";

/// Bad beginnings of sentences, with what to write instead. A question may begin with "Who".
const BEGINNINGS: [(&str, &str); 6] = [
    ("Who ", "give the sentence a subject: \"A worker that …\""),
    ("So long ", "say \"the time that …\", or \"as long as …\""),
    ("So many ", "say \"the number of …\""),
    ("So few ", "say \"the number of …\""),
    ("So often ", "say \"the number of times …\", or \"each time …\""),
    ("As that.", "repeat the sentence"),
];

/// Words that are wrong wherever they stand.
const WORDS: [(&str, &str); 6] = [
    ("so many", "say \"at most `n`\", or \"this many\""),
    ("how-manieth", "say \"the number of\", or \"generation\""),
    ("nothing that nobody", "say it without the double negation"),
    ("nobody that does not", "say \"everybody\""),
    ("do what it may", "leave it out"),
    ("need not be unlike", "say \"need not be unique\""),
];

/// Runs the check.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !file.is_tidy()) {
        of_comments(&file).iter().for_each(|paragraph| judge(file.path, paragraph, &mut findings));
    }
    for file in tree.with_suffix(".md") {
        of_page(file).iter().for_each(|paragraph| judge(&file.path, paragraph, &mut findings));
    }
    forgive(tree, ALLOWED, findings)
}

fn judge(path: &str, paragraph: &Paragraph, findings: &mut Vec<Finding>) {
    let text = joined(paragraph);
    let mut add = |at: usize, pattern: &str, fix: &str| {
        let line = line_at(paragraph, at);
        findings.push(Finding::new(path, line, format!("\"{}\"", pattern.trim_end()), fix));
    };
    for (start, sentence) in sentences(&text) {
        let is_question = sentence.trim_end().ends_with('?');
        for (pattern, fix) in BEGINNINGS {
            if sentence.starts_with(pattern) && !is_question {
                add(start, pattern, fix);
            }
        }
    }
    for (pattern, fix) in WORDS {
        text.match_indices(pattern).for_each(|(at, _)| add(at, pattern, fix));
    }
}

/// The lines of a paragraph in one, with a blank for each line's end.
fn joined(paragraph: &[Line]) -> String {
    let lines: Vec<&str> = paragraph.iter().map(|line| line.text.as_str()).collect();
    lines.join(" ")
}

fn line_at(paragraph: &[Line], at: usize) -> usize {
    let mut end = 0;
    let line = paragraph.iter().find(|line| {
        end += line.text.len() + 1;
        at < end
    });
    line.map_or(paragraph[0].number, |line| line.number)
}

/// The sentences of a paragraph with their positions, without marks of lists and quotations.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut rest = 0;
    while rest < text.len() {
        let end = text[rest..]
            .match_indices(['.', '?', '!', ':'])
            .map(|(at, mark)| rest + at + mark.len())
            .find(|&end| text[end..].starts_with([' ', ')', '*']) || end == text.len())
            .unwrap_or(text.len());
        let sentence = text[rest..end].trim_start_matches([' ', '-', '*', '(', ')', '"', '>', '#']);
        if !sentence.is_empty() {
            found.push((end - sentence.len(), sentence));
        }
        rest = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn headless_sentences_are_found() {
        assert_eq!(found("a.md", "# A\n\nb c.\nWho waits, runs."), ["4: \"Who\""]);
        assert_eq!(found("a.rs", "/// Who waits, runs.\nfn f() {}"), ["1: \"Who\""]);
        assert_eq!(found("a.rs", "// A: (Who waits,\n// runs.)"), ["1: \"Who\""]);
        assert_eq!(found("a.rs", "/// So long it waits.\nfn f() {}"), ["1: \"So long\""]);
        assert_eq!(found("a.rs", "// A b. So many are kept."), ["1: \"So many\""]);
        assert_eq!(
            found("a.md", "- So often it looks.\n- As that."),
            ["1: \"So often\"", "2: \"As that.\""]
        );
    }

    #[test]
    fn words_are_found_across_lines() {
        assert_eq!(found("a.rs", "/// Takes at most so\n/// many."), ["1: \"so many\""]);
        assert_eq!(found("a.md", "x\nnothing that\nnobody has"), ["2: \"nothing that nobody\""]);
        assert_eq!(found("a.rs", "// the how-manieth"), ["1: \"how-manieth\""]);
    }

    #[test]
    fn good_sentences_are_not() {
        for text in ["Who waits, and who runs?", "A worker who waits.", "a.who So be it", "`Who` x"]
        {
            assert_eq!(found("a.md", text), [""; 0], "{text}");
        }
        assert_eq!(found("a.rs", "f(\"Who waits, runs.\");"), [""; 0]);
        assert_eq!(found("a.md", "```\nWho waits, runs.\n```"), [""; 0]);
    }

    #[test]
    fn the_list_forgives() {
        let files = [("a.rs", "// Who waits, runs."), (ALLOWED, "1 a.rs\n")];
        assert!(check(&Tree::of(&files)).is_empty());
    }
}
