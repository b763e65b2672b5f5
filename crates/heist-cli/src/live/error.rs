//! What can go wrong, and what to do about it.

use super::Endpoint;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a running program could not be asked. The sentence says what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum LiveError {
    /// There is no console at all.
    NoneFound {
        /// The directory that was searched.
        directory: PathBuf,
    },
    /// There are several, and none was chosen.
    Several(Vec<Endpoint>),
    /// What was given is no pid, no path and no address.
    NoTarget(String),
    /// What was given is a file, and no socket.
    NoSocket(PathBuf),
    /// There is no process with this pid.
    NoSuchProcess(u32),
    /// The process has no console.
    NoConsole(u32),
    /// No console listens at the endpoint, or this user has no access to it.
    Unreachable {
        /// Where.
        endpoint: Endpoint,
        /// What the system says.
        error: io::Error,
    },
    /// The connection ended, or took too long, in the middle of an answer.
    Broken {
        /// The console that was asked.
        endpoint: Endpoint,
        /// What the system says.
        error: io::Error,
    },
    /// The console has refused to answer.
    Refused {
        /// The console that was asked.
        endpoint: Endpoint,
        /// The status of the answer: 404, 503, …
        status: u16,
        /// What the console says about it.
        sentence: String,
    },
    /// The peer is not a console of heist, or one of another version.
    NotUnderstood {
        /// The console that was asked.
        endpoint: Endpoint,
        /// What is strange about the answer.
        why: String,
    },
    /// What the console said could not be written.
    Output(io::Error),
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::NoneFound { directory } => write!(
                f,
                "no running program has a console in {}; start one with HEIST_CONSOLE=1",
                directory.display()
            ),
            LiveError::Several(endpoints) => {
                write!(f, "there are {} consoles; say which:", endpoints.len())?;
                endpoints.iter().try_for_each(|endpoint| write!(f, "\n  {endpoint}"))
            }
            LiveError::NoTarget(text) => write!(
                f,
                "{text:?} is no pid, no socket and no address; give a pid, the path of a console's \
                 socket, or an address like 127.0.0.1:9100"
            ),
            LiveError::NoSocket(path) => write!(
                f,
                "{} is no socket; give a pid, the path of a console's socket, or an address; `heist \
                 doctor` also reads traces",
                path.display()
            ),
            LiveError::NoSuchProcess(pid) => {
                write!(f, "there is no process {pid}; without a pid, the only console is asked")
            }
            LiveError::NoConsole(pid) => {
                write!(f, "process {pid} has no console; start it with HEIST_CONSOLE=1")
            }
            LiveError::Unreachable { endpoint, error } => write!(
                f,
                "nobody answers at {endpoint}: {error}; is the program running, as the same user, and \
                 was it started with HEIST_CONSOLE?"
            ),
            LiveError::Broken { endpoint, error } => {
                write!(f, "the console at {endpoint} went silent: {error}; has the program ended?")
            }
            LiveError::Refused { endpoint, status, sentence } => {
                write!(f, "the console at {endpoint} says {status}: {sentence}")
            }
            LiveError::NotUnderstood { endpoint, why } => write!(
                f,
                "what answers at {endpoint} is not understood: {why}; is it a console, and of the \
                 version of heist that this program was made with?"
            ),
            LiveError::Output(error) => write!(f, "the answer cannot be written: {error}"),
        }
    }
}

impl Error for LiveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            LiveError::Unreachable { error, .. }
            | LiveError::Broken { error, .. }
            | LiveError::Output(error) => Some(error),
            _ => None,
        }
    }
}
