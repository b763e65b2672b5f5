//! Writing JSON.

use std::fmt::Write;

/// A value that is being written. The caller must write keys and values in turn.
#[derive(Default)]
pub(super) struct Json {
    text: String,
    /// Whether a value precedes the next key or value in the same array or object.
    follows: bool,
}

impl Json {
    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.nest('{', members, '}');
    }

    pub(super) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut item: impl FnMut(&mut Self, T),
    ) {
        self.nest('[', |json| items.into_iter().for_each(|each| item(json, each)), ']');
    }

    fn nest(&mut self, open: char, inner: impl FnOnce(&mut Self), close: char) {
        self.separate();
        self.text.push(open);
        self.follows = false;
        inner(self);
        self.text.push(close);
        self.follows = true;
    }

    pub(super) fn key(&mut self, key: &str) -> &mut Self {
        self.text(key);
        self.text.push(':');
        self.follows = false;
        self
    }

    pub(super) fn number(&mut self, number: u64) {
        self.separate();
        let _ = write!(self.text, "{number}");
    }

    pub(super) fn boolean(&mut self, is_so: bool) {
        self.separate();
        self.text.push_str(if is_so { "true" } else { "false" });
    }

    pub(super) fn null(&mut self) {
        self.separate();
        self.text.push_str("null");
    }

    /// Writes null for `None`.
    pub(super) fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.null(),
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.separate();
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                // Some of these control terminals.
                c if c.is_control() || is_line_end(c) => {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(c));
                }
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.follows, true) {
            self.text.push(',');
        }
    }
}

/// Characters that some readers treat as the end of a line.
fn is_line_end(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between() {
        let mut json = Json::default();
        json.object(|json| {
            json.key("a").number(1);
            json.key("b").array([1, 2, 3], |json, number| json.number(number));
            json.key("c").object(|_| {});
            json.key("d").array(["x"], |json, x| json.object(|json| json.key(x).null()));
            json.key("e").boolean(true);
        });
        let text = r#"{"a":1,"b":[1,2,3],"c":{},"d":[{"x":null}],"e":true}"#;
        assert_eq!(json.into_text(), text);
    }

    #[test]
    fn no_text_ends_early() {
        let mut json = Json::default();
        json.text("\"\\\n\u{0}\u{1b}\u{7f}\u{2028}é🦀");
        assert_eq!(json.into_text(), r#""\"\\\u000a\u0000\u001b\u007f\u2028é🦀""#);
    }
}
