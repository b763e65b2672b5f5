//! Why a run ends before its time.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::bench::{Fault, Runtime};

#[derive(Debug)]
pub enum Error {
    NoMatch { filter: String },
    JsonOpen { path: PathBuf, source: io::Error },
    JsonWrite { path: PathBuf, source: io::Error },
    Output(io::Error),
    Bench { bench: &'static str, runtime: Runtime, fault: Fault },
}

impl Error {
    /// 2: the command line asks for something that cannot be done, and nothing was run.
    /// 1: something went wrong while running.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::NoMatch { .. } | Error::JsonOpen { .. } => 2,
            Error::JsonWrite { .. } | Error::Output(_) | Error::Bench { .. } => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoMatch { filter } => {
                write!(f, "no bench matches '{filter}'; --list shows all of them")
            }
            Error::JsonOpen { path, source } => write!(
                f,
                "cannot open {} for writing: {source}; no bench was run, give --json a writable \
                 path",
                path.display()
            ),
            Error::JsonWrite { path, source } => {
                write!(f, "cannot write the results to {}: {source}", path.display())
            }
            Error::Output(source) => write!(f, "cannot write to the standard output: {source}"),
            Error::Bench { bench, runtime, fault } => {
                write!(f, "bench {bench}, runtime {runtime}: {fault}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::JsonOpen { source, .. } | Error::JsonWrite { source, .. } => Some(source),
            Error::Output(source) => Some(source),
            Error::NoMatch { .. } | Error::Bench { .. } => None,
        }
    }
}
