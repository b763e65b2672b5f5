//! Which consoles there are.

use super::LiveError;
use heist::console::{self, Address};
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The console of a runtime, by where it listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(super) address: Address,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

impl Endpoint {
    /// A console that listens on this socket, or would.
    pub fn at_path(path: impl Into<PathBuf>) -> Self {
        Endpoint { address: Address::Unix(path.into()) }
    }

    /// A console that listens on this port, or would.
    pub fn at_port(address: SocketAddr) -> Self {
        Endpoint { address: Address::Tcp(address) }
    }

    /// The console that is meant by a pid, by the path of a socket or by an address; without any of
    /// these, the only one there is.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find(target: Option<&str>) -> Result<Self, LiveError> {
        let Some(text) = target else {
            let directory = console::directory();
            return only(Self::all_in(&directory), || LiveError::NoneFound { directory });
        };
        if let Ok(pid) = text.parse::<u32>() {
            return Self::of_process(pid);
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::at_port(address));
        }
        let found = fs::metadata(text);
        if found.as_ref().is_ok_and(|found| !found.file_type().is_socket()) {
            return Err(LiveError::NoSocket(text.into()));
        }
        if text.contains('/') || found.is_ok() {
            return Ok(Self::at_path(text));
        }
        Err(LiveError::NoTarget(text.to_owned()))
    }

    /// The console of a process, if it has one and no more.
    ///
    /// # Errors
    /// If there is no such process, or it has none, or more than one.
    pub fn of_process(pid: u32) -> Result<Self, LiveError> {
        let of_it = |endpoint: &Endpoint| endpoint.pid() == Some(pid);
        let found = Self::all().into_iter().filter(of_it).collect();
        only(found, || match Path::new(&format!("/proc/{pid}")).exists() {
            true => LiveError::NoConsole(pid),
            false => LiveError::NoSuchProcess(pid),
        })
    }

    /// All consoles of this user that answer, where they are looked for.
    pub fn all() -> Vec<Self> {
        Self::all_in(&console::directory())
    }

    fn all_in(directory: &Path) -> Vec<Self> {
        let entries = fs::read_dir(directory).into_iter().flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_socket = |path: &PathBuf| path.extension() == Some(OsStr::new("sock"));
        // What dead processes have left behind does not answer.
        let answers = |path: &PathBuf| UnixStream::connect(path).is_ok();
        let mut paths: Vec<_> = paths.filter(is_socket).filter(answers).collect();
        paths.sort();
        paths.into_iter().map(Self::at_path).collect()
    }

    /// The process that it belongs to, if its name says so.
    pub fn pid(&self) -> Option<u32> {
        let Address::Unix(path) = &self.address else { return None };
        let name = path.file_stem()?.to_str()?;
        name.split('-').next()?.parse().ok()
    }
}

/// The one and only.
fn only(mut found: Vec<Endpoint>, none: impl FnOnce() -> LiveError) -> Result<Endpoint, LiveError> {
    match found.len() {
        0 => Err(none()),
        1 => Ok(found.remove(0)),
        _ => Err(LiveError::Several(found)),
    }
}
