//! Colours, widths and pipes: what depends on the output device.

use rustix::termios::tcgetwinsize;
use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Write};

/// Longer lines are hard to read.
const WIDEST: usize = 100;
/// The width if it cannot be determined.
const USUAL: usize = 80;
/// Narrower than this nothing is legible anyway.
const NARROWEST: usize = 20;

/// How to print.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) has_colours: bool,
    pub(crate) width: usize,
    /// Somebody is watching, and lines can be written over.
    pub(crate) is_terminal: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Blue,
}

impl Style {
    /// Colours only on a terminal, and only if `NO_COLOR` is not set.
    pub(crate) fn of_stdout() -> Style {
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_terminal = io::stdout().is_terminal() && !is_dumb;
        let is_unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Style { has_colours: is_terminal && !is_unwanted, width: width(), is_terminal }
    }

    pub(crate) fn colour<'a>(self, colour: Colour, text: &'a str) -> Cow<'a, str> {
        let code = match colour {
            Colour::Red => "31",
            Colour::Green => "32",
            Colour::Yellow => "33",
            Colour::Blue => "34",
        };
        self.escape(code, text)
    }

    pub(crate) fn bold(self, text: &str) -> Cow<'_, str> {
        self.escape("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> Cow<'_, str> {
        self.escape("2", text)
    }

    fn escape<'a>(self, code: &str, text: &'a str) -> Cow<'a, str> {
        match self.has_colours {
            true => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
            false => Cow::Borrowed(text),
        }
    }

    /// Prints `text` in lines that are not too long; the first begins with `first`, the others with
    /// `rest`. Words that are longer than a line stay whole: they may be paths.
    pub(crate) fn wrap(
        self,
        out: &mut impl Write,
        first: &str,
        rest: &str,
        text: &str,
    ) -> io::Result<()> {
        let mut line = first.to_owned();
        let (mut length, mut is_empty) = (first.chars().count(), true);
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let more = word.chars().count() + usize::from(!is_empty);
            if !is_empty && length + more > self.width {
                writeln!(out, "{line}")?;
                line = rest.to_owned();
                (length, is_empty) = (rest.chars().count(), true);
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            length += word.chars().count() + usize::from(!is_empty);
            is_empty = false;
        }
        writeln!(out, "{line}")
    }
}

fn width() -> usize {
    let columns = tcgetwinsize(io::stdout()).map(|size| usize::from(size.ws_col));
    columns.ok().filter(|columns| *columns > 0).unwrap_or(USUAL).clamp(NARROWEST, WIDEST)
}

/// A reader that has gone away has seen enough: no error.
pub(crate) fn unless_nobody_reads(printed: io::Result<()>) -> io::Result<()> {
    printed.or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { has_colours: false, width: 20, is_terminal: false };

    fn wrapped(text: &str) -> String {
        let mut out = Vec::new();
        PLAIN.wrap(&mut out, "do ", "   ", text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three four five"), "do one two three\n   four five\n");
        assert_eq!(
            wrapped("a/path/that/is/longer/than/a/line x"),
            "do a/path/that/is/longer/than/a/line\n   x\n"
        );
    }

    #[test]
    fn colours_are_left_out_where_nobody_wants_them() {
        assert_eq!(PLAIN.colour(Colour::Red, "x"), "x");
        let coloured = Style { has_colours: true, ..PLAIN };
        assert_eq!(coloured.colour(Colour::Red, "x"), "\x1b[31mx\x1b[0m");
    }

    #[test]
    fn a_broken_pipe_is_no_error() {
        assert!(unless_nobody_reads(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        assert!(unless_nobody_reads(Err(io::ErrorKind::StorageFull.into())).is_err());
    }
}
