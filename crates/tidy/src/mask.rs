//! Tells code, string literals and comments of a Rust file apart.
//!
//! The rules ask for words in comments, or for words in code, and must not be fooled by a
//! string that holds either. A parser would give the code but drop the comments; so this
//! scanner sorts every byte into one of three channels and leaves the rest to the rules.

/// Three copies of a file, of equal length, each with blanks where the others have text.
/// Newlines are in all of them: an offset or a line number means the same in each.
#[derive(Debug)]
pub struct Mask {
    /// What is neither a literal nor a comment.
    pub code: String,
    /// String and character literals, with their quotes.
    pub strings: String,
    /// Comments and doc comments, with their slashes.
    pub comments: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Code,
    Strings,
    Comments,
}

impl Mask {
    /// Sorts `text`.
    pub fn new(text: &str) -> Mask {
        let bytes = text.as_bytes();
        let mut scanner = Scanner { bytes, at: 0, channels: Vec::with_capacity(bytes.len()) };
        while scanner.at < bytes.len() {
            scanner.step();
        }
        let only = |wanted| {
            let pairs = bytes.iter().zip(&scanner.channels);
            let kept = pairs.map(|(&b, &c)| if b == b'\n' || c == wanted { b } else { b' ' });
            String::from_utf8(kept.collect()).expect("no channel splits a character")
        };
        Mask {
            code: only(Channel::Code),
            strings: only(Channel::Strings),
            comments: only(Channel::Comments),
        }
    }

    /// Code and strings together, as they stand in the file.
    pub fn uncommented(&self) -> String {
        let pairs = self.code.bytes().zip(self.strings.bytes());
        let merged = pairs.map(|(code, string)| if code == b' ' { string } else { code });
        String::from_utf8(merged.collect()).expect("no channel splits a character")
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    channels: Vec<Channel>,
}

impl Scanner<'_> {
    /// Takes the next token, or one byte where it does not matter what the token is.
    fn step(&mut self) {
        let rest = &self.bytes[self.at..];
        let (channel, len) = match rest[0] {
            b'/' if rest.starts_with(b"//") => (Channel::Comments, line_comment(rest)),
            b'/' if rest.starts_with(b"/*") => (Channel::Comments, block_comment(rest)),
            b'"' => (Channel::Strings, quoted(rest, 0)),
            b'\'' => match char_literal(rest) {
                Some(len) => (Channel::Strings, len),
                None => (Channel::Code, 1),
            },
            byte if is_word(byte) => word_or_literal(rest),
            _ => (Channel::Code, 1),
        };
        // An unfinished token at the end of a file that does not compile ends with the file.
        let len = len.min(rest.len());
        self.channels.extend(std::iter::repeat_n(channel, len));
        self.at += len;
    }
}

fn line_comment(rest: &[u8]) -> usize {
    rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
}

/// Rust's block comments nest.
fn block_comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// The length of a string whose opening quote is at `open`.
fn quoted(rest: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of a character literal, or `None` for the quote of a lifetime.
fn char_literal(rest: &[u8]) -> Option<usize> {
    let first = *rest.get(1)?;
    if first == b'\\' {
        let end = rest.iter().skip(3).position(|&b| b == b'\'')?;
        return Some(3 + end + 1);
    }
    let width = match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    (rest.get(1 + width) == Some(&b'\'')).then_some(width + 2)
}

/// A name, a keyword, a number: or the prefix of a string, which belongs to the string.
fn word_or_literal(rest: &[u8]) -> (Channel, usize) {
    let len = rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
    let hashes = rest[len..].iter().take_while(|&&b| b == b'#').count();
    let quote_follows = rest.get(len + hashes) == Some(&b'"');
    match &rest[..len] {
        b"r" | b"br" | b"cr" if quote_follows => (Channel::Strings, raw_string(rest, len, hashes)),
        b"b" | b"c" if quote_follows && hashes == 0 => (Channel::Strings, quoted(rest, len)),
        _ => (Channel::Code, len),
    }
}

fn raw_string(rest: &[u8], prefix: usize, hashes: usize) -> usize {
    let mut end = vec![b'"'];
    end.resize(1 + hashes, b'#');
    let body = prefix + hashes + 1;
    let found = rest[body..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |at| body + at + end.len())
}

/// Whether a byte is part of a word.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The words of `text` with their offsets; a word is letters, digits and underscores.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// The line of `offset`, counted from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset].iter().filter(|&&b| b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The channels with runs of blanks squeezed: code, strings, comments.
    fn sorted(text: &str) -> [String; 3] {
        let mask = Mask::new(text);
        [mask.code, mask.strings, mask.comments]
            .map(|channel| channel.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn comments_of_all_kinds() {
        assert_eq!(sorted("a // b\nc"), ["a c", "", "// b"]);
        assert_eq!(sorted("a /* b /* c */ d */ e"), ["a e", "", "/* b /* c */ d */"]);
        assert_eq!(sorted("/// a\n//! b"), ["", "", "/// a //! b"]);
    }

    #[test]
    fn strings_of_all_kinds() {
        assert_eq!(sorted(r#"f("// no", x)"#), ["f( , x)", r#""// no""#, ""]);
        assert_eq!(sorted(r#"("\"//")"#), ["( )", r#""\"//""#, ""]);
        assert_eq!(sorted(r###"(r##"a"# // "##)"###), ["( )", r###"r##"a"# // "##"###, ""]);
        assert_eq!(sorted(r#"(b"//", c"//")"#), ["( , )", r#"b"//" c"//""#, ""]);
        assert_eq!(sorted("r#type // x"), ["r#type", "", "// x"]);
    }

    #[test]
    fn characters_are_not_lifetimes() {
        assert_eq!(sorted("'\"' // x"), ["", "'\"'", "// x"]);
        assert_eq!(sorted(r"'\'' '\\' '–' b'/'"), ["b", r"'\'' '\\' '–' '/'", ""]);
        assert_eq!(sorted("&'a str // x"), ["&'a str", "", "// x"]);
    }

    #[test]
    fn offsets_stay() {
        let text = "let s = \"–\"; // –\nunsafe";
        let mask = Mask::new(text);
        for channel in [&mask.code, &mask.strings, &mask.comments] {
            assert_eq!(channel.len(), text.len());
        }
        assert_eq!(line_of(text, mask.code.find("unsafe").unwrap()), 2);
        assert_eq!(mask.uncommented(), text.replace("// –", "      "));
        assert_eq!(words("a-b_c ü9").map(|(_, word)| word).collect::<Vec<_>>(), ["a", "b_c", "ü9"]);
    }

    #[test]
    fn an_unfinished_token_ends_with_the_file() {
        for text in ["\"a", "/* a", "r#\"a", "'", "'\\", "b\"\\"] {
            assert_eq!(Mask::new(text).code.len(), text.len());
        }
    }
}
