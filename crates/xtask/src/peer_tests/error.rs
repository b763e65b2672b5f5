//! Why there are no results.

use std::path::{Path, PathBuf};
use std::{fmt, io};

#[derive(Debug)]
pub enum Error {
    /// Cargo could not be run, or could not get at a package.
    Cargo { doing: &'static str, said: String },
    /// The crate that the tests are to be compiled against, or something it needs, is broken.
    CrateUnderTest { name: String, said: String },
    /// The peer has no such test file.
    NoSuchFile { name: String, peer: String },
    /// A file or directory that cannot be read or written.
    File { doing: &'static str, path: PathBuf, source: io::Error },
    /// A file of expectations that makes no sense.
    Expectations { path: PathBuf, what: String },
    /// The table cannot be printed.
    Output(io::Error),
}

impl Error {
    /// Tells which file it was.
    pub fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { doing, path, source }
    }

    /// Tells which file of expectations it was.
    pub fn expectations(path: &Path, what: String) -> Error {
        Error::Expectations { path: path.to_owned(), what }
    }

    /// 3: cargo did not do its part, most likely for want of a network. 2: anything else that
    /// kept the tests from running. 1 is kept for results that are not as they should be.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Cargo { .. } => 3,
            _ => 2,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Cargo { doing, said } => write!(
                f,
                "cargo could not {doing}. It says:\n\n{}\n\nThe peer's tests and what they need \
                 come from the registry. Without a network, set CARGO_NET_OFFLINE=true after one \
                 run with it.",
                said.trim()
            ),
            Error::CrateUnderTest { name, said } => {
                write!(f, "{}\n\n{name} does not compile: make it compile first", said.trim())
            }
            Error::NoSuchFile { name, peer } => {
                write!(f, "{peer} has no test file '{name}'; --list shows all of them")
            }
            Error::File { doing, path, source } => {
                write!(f, "cannot {doing} {}: {source}", path.display())
            }
            Error::Expectations { path, what } => write!(f, "{}: {what}", path.display()),
            Error::Output(source) => write!(f, "cannot write to the standard output: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File { source, .. } | Error::Output(source) => Some(source),
            _ => None,
        }
    }
}
