//! The ids of invariants, and how comments name them.

use std::fmt;

use crate::mask::words;

/// The families of ids and how many each has. An id is never taken away or renumbered, so a count
/// only grows: a new invariant in INVARIANTS.md raises it here.
pub const FAMILIES: [(&str, u32); 9] =
    [("Q", 8), ("T", 11), ("J", 6), ("W", 10), ("I", 7), ("L", 7), ("F", 3), ("NP", 5), ("M", 2)];

/// A family and a number, such as Q1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    /// One of [`FAMILIES`].
    pub family: &'static str,
    /// The number within the family, from 1.
    pub number: u32,
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.family, self.number)
    }
}

impl Id {
    /// Reads a word that has the shape of an id, whether or not there is such an invariant.
    pub fn parse(word: &str) -> Option<Id> {
        let (letters, digits) = word.split_at(word.find(|c: char| c.is_ascii_digit())?);
        let (family, _) = *FAMILIES.iter().find(|(family, _)| *family == letters)?;
        // Three digits are no id but a number with a letter before it.
        let sensible = digits.len() <= 2 && !digits.starts_with('0');
        let number = digits.parse().ok().filter(|_| sensible)?;
        Some(Id { family, number })
    }
}

/// Every id that `text` names as a whole word, with its offset. `Q3–Q7` names five.
pub fn named_in(text: &str) -> Vec<(usize, Id)> {
    let mut found: Vec<(usize, Id)> = Vec::new();
    let mut before: Option<(usize, Id)> = None;
    for (at, word) in words(text) {
        let id = Id::parse(word);
        if let (Some((end, first)), Some(last)) = (before, id) {
            let is_dash = matches!(text[end..at].trim(), "-" | "–" | "—");
            if is_dash && first.family == last.family {
                let between = first.number + 1..last.number;
                found.extend(between.map(|number| (at, Id { number, ..first })));
            }
        }
        found.extend(id.map(|id| (at, id)));
        before = id.map(|id| (at + word.len(), id));
    }
    found
}

/// Every id that `comments` names within parentheses, as in `SAFETY: (Q1, T2)`, with its
/// offset. A parenthesis left open ends with its block of comments.
pub fn cited_in(comments: &str) -> Vec<(usize, Id)> {
    let mut inside = String::with_capacity(comments.len());
    let mut depth = 0_u32;
    for line in comments.split_inclusive('\n') {
        if line.trim().is_empty() {
            depth = 0;
        }
        for c in line.chars() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ if depth > 0 => {
                    inside.push(c);
                    continue;
                }
                _ => {}
            }
            // A blank for each byte, so that offsets stay.
            inside.extend(std::iter::repeat_n(' ', c.len_utf8()));
        }
    }
    named_in(&inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> String {
        named_in(text).iter().map(|(_, id)| format!("{id} ")).collect()
    }

    fn cited(text: &str) -> String {
        cited_in(text).iter().map(|(_, id)| format!("{id} ")).collect()
    }

    #[test]
    fn whole_words_only() {
        assert_eq!(named("Q1, (T2) and NP5."), "Q1 T2 NP5 ");
        assert_eq!(named("Q Q0 Q01 Q100 xQ1 Q1x Q1_ q1 P3 Q"), "");
    }

    #[test]
    fn ranges_name_each() {
        assert_eq!(named("Q3–Q5"), "Q3 Q4 Q5 ");
        assert_eq!(named("Q3-Q5, W1"), "Q3 Q4 Q5 W1 ");
        assert_eq!(named("Q3, Q5"), "Q3 Q5 ");
        assert_eq!(named("Q3-T5"), "Q3 T5 ");
        assert_eq!(named("Q5-Q3"), "Q5 Q3 ");
    }

    #[test]
    fn citations_stand_in_parentheses() {
        assert_eq!(cited("// SAFETY: (Q1, T2) not Q3"), "Q1 T2 ");
        assert_eq!(cited("// (Q1,\n// Q3–Q5) Q7"), "Q1 Q3 Q4 Q5 ");
        assert_eq!(cited("// (open Q1\n\n// Q2"), "Q1 ");
    }

    #[test]
    fn offsets_survive_wide_characters() {
        let text = "// – (Q1)";
        assert_eq!(cited_in(text)[0].0, text.find('Q').unwrap());
    }
}
