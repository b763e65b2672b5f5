//! Who is at the other end.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The number of a user.
#[allow(non_camel_case_types)]
pub type uid_t = u32;

/// The number of a group.
#[allow(non_camel_case_types)]
pub type gid_t = u32;

/// The number of a process.
#[allow(non_camel_case_types)]
pub type pid_t = i32;

/// The process at the other end of a Unix socket, as it was when it connected or began to listen.
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
    /// Its user.
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// Its group.
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// Its number; `None` if it has none here, as a process outside of our container.
    pub fn pid(&self) -> Option<pid_t> {
        self.pid
    }

    pub(super) fn of_peer<S: AsFd>(socket: &S) -> io::Result<UCred> {
        let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        // rustix has this call, too, but no room in its type for a process without a number.
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
