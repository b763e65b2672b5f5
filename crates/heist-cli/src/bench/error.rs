//! Why there is no report, or not all of it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

#[derive(Debug)]
pub enum Error {
    NoProgram,
    Start { program: String, source: io::Error },
    Failed { status: ExitStatus },
    Read { path: PathBuf, source: io::Error },
    NotResults { path: PathBuf, source: serde_json::Error },
    NoResults { path: PathBuf },
    Write { path: PathBuf, source: io::Error },
}

impl Error {
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Write { path: path.to_owned(), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoProgram => f.write_str(
                "there is no heist-bench to run. It is not published: clone heist's repository and \
                 run this command in it (cargo builds heist-bench and its peers, which takes \
                 minutes the first time), or name a built one with --program. \
                 With --from FILE nothing has to be run",
            ),
            Error::Start { program, source } => write!(f, "cannot run {program}: {source}"),
            Error::Failed { status } => {
                write!(f, "heist-bench did not get to its end ({status}); see above for its reason")
            }
            Error::Read { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Error::NotResults { path, source } => {
                write!(f, "{} is not what heist-bench writes with --json: {source}", path.display())
            }
            Error::NoResults { path } => {
                write!(f, "{} has no results, there is nothing to report", path.display())
            }
            Error::Write { path, source } => {
                write!(f, "cannot write {}: {source}; --out names another place", path.display())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::NoProgram | Error::Failed { .. } | Error::NoResults { .. } => None,
            Error::Start { source, .. }
            | Error::Read { source, .. }
            | Error::Write { source, .. } => Some(source),
            Error::NotResults { source, .. } => Some(source),
        }
    }
}
