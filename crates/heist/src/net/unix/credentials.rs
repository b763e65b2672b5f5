//! The credentials of the peer of a Unix socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// A user id.
#[allow(non_camel_case_types)]
pub type uid_t = u32;

/// A group id.
#[allow(non_camel_case_types)]
pub type gid_t = u32;

/// A process id.
#[allow(non_camel_case_types)]
pub type pid_t = i32;

/// The process at the other end of a Unix socket, as it was when it connected or began to listen.
///
/// # Examples
///
/// ```
/// use heist::net::UnixStream;
///
/// #[heist::main]
/// async fn main() -> std::io::Result<()> {
///     let (here, _there) = UnixStream::pair()?;
///     let peer = here.peer_cred()?;
///     assert_eq!(peer.pid(), Some(std::process::id() as i32));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UCred {
    uid: uid_t,
    gid: gid_t,
    pid: Option<pid_t>,
}

impl UCred {
    /// Returns the user id of the process.
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// Returns the group id of the process.
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// Returns the process id, or `None` if the process has none here, because it is outside of
    /// this container.
    pub fn pid(&self) -> Option<pid_t> {
        self.pid
    }

    pub(super) fn of_peer<S: AsFd>(socket: &S) -> io::Result<UCred> {
        let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        // rustix also has this call, but its type cannot represent a process without an id.
        // SAFETY: (FFI) the descriptor is open, and the pointers are to memory of these lengths.
        let result = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut peer).cast(),
                &mut length,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(UCred { uid: peer.uid, gid: peer.gid, pid: Some(peer.pid).filter(|&pid| pid != 0) })
    }
}
