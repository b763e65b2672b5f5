//! JSON that is written as it comes: a trace of a gigabyte becomes several, which are never in
//! memory.

use std::io::{self, Write};

/// An array of objects, one a line.
pub(super) struct Array<'o, W> {
    out: &'o mut W,
    is_empty: bool,
}

/// An object of which the fields written so far are whole.
#[must_use = "an object must be ended"]
pub(super) struct Object<'o, W> {
    out: &'o mut W,
    is_empty: bool,
}

impl<'o, W: Write> Array<'o, W> {
    pub(super) fn new(out: &'o mut W) -> io::Result<Self> {
        out.write_all(b"[")?;
        Ok(Array { out, is_empty: true })
    }

    pub(super) fn object(&mut self) -> io::Result<Object<'_, W>> {
        let between: &[u8] = if self.is_empty { b"\n" } else { b",\n" };
        self.out.write_all(between)?;
        self.is_empty = false;
        Object::new(self.out)
    }

    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n]")
    }
}

impl<'o, W: Write> Object<'o, W> {
    pub(super) fn new(out: &'o mut W) -> io::Result<Self> {
        out.write_all(b"{")?;
        Ok(Object { out, is_empty: true })
    }

    /// `name` is ours: nothing in it has to be escaped.
    fn key(&mut self, name: &str) -> io::Result<()> {
        let between = if self.is_empty { "" } else { "," };
        self.is_empty = false;
        write!(self.out, r#"{between}"{name}":"#)
    }

    pub(super) fn text(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.key(name)?;
        Ok(serde_json::to_writer(&mut *self.out, text)?)
    }

    pub(super) fn number(&mut self, name: &str, number: u64) -> io::Result<()> {
        self.key(name)?;
        write!(self.out, "{number}")
    }

    /// Nanoseconds as microseconds, none of them lost.
    pub(super) fn micros(&mut self, name: &str, nanos: u64) -> io::Result<()> {
        self.key(name)?;
        write!(self.out, "{}.{:03}", nanos / 1000, nanos % 1000)
    }

    pub(super) fn object(&mut self, name: &str) -> io::Result<Object<'_, W>> {
        self.key(name)?;
        Object::new(self.out)
    }

    pub(super) fn end(self) -> io::Result<()> {
        self.out.write_all(b"}")
    }
}
