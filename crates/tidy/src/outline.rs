//! Where the functions and the test code of a Rust file are.
//!
//! Brackets and a few keywords tell that, without a parser: this also finds functions in the
//! braces of macros, and takes no time to compile or to run.

use std::ops::RangeInclusive;

use crate::mask::{is_word, words};

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The lines from `fn` to the closing brace, counted from 1.
    pub lines: RangeInclusive<usize>,
}

/// What a file consists of.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Outline {
    /// All functions with a body, those within others included.
    pub functions: Vec<Function>,
    /// The lines of items with `#[test]` or `#[cfg(test)]`, attributes included.
    pub tests: Vec<RangeInclusive<usize>>,
    /// The line of a bracket that does not fit, if there is one.
    pub unbalanced: Option<usize>,
}

impl Outline {
    /// Reads the code of a file, without strings and comments.
    pub fn of(code: &str) -> Outline {
        let mut scan = Scan { code, at: 0, line: 1, outline: Outline::default() };
        scan.group(None);
        scan.outline
    }
}

struct Scan<'c> {
    code: &'c str,
    at: usize,
    /// The line of `at`.
    line: usize,
    outline: Outline,
}

/// What the tokens since the last `;` or brace may become.
#[derive(Default)]
struct Item {
    /// The line of the word `fn`, before its name.
    fn_line: Option<usize>,
    /// A function whose body has not begun.
    function: Option<(String, usize)>,
    /// The line of the first attribute that makes it a test.
    test_line: Option<usize>,
    /// Whether it is an item, which a comma does not end, rather than a field or a value.
    is_item: bool,
}

/// Words that begin an item with commas.
const ITEMS: [&str; 7] = ["fn", "impl", "mod", "struct", "enum", "trait", "union"];

impl Scan<'_> {
    /// Reads up to the bracket that closes this group, or to the end of the file.
    fn group(&mut self, close: Option<u8>) {
        let opened = self.line;
        let mut item = Item::default();
        while let Some(byte) = self.code.as_bytes().get(self.at).copied() {
            match byte {
                b'(' | b'[' | b'{' => self.opening(byte, &mut item),
                b')' | b']' | b'}' => {
                    if close != Some(byte) {
                        self.outline.unbalanced.get_or_insert(self.line);
                    }
                    if close.is_some() {
                        return;
                    }
                    self.step(1);
                }
                b';' => self.end(&mut item),
                b',' => {
                    item.test_line = item.test_line.filter(|_| item.is_item);
                    self.step(1);
                }
                b'#' => self.attribute(&mut item),
                _ if is_word(byte) => self.word(&mut item),
                _ => self.step(1),
            }
        }
        if close.is_some() {
            self.outline.unbalanced.get_or_insert(opened);
        }
    }

    /// Reads a group. A brace ends the item.
    fn opening(&mut self, open: u8, item: &mut Item) {
        self.step(1);
        item.fn_line = None;
        let close = match open {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        self.group(Some(close));
        if open == b'{' {
            if let Some((name, line)) = item.function.take() {
                self.outline.functions.push(Function { name, lines: line..=self.line });
            }
            self.end(item);
        } else {
            self.step(1);
        }
    }

    /// Ends an item with the byte at this place.
    fn end(&mut self, item: &mut Item) {
        if let Some(line) = item.test_line {
            self.outline.tests.push(line..=self.line);
        }
        *item = Item::default();
        self.step(1);
    }

    /// Reads `#[…]`; any other `#` is skipped.
    fn attribute(&mut self, item: &mut Item) {
        let (start, line) = (self.at, self.line);
        self.step(1);
        if self.code[self.at..].starts_with('[') {
            self.opening(b'[', &mut Item::default());
            if is_test_attribute(&self.code[start..self.at]) {
                item.test_line.get_or_insert(line);
            }
        }
    }

    fn word(&mut self, item: &mut Item) {
        let rest = &self.code[self.at..];
        let len = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        let word = &rest[..len];
        if word == "fn" {
            item.fn_line = Some(self.line);
        } else if let Some(line) = item.fn_line.take() {
            item.function = Some((word.to_owned(), line));
        }
        item.is_item |= ITEMS.contains(&word);
        self.step(len);
    }

    fn step(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.code.len());
        self.line += self.code.as_bytes()[self.at..end].iter().filter(|&&b| b == b'\n').count();
        self.at = end;
    }
}

/// `#[test]`, and every `#[cfg(…)]` that asks for `test` outside of a `not(…)`.
fn is_test_attribute(attribute: &str) -> bool {
    let mut words = words(attribute).map(|(at, word)| (at + word.len(), word));
    match words.next() {
        Some((end, "test")) => attribute[end..].trim_start().starts_with(']'),
        Some((end, "cfg")) => asks_for_test(&attribute[end..]),
        _ => false,
    }
}

fn asks_for_test(condition: &str) -> bool {
    // For each open parenthesis, whether it negates.
    let mut open: Vec<bool> = Vec::new();
    let mut last = "";
    let mut rest = condition;
    while let Some(first) = rest.chars().next() {
        let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        match first {
            '(' => open.push(last == "not"),
            ')' => drop(open.pop()),
            _ if len > 0 => last = &rest[..len],
            _ => {}
        }
        if len > 0 && last == "test" && !open.contains(&true) {
            return true;
        }
        rest = &rest[len.max(first.len_utf8())..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::Mask;

    fn outline(text: &str) -> Outline {
        Outline::of(&Mask::new(text).code)
    }

    fn functions(text: &str) -> Vec<String> {
        let shown = |f: &Function| format!("{} {}-{}", f.name, f.lines.start(), f.lines.end());
        outline(text).functions.iter().map(shown).collect()
    }

    #[test]
    fn functions_with_bodies() {
        assert_eq!(functions("fn a() {}\nfn b(\n) -> [u8; 3] {\n}\n"), ["a 1-1", "b 2-4"]);
        assert_eq!(functions("trait A { fn a(); fn b() {}\n}"), ["b 1-1"]);
        assert_eq!(functions("fn a() {\nfn b() {}\n}"), ["b 2-2", "a 1-3"]);
        assert_eq!(functions("type A = fn(u8) -> u8; struct B { a: fn() }"), [""; 0]);
        assert_eq!(functions("fn a(f: fn(u8)) {\n}"), ["a 1-2"]);
        assert_eq!(functions("m! { ($n:ident) => {\nfn $n() {}\n} }"), ["n 2-2"]);
        assert_eq!(functions("// fn a() {}\nf(\"fn b() {}\", '{')"), [""; 0]);
    }

    #[test]
    fn test_code() {
        let tests = |text| outline(text).tests;
        assert_eq!(tests("#[cfg(test)]\nmod t {\nfn a() {}\n}\nfn b() {}"), [1..=4]);
        assert_eq!(tests("#[test]\n#[ignore]\nfn a() {\n}"), [1..=4]);
        assert_eq!(tests("#[cfg(all(not(loom), test))]\nuse a;\nuse b;"), [1..=2]);
        assert_eq!(tests("#[cfg(test)]\nimpl<A, B> C<A, B> {\n}"), [1..=3]);
        for text in [
            "#[cfg(not(test))]\nfn a() {}",
            "#[cfg(not(any(x, test)))]\nfn a() {}",
            "#[derive(A)]\nstruct B;",
            "#[tests]\nfn a() {}",
            "#![cfg(feature = \"test\")]\nfn a() {}",
        ] {
            assert_eq!(tests(text), [], "{text}");
        }
        // A field ends with its comma.
        assert_eq!(tests("struct A {\n#[cfg(test)]\na: u8,\nb: u8 }\nfn b() {}"), []);
    }

    #[test]
    fn brackets_that_do_not_fit() {
        assert_eq!(outline("fn a() { ([]) }").unbalanced, None);
        assert_eq!(outline("\nfn (").unbalanced, Some(2));
        assert_eq!(outline("fn a() {\n)\n}").unbalanced, Some(2));
        assert_eq!(outline("a }").unbalanced, Some(1));
    }
}
