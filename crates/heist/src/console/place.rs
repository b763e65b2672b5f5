//! The sockets of consoles: they are accessible to this user only, and removed at the end.

use super::config::{Place, numbered};
use super::error::StartError;
use crate::env::Address;
use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::env;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Guessed: more are turned away anyway.
const BACKLOG: i32 = 128;
/// The maximal number of runtimes with a console in a process.
const MOST_RUNTIMES: usize = 1000;

/// A listening socket, whose file is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Listener {
    socket: OwnedFd,
    address: Address,
    /// The file of a Unix socket, as it was when it was made.
    file: Option<Metadata>,
}

impl Listener {
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn is_tcp(&self) -> bool {
        matches!(self.address, Address::Tcp(_))
    }

    /// The next connection, as a non-blocking socket.
    pub(super) fn accept(&self) -> rustix::io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        rustix::net::accept_with(&self.socket, flags)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let (Address::Unix(path), Some(ours)) = (&self.address, &self.file) else { return };
        let is_ours = |now: Metadata| (now.dev(), now.ino()) == (ours.dev(), ours.ino());
        if fs::symlink_metadata(path).is_ok_and(is_ours) {
            // It may have been removed already.
            let _ = fs::remove_file(path);
        }
    }
}

pub(super) fn listen(place: &Place) -> Result<Listener, StartError> {
    match place {
        Place::Tcp(address) => listen_tcp(*address),
        Place::Path(path) => listen_unix(path),
        Place::SharedPath(path) => listen_first(|number| numbered(path, number)),
        Place::Own => {
            let directory = directory();
            make_private(&directory)?;
            let pid = std::process::id();
            listen_first(|number| match number {
                1 => directory.join(format!("{pid}.sock")),
                _ => directory.join(format!("{pid}-{number}.sock")),
            })
        }
    }
}

/// Listens on the first of these paths that is not in use.
fn listen_first(path: impl Fn(usize) -> PathBuf) -> Result<Listener, StartError> {
    let mut number = 1;
    loop {
        match listen_unix(&path(number)) {
            Err(StartError::InUse(_)) if number < MOST_RUNTIMES => number += 1,
            other => return other,
        }
    }
}

/// Returns the directory of the sockets of [`Config::new`](super::Config::new):
/// `$XDG_RUNTIME_DIR/heist` or, without that variable, `heist-<uid>` in the directory for temporary
/// files.
///
/// # Examples
///
/// ```
/// let directory = heist::console::directory();
/// assert!(directory.is_absolute());
/// ```
pub fn directory() -> PathBuf {
    match env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) if Path::new(&directory).is_absolute() => {
            PathBuf::from(directory).join("heist")
        }
        _ => env::temp_dir().join(format!("heist-{}", rustix::process::getuid().as_raw())),
    }
}

/// Creates the directory if it does not exist. In the directory for temporary files, another user
/// may have created one with this name, or a link.
fn make_private(directory: &Path) -> Result<(), StartError> {
    let failed = |error| StartError::Io { address: Address::Unix(directory.to_owned()), error };
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let found = fs::symlink_metadata(directory).map_err(failed)?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if found.is_dir() && is_own && found.mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(StartError::NotPrivate(directory.to_owned()))
    }
}

fn listen_tcp(address: SocketAddr) -> Result<Listener, StartError> {
    if !address.ip().is_loopback() {
        return Err(StartError::NotLoopback(address));
    }
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => StartError::InUse(Address::Tcp(address)),
        _ => StartError::Io { address: Address::Tcp(address), error },
    };
    let socket = TcpListener::bind(address).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    let address = Address::Tcp(socket.local_addr().map_err(failed)?);
    Ok(Listener { socket: socket.into(), address, file: None })
}

fn listen_unix(path: &Path) -> Result<Listener, StartError> {
    // A socket that is bound but does not listen yet looks like one that was left behind.
    static ONE_AFTER_THE_OTHER: Mutex<()> = Mutex::new(());
    let _lock = ONE_AFTER_THE_OTHER.lock().unwrap_or_else(PoisonError::into_inner);
    let address = Address::Unix(path.to_owned());
    let failed = |error: Errno| StartError::Io { address: address.clone(), error: error.into() };
    let name = SocketAddrUnix::new(path).map_err(failed)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
        .map_err(failed)?;
    // Set before the file exists, which is created with this mode, so that others can never
    // connect.
    fchmod(&socket, Mode::RUSR | Mode::WUSR).map_err(failed)?;
    match rustix::net::bind(&socket, &name) {
        Err(Errno::ADDRINUSE) => {
            remove_stale(path, &name)?;
            rustix::net::bind(&socket, &name)
        }
        other => other,
    }
    .map_err(failed)?;
    rustix::net::listen(&socket, BACKLOG).map_err(failed)?;
    let file = fs::symlink_metadata(path).ok();
    Ok(Listener { socket, address, file })
}

/// Removes a socket on which no process listens.
fn remove_stale(path: &Path, name: &SocketAddrUnix) -> Result<(), StartError> {
    let address = Address::Unix(path.to_owned());
    let failed = |error: io::Error| StartError::Io { address: address.clone(), error };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(StartError::NotASocket(path.to_owned()));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let probe = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
        .map_err(|error| failed(error.into()))?;
    match rustix::net::connect(&probe, name) {
        // A dead process has left it behind.
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(failed),
        Err(Errno::NOENT) => Ok(()),
        // Also if its queue is full, because then a process listens.
        _ => Err(StartError::InUse(Address::Unix(path.to_owned()))),
    }
}
